/** Tests what a queue records: waiting and held deliveries and their entities, and how a claim changes these records. */
import { expect, test } from "bun:test";
import { type Claimed, type ClaimRequest, FIRST_ENTITY } from "../claims.ts";
import { EndpointQueue } from "./endpoint-queue.ts";

let lastId = 0;
function claimed({ entity = "4001", isRetry = false, members = 0 } = {}): Claimed {
  const event = {
    id: String(++lastId),
    object: "page",
    field: "feed",
    entity,
    phone: null,
    time_ms: 0,
    payload: "{}",
    traceparent: null,
    tracestate: null,
  };
  const row = { ...event, event: event.id, app: "1", callback: "7", members, first_attempt_ms: 0, tries: 0, attempts: "[]" };
  return { row, members: Array.from({ length: members }, () => event), isRetry, isProbe: false, fence: 1, firstMs: 0 };
}

const newQueue = () => new EndpointQueue("7", 0);
const request = (queue: EndpointQueue, deliveries = 1_000) =>
  queue.requestClaim({ nowMs: 0, monotonicMs: 0, isHurried: false, deliveries, retries: 1_000 });
const counts = (queue: EndpointQueue, deliveries?: number) => {
  const { firsts = 0, retries = 0 } = request(queue, deliveries) ?? {};
  return [firsts, retries];
};
const asked = (firsts: number, retries: number): ClaimRequest => ({
  ...{ queue: "7", firsts, retries, busy: new Set(), fromEntity: FIRST_ENTITY, isProbe: false },
});
const seen = (firsts: number, retries: number) => ({
  ...{ request: asked(firsts, retries), hasMore: false, hasBlocked: false, nextEntity: FIRST_ENTITY, nextRetryMs: undefined },
});

test("a claim names the queue and its busy entities, and a probe is one delivery of either kind while nothing is held", () => {
  const queue = newQueue();
  queue.firstWaits();
  expect(queue.requestProbe()).toEqual({ ...asked(1, 1), isProbe: true });
  expect(request(queue)).toEqual(asked(4, 0));
  const one = claimed();
  for (const held of [one, claimed({ isRetry: true, entity: "4002" })]) {
    queue.hold(held, false);
    expect(queue.requestProbe()).toBeUndefined();
  }
  expect(request(queue)).toEqual({ ...asked(3, 0), busy: new Set(["4001"]) });
  queue.stored(one, false);
  expect(request(queue)?.busy).toEqual(new Set());
  expect(queue.requestProbe()).toBeUndefined();
});

test("held deliveries of both kinds are counted, and a queue with a reservation and a held one is not forgotten", () => {
  const queue = newQueue();
  const both = [claimed(), claimed({ isRetry: true })];
  expect(both.map((one) => queue.hold(one, false))).toEqual([true, true]);
  expect(queue.held).toBe(2);
  for (const [at, one] of both.entries()) {
    queue.stored(one, false);
    expect(queue.held).toBe(1 - at);
  }
  expect(queue.isForgettable).toBe(true);
  queue.reserve(0);
  queue.hold(claimed(), false);
  expect(queue.isForgettable).toBe(false);
  const forgotten = newQueue();
  for (let round = 0; round < 2; round++) {
    expect(Array.from({ length: 5 }, () => forgotten.reserve(0))).toEqual([true, true, true, true, false]);
    forgotten.releaseReservations();
  }
  expect(forgotten.isForgettable).toBe(true);
});

test("the earliest retry counts, and a due one needs no wait", () => {
  const queue = newQueue();
  const state = (nowMs: number) => [queue.hasWaiting, queue.hasDue(nowMs), queue.nextRetryAfter(nowMs)];
  expect(state(0)).toEqual([false, false, undefined]);
  for (const dueMs of [5_000, 9_000]) queue.retryWaits(dueMs);
  expect([state(4_999), state(5_000)]).toEqual([
    [true, false, 5_000],
    [true, true, undefined],
  ]);
  queue.retryWaits(3_000);
  expect(state(0)).toEqual([true, false, 3_000]);
  const first = newQueue();
  first.firstWaits();
  expect([first.hasWaiting, first.hasDue(0)]).toEqual([true, true]);
});

test("one delivery of each kind is worth a claim", () => {
  const queue = newQueue();
  for (let n = 0; n < 2; n++) queue.failed(true, 15_000, 0);
  queue.firstWaits();
  queue.retryWaits(0);
  expect(counts(queue)).toEqual([1, 1]);
});

test("a claim of one kind keeps the state of the other, whether it ends or fails", () => {
  const waiting = (): EndpointQueue => {
    const queue = newQueue();
    queue.firstWaits();
    queue.retryWaits(0);
    return queue;
  };
  const after = (change: (queue: EndpointQueue) => void, queue = waiting()) => {
    change(queue);
    return counts(queue);
  };
  expect(after((queue) => queue.claimBegins(asked(1, 0)))).toEqual([0, 2]);
  expect(after((queue) => queue.claimBegins(asked(0, 1)))).toEqual([4, 0]);
  expect(after((queue) => queue.claimFailed(asked(1, 0)), newQueue())).toEqual([4, 0]);
  expect(after((queue) => queue.claimFailed(asked(0, 1)), newQueue())).toEqual([0, 2]);
  expect(after((queue) => queue.claimEnded({ ...seen(1, 0), hasMore: true }), newQueue())).toEqual([4, 0]);
  expect(after((queue) => queue.claimEnded({ ...seen(0, 1), hasMore: true, nextRetryMs: 0 }), newQueue())).toEqual([0, 2]);
  const queue = waiting();
  queue.claimEnded({ ...seen(1, 0), nextEntity: "5000" });
  queue.claimEnded({ ...seen(0, 1), nextEntity: "6000" });
  expect(request(queue)?.fromEntity).toBe("5000");
});

test("an end looks for the next one of its entity only if one was seen behind it, or may have been overlooked", () => {
  const storedIn = (queue: EndpointQueue) => queue.stored(claimed(), false);
  const queue = newQueue();
  queue.hold(claimed(), false);
  storedIn(queue);
  expect(counts(queue)).toEqual([0, 0]);
  // The last delivery ended before the claim began, so the claim takes its end into account.
  queue.claimBegins(asked(1, 0));
  queue.claimEnded({ ...seen(1, 0), hasBlocked: true });
  expect(counts(queue)).toEqual([0, 0]);
  const during = newQueue();
  during.hold(claimed(), false);
  during.claimBegins(asked(1, 0));
  storedIn(during);
  expect(counts(during)).toEqual([0, 0]);
  during.claimEnded({ ...seen(1, 0), hasBlocked: true });
  expect(counts(during)).toEqual([4, 0]);
});

test("a POST counts as all its events while it is being sent, and an unsent one frees nothing", () => {
  const isSendable = (queue: EndpointQueue) => {
    const one = claimed();
    const isNow = queue.hold(one, false);
    if (!isNow) queue.takeUnsent();
    queue.stored(one, false);
    return isNow;
  };
  const queue = newQueue();
  const [many, more] = [claimed({ members: 254 }), claimed({ members: 0 })];
  for (const one of [many, more]) {
    expect(isSendable(queue)).toBe(true);
    queue.hold(one, false);
    queue.sent(one);
  }
  expect([isSendable(queue), isSendable(queue)]).toEqual([false, false]);
  queue.stored(more, true);
  expect(isSendable(queue)).toBe(true);
  queue.hold(more, false);
  queue.sent(more);
  queue.stored(many, true);
  const large = claimed({ members: 255 });
  queue.hold(large, false);
  queue.sent(large);
  queue.stored(more, true);
  expect(isSendable(queue)).toBe(false);
  queue.stored(large, true);
  expect(isSendable(queue)).toBe(true);
});

test("a receiver that responds in time is no longer slow, even if it fails; a spared one gets nothing before its time", () => {
  const queue = newQueue();
  queue.failed(true, 15_000, 0);
  expect(queue.isSlow).toBe(true);
  queue.failed(false, 10, 0);
  expect(queue.isSlow).toBe(false);
  const spared = newQueue();
  for (let n = 0; n < 22; n++) spared.failed(false, 100, 0);
  const has = (monotonicMs: number) => spared.hasCapacity(false, { nowMs: 0, monotonicMs, isHurried: false, deliveries: 9, retries: 9 });
  expect([has(999), has(1_000)]).toEqual([false, true]);
});
