import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Claimed, ClaimView } from "../claims.ts";
import { type Capacity, CircuitBreaker, EndpointQueue, RateLimit } from "./endpoint-queue.ts";

let lastId = 0;
const claimed = (more: { entity?: string; isRetry?: boolean } = {}): Claimed => {
  const id = String(++lastId);
  const event = {
    id,
    object: "page",
    field: "feed",
    entity: more.entity ?? id,
    phone: null,
    time_ms: 0,
    payload: "{}",
    traceparent: null,
    tracestate: null,
  };
  const row = { ...event, event: id, app: "1", callback: "7", members: 0, first_attempt_ms: 0, tries: 0, attempts: "[]" };
  return { row, members: [], isRetry: more.isRetry ?? false, isProbe: false, fence: 1, firstMs: 0 };
};

const capacity = (more: Partial<Capacity> = {}): Capacity => ({
  ...{ nowMs: 0, monotonicMs: 0, isHurried: false, deliveries: 1_000, retries: 1_000 },
  ...more,
});

/** Makes a queue in which first attempts and retries wait. */
function waitingQueue(perSecondMax = 0): EndpointQueue {
  const queue = new EndpointQueue("7", perSecondMax);
  queue.firstWaits();
  queue.retryWaits(0);
  return queue;
}

const wanted = (queue: EndpointQueue, more: Partial<Capacity> = {}) => {
  const request = queue.requestClaim(capacity(more));
  return { firsts: request?.firsts ?? 0, retries: request?.retries ?? 0 };
};

const NOTHING = { firsts: 0, retries: 0 };

/** Claims deliveries of a queue, and calls the function `meanwhile` while the claim runs. */
function runClaim(queue: EndpointQueue, seen: Partial<ClaimView>, meanwhile: () => void = () => {}): void {
  const request = queue.requestClaim(capacity());
  if (request === undefined) throw new Error("nothing to claim");
  queue.claimBegins(request);
  meanwhile();
  queue.claimEnded({ ...{ request, hasMore: false, hasBlocked: false, nextEntity: "0", nextRetryMs: undefined }, ...seen });
}

test("first attempts and retries never take each other's room", () => {
  const queue = waitingQueue();
  expect(wanted(queue)).toEqual({ firsts: 4, retries: 2 });
  const held = [claimed({ isRetry: true }), claimed({ isRetry: true })];
  for (const one of held) queue.hold(one, false);
  expect(wanted(queue)).toEqual({ firsts: 4, retries: 0 });
  for (const one of held) queue.stored(one, false);
  for (let n = 0; n < 4; n++) queue.hold(claimed(), false);
  expect(wanted(queue)).toEqual({ firsts: 0, retries: 2 });
});

test("nothing is requested if nothing is known to wait", () => {
  const queue = new EndpointQueue("7", 0);
  expect(queue.requestClaim(capacity())).toBeUndefined();
  queue.retryWaits(1_000);
  expect(wanted(queue, { nowMs: 999 })).toEqual(NOTHING);
  expect(wanted(queue, { nowMs: 1_000 })).toEqual({ firsts: 0, retries: 2 });
});

test("the server's capacity is the limit for both together", () => {
  expect(wanted(waitingQueue(), { deliveries: 5 })).toEqual({ firsts: 4, retries: 1 });
  expect(wanted(waitingQueue(), { retries: 1 })).toEqual({ firsts: 4, retries: 1 });
  expect(wanted(waitingQueue(3))).toEqual({ firsts: 3, retries: 0 });
});

test("a spared receiver gets one request when its time is over, unless somebody waits for all due work", () => {
  const queue = waitingQueue();
  for (let n = 0; n < 22; n++) queue.failed(false, 100, 0);
  expect({ isBreakerOpen: queue.isBreakerOpen, waitMs: queue.waitMs(0) }).toEqual({ isBreakerOpen: true, waitMs: 1_000 });
  expect(wanted(queue)).toEqual(NOTHING);
  expect(wanted(queue, { isHurried: true })).toEqual({ firsts: 4, retries: 2 });
  expect(wanted(queue, { monotonicMs: 1_000 })).toEqual({ firsts: 1, retries: 0 });
  const probe = claimed();
  queue.hold(probe, false);
  expect(wanted(queue, { monotonicMs: 1_000 })).toEqual(NOTHING);
  queue.stored(probe, false);
  queue.succeeded(100);
  expect(wanted(queue, { monotonicMs: 1_000 })).toEqual({ firsts: 5, retries: 2 });
});

test("the capacity says whether waiting deliveries could be claimed, whatever is known to wait", () => {
  const capacityOf = (queue: EndpointQueue) => ({ firsts: queue.hasCapacity(false, capacity()), retries: queue.hasCapacity(true, capacity()) });
  const queue = new EndpointQueue("7", 0);
  expect(capacityOf(queue)).toEqual({ firsts: true, retries: true });
  for (let n = 0; n < 4; n++) queue.hold(claimed(), false);
  expect(capacityOf(queue)).toEqual({ firsts: false, retries: true });
  const spared = new EndpointQueue("7", 0);
  for (let n = 0; n < 22; n++) spared.failed(false, 100, 0);
  expect(capacityOf(spared)).toEqual({ firsts: false, retries: false });
});

test("deliveries that do not fit into the window are sent in order as slots become free", () => {
  const queue = new EndpointQueue("7", 0);
  const all = Array.from({ length: 6 }, () => claimed());
  for (const one of all) if (queue.hold(one, false)) queue.sent(one);
  expect(queue.takeSendable()).toBeUndefined();
  queue.stored(all[0] as Claimed, true);
  expect(queue.takeSendable()).toBe(all[4] as Claimed);
  queue.sent(all[4] as Claimed);
  expect(queue.takeSendable()).toBeUndefined();
  expect(queue.takeUnsent()).toEqual([all[5] as Claimed]);
  expect(queue.takeUnsent()).toEqual([]);
});

test("deliveries that arrive during a claim are not forgotten, and a failed claim is repeated", () => {
  const queue = waitingQueue();
  runClaim(queue, {}, () => {
    queue.firstWaits();
    queue.retryWaits(0);
  });
  expect(wanted(queue)).toEqual({ firsts: 4, retries: 2 });
  runClaim(queue, { nextRetryMs: 5_000 });
  expect(wanted(queue)).toEqual(NOTHING);
  expect(queue.nextRetryAfter(0)).toBe(5_000);

  const failing = waitingQueue();
  const request = failing.requestClaim(capacity());
  if (request === undefined) throw new Error("nothing to claim");
  failing.claimBegins(request);
  expect(wanted(failing)).toEqual(NOTHING);
  failing.claimFailed(request);
  expect(wanted(failing)).toEqual({ firsts: 4, retries: 2 });
});

test("a delivery behind another of its entity is looked for when that one ends, even during a claim", () => {
  const queue = new EndpointQueue("7", 0);
  const head = claimed({ entity: "4001" });
  queue.firstWaits();
  runClaim(queue, { hasBlocked: true });
  queue.hold(head, false);
  expect(wanted(queue)).toEqual(NOTHING);
  queue.stored(head, false);
  expect(wanted(queue).firsts).toBe(4);

  queue.hold(head, false);
  runClaim(queue, { hasBlocked: true }, () => queue.stored(head, false));
  expect(wanted(queue).firsts).toBe(4);
});

test("an event is sent at once only if nothing waits before it, and within the window and the rate", () => {
  const reservations = (queue: EndpointQueue, count: number): boolean[] => Array.from({ length: count }, () => queue.reserve(0));
  expect(reservations(new EndpointQueue("7", 0), 6)).toEqual([true, true, true, true, false, false]);
  expect(reservations(new EndpointQueue("7", 2), 3)).toEqual([true, true, false]);
  expect(reservations(waitingQueue(), 1)).toEqual([false]);
  const slow = new EndpointQueue("7", 0);
  slow.failed(true, 15_000, 0);
  expect(reservations(slow, 1)).toEqual([false]);
  const spared = new EndpointQueue("7", 0);
  for (let n = 0; n < 22; n++) spared.failed(false, 1, 0);
  expect(reservations(spared, 1)).toEqual([false]);
  const queue = new EndpointQueue("7", 0);
  reservations(queue, 6);
  queue.releaseReservations();
  expect(queue.reserve(0)).toBe(true);
});

test("a queue is forgotten only if a new one would behave the same", () => {
  const isForgettable = (change: (queue: EndpointQueue) => void): boolean => {
    const queue = new EndpointQueue("7", 0);
    change(queue);
    return queue.isForgettable;
  };
  expect(isForgettable(() => {})).toBe(true);
  expect(isForgettable((queue) => queue.firstWaits())).toBe(false);
  expect(isForgettable((queue) => queue.retryWaits(1))).toBe(false);
  expect(isForgettable((queue) => queue.hold(claimed(), false))).toBe(false);
  expect(isForgettable((queue) => queue.reserve(0))).toBe(false);
  expect(isForgettable((queue) => Array.from({ length: 22 }, () => queue.failed(false, 1, 0)))).toBe(false);
});

test("known deliveries can be claimed up to the last free place of their kind", () => {
  const queue = new EndpointQueue("7", 0);
  queue.hold(claimed({ isRetry: true }), false);
  for (let n = 0; n < 3; n++) queue.hold(claimed(), false);
  const has = (more: Partial<Capacity> = {}) => ({ retry: queue.hasCapacity(true, capacity(more)), first: queue.hasCapacity(false, capacity(more)) });
  expect(has()).toEqual({ retry: true, first: true });
  expect(has({ deliveries: 1 })).toEqual({ retry: true, first: true });
  expect(has({ retries: 1 })).toEqual({ retry: true, first: true });
  expect(has({ deliveries: 0 })).toEqual({ retry: false, first: false });
  expect(has({ retries: 0 })).toEqual({ retry: false, first: true });
  queue.hold(claimed({ isRetry: true }), false);
  expect(has()).toEqual({ retry: false, first: true });
  queue.hold(claimed(), false);
  expect(has()).toEqual({ retry: false, first: false });
});

test("each held delivery, even a retry, counts against the rate, however it was claimed", () => {
  const queue = waitingQueue(4);
  expect(wanted(queue)).toEqual({ firsts: 4, retries: 0 });
  for (const isRetry of [false, true, false]) queue.hold(claimed({ isRetry }), isRetry);
  expect(wanted(queue)).toEqual({ firsts: 1, retries: 0 });
  queue.hold(claimed(), true);
  expect(wanted(queue)).toEqual(NOTHING);
  expect(wanted(queue, { monotonicMs: 249 })).toEqual(NOTHING);
  expect(wanted(queue, { monotonicMs: 250 })).toEqual({ firsts: 1, retries: 0 });
});

/** The tolerance of the test, because a computed sum of fractions may be a little larger than the exact value. */
const ROUNDING = 1e-6;
/** Draws mostly short waits, and sometimes a quiet time in which a wrong bucket would save up the tokens of many seconds. */
const anyWait = fc.oneof({ weight: 4, arbitrary: fc.nat(300) }, { weight: 1, arbitrary: fc.nat(60_000) });

test("no time span exceeds the rate, in any sequence or after a quiet time, and the wait is no longer than needed", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.array(fc.tuple(anyWait, fc.nat(60)), { maxLength: 60 }), (perSecondMax, steps) => {
      const rate = new RateLimit(perSecondMax);
      let nowMs = 0;
      const taken: { atMs: number; count: number }[] = [];
      for (const [waitMs, wanted] of steps) {
        nowMs += waitMs;
        const count = Math.min(wanted, rate.available(nowMs));
        for (let n = 0; n < count; n++) rate.take();
        taken.push({ atMs: nowMs, count });
        // In each time span that ends now, the queue may take the tokens of one second at once, and the tokens for the duration of the span.
        let inSpan = 0;
        for (const { atMs, count: then } of taken.toReversed()) {
          inSpan += then;
          expect(inSpan).toBeLessThanOrEqual(perSecondMax + ((nowMs - atMs) * perSecondMax) / 1_000 + ROUNDING);
        }
      }
      expect(rate.available(nowMs + rate.waitMs(nowMs))).toBeGreaterThanOrEqual(1);
      expect(rate.waitMs(nowMs)).toBeLessThanOrEqual(Math.ceil(1_000 / perSecondMax));
    }),
  );
});

test("a quiet time is not saved up: after an hour or a second, a second's worth may be claimed, and no more", () => {
  const rate = new RateLimit(20);
  for (let n = 0; n < 20; n++) rate.take();
  expect([rate.available(0), rate.available(999), rate.available(1_000), rate.available(3_600_000)]).toEqual([0, 19, 20, 20]);
  for (let n = 0; n < 20; n++) rate.take();
  expect([rate.available(3_600_000), rate.waitMs(3_600_000), rate.available(3_600_050)]).toEqual([0, 50, 1]);
});

test("0 is no limit", () => {
  const rate = new RateLimit(0);
  for (let n = 0; n < 1_000; n++) rate.take();
  expect({ available: rate.available(0), waitMs: rate.waitMs(0) }).toEqual({ available: Number.POSITIVE_INFINITY, waitMs: 0 });
});

test("if more than one may be claimed there is no wait, and deliveries claimed beyond the limit are waited for, too", () => {
  const rate = new RateLimit(2);
  expect(rate.waitMs(0)).toBe(0);
  rate.take();
  expect([rate.waitMs(0), rate.waitMs(250)]).toEqual([0, 0]);
  for (let n = 0; n < 3; n++) rate.take();
  // The bucket lacks one and a half tokens, so the next delivery has to wait for two and a half tokens.
  expect([rate.available(250), rate.waitMs(250), rate.waitMs(1_499), rate.waitMs(1_500)]).toEqual([-2, 1_250, 1, 0]);
});

const failing = (count: number, isTimeout = false): CircuitBreaker => {
  const breaker = new CircuitBreaker();
  for (let n = 0; n < count; n++) breaker.failed(isTimeout, 0);
  return breaker;
};

test("it opens after 22 failures in a row, or 7 timeouts", () => {
  expect(failing(21).isClosed).toBe(true);
  expect(failing(22).isClosed).toBe(false);
  expect(failing(6, true).isClosed).toBe(true);
  expect(failing(7, true).isClosed).toBe(false);
});

test("it stays open for 1 s, then twice as long after each failed probe, up to 30 s", () => {
  const breaker = failing(22);
  let nowMs = 0;
  const waits: number[] = [];
  for (let probe = 0; probe < 7; probe++) {
    waits.push(breaker.waitMs(nowMs));
    nowMs += breaker.waitMs(nowMs);
    expect({ isClosed: breaker.isClosed, waitMs: breaker.waitMs(nowMs) }).toEqual({ isClosed: false, waitMs: 0 });
    breaker.failed(false, nowMs);
  }
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

test("requests that were running together when it opened count as one failure", () => {
  const breaker = failing(60);
  expect(breaker.waitMs(0)).toBe(1_000);
});

test("a success closes it, and the next time it opens for 1 s again", () => {
  const breaker = failing(22);
  breaker.failed(false, 1_000);
  expect(breaker.waitMs(1_000)).toBe(2_000);
  breaker.succeeded();
  expect({ isClosed: breaker.isClosed, waitMs: breaker.waitMs(1_000) }).toEqual({ isClosed: true, waitMs: 0 });
  while (breaker.isClosed) breaker.failed(false, 5_000);
  expect(breaker.waitMs(5_000)).toBe(1_000);
});

test("it remembers about ten requests: one success after many failures is undone by the next failure, many are not", () => {
  const failuresUntilOpen = (breaker: CircuitBreaker): number => {
    let failures = 0;
    for (; breaker.isClosed; failures++) breaker.failed(false, 0);
    return failures;
  };
  const counts = [1, 2, 5, 10, 100].map((successes) => {
    const breaker = failing(60);
    for (let n = 0; n < successes; n++) breaker.succeeded();
    return failuresUntilOpen(breaker);
  });
  expect(counts).toEqual([1, 7, 14, 18, 22]);
});

test("a receiver that fails three requests in ten is never spared", () => {
  const breaker = new CircuitBreaker();
  let die = 7;
  for (let n = 0; n < 100_000; n++) {
    die = (die * 48_271) % 2_147_483_647;
    if (die / 2_147_483_647 < 0.3) breaker.failed(false, 0);
    else breaker.succeeded();
    expect(breaker.isClosed).toBe(true);
  }
});
