/** Tests one attempt at a delivery: the request that is sent, the meaning of each response, and what is stored of the attempt. */
import { expect, test } from "bun:test";
import { stopMonotonicClock } from "#harness/time/stopped-time";
import { movedClock } from "#harness/work-database";
import { CallbackRefused } from "#outbound/address-rules";
import { type OutboundRequest, RequestFailed } from "#outbound/request";
import { deriveKey, Sealer } from "#storage/sealing";
import type { CallbackRow } from "./callbacks/callbacks.store.ts";
import { attemptDelivery, secretsOf } from "./delivery/attempt.ts";
import type { Claimed } from "./delivery/claims.ts";
import { type ClaimedRow, NO_CALLBACK } from "./delivery/deliveries.store.ts";
import type { DeliveryDeps, DeliveryFault } from "./deps.ts";
import type { Route } from "./events/routing.ts";
import type { WebhookApp } from "./ports.ts";

const NOW = 5_000_000;
const URL = "https://receiver.example/hook";
const sealer = new Sealer(deriveKey(new Uint8Array(32), "app secret"));
const APP: WebhookApp = { callbacks: {}, sealed_secret: sealer.seal("s3cret") };
const CALLBACK: CallbackRow = {
  ...{ id: "7", app: "1001", url: URL, failing_since_ms: null, last_failure_ms: null, alerted_ms: null, paused_ms: null, probe_due_ms: null },
};

interface Setup {
  readonly status?: number;
  readonly body?: string;
  /** The error with which the request fails, if it gets no response. */
  readonly error?: Error;
  readonly app?: WebhookApp | undefined;
  readonly route?: Route;
  readonly callback?: Partial<CallbackRow>;
  readonly effect?: DeliveryFault;
  readonly isWanted?: boolean;
  readonly tookMs?: number;
  readonly row?: Partial<ClaimedRow>;
  readonly claimed?: Partial<Claimed>;
}

async function attempt(setup: Setup = {}) {
  const { status = 200, body = "", error, route = { to: "app", url: URL }, effect, isWanted = true, tookMs = 0 } = setup;
  const monotonic = stopMonotonicClock(1_000);
  const requests: OutboundRequest[] = [];
  const asked: unknown[] = [];
  const app = "app" in setup ? setup.app : APP;
  const callback = { ...CALLBACK, ...setup.callback };
  const parts = {
    ...{ database: {}, clock: movedClock(NOW), realNowMs: () => 1_999_999, sealer, profile: () => "strict" },
    fields: { carriedIn: () => "changes", isHonouringOverrides: () => true },
    facts: {
      ...{ peekApp: () => undefined, findApp: async () => app, routeOf: async () => route },
      subscribersOf: async () => {
        asked.push("subscribers");
        return isWanted ? ["1001"] : [];
      },
    },
    callbacks: { peek: () => undefined, find: async () => callback },
    client: {
      async request(request: OutboundRequest) {
        requests.push(request);
        monotonic.ms += tookMs;
        if (error !== undefined) throw error;
        return { status, body: Buffer.from(body), isCut: false };
      },
    },
    faults: {
      isEmpty: effect === undefined,
      async matchWebhook(given: unknown) {
        asked.push(given);
        return effect;
      },
      delivered: () => {},
    },
  };
  const event = {
    id: "9",
    object: "page",
    field: "feed",
    entity: "2001",
    phone: null,
    time_ms: 7_999,
    payload: '{"n":1}',
    traceparent: null,
    tracestate: null,
  };
  const row = { ...event, event: "8", app: "1001", callback: "7", members: 0, first_attempt_ms: NOW, tries: 0, attempts: "[]", ...setup.row };
  const claimed: Claimed = { row, members: [], isRetry: false, isProbe: false, fence: 1, firstMs: NOW, ...setup.claimed };
  const outcome = await attemptDelivery(parts as unknown as DeliveryDeps, claimed);
  return { outcome, requests, asked };
}

test("D-62: a POST has fifteen seconds, up to 64 kB of its response are read, and its status is enough", async () => {
  const { requests } = await attempt();
  expect(requests).toMatchObject([
    {
      ...{ method: "POST", url: URL, deadlineMs: 15_000, responseBytesMax: 65_536, isStatusEnough: true },
      body: '{"object":"page","entry":[{"id":"2001","time":7,"changes":[{"field":"feed","value":{"n":1}}]}]}',
      headers: { "Content-Type": "application/json", "webhook-id": "msg_9", "webhook-timestamp": "1999" },
    },
  ]);
});

test("D-62: any 2xx is a delivery, 410 the end, and every other status a failure that is retried", async () => {
  const kinds: Record<number, string> = {};
  for (const status of [199, 200, 204, 299, 300, 400, 409, 410, 411, 500]) kinds[status] = (await attempt({ status })).outcome.kind;
  const [retry, delivered] = ["retry", "delivered"];
  expect(kinds).toEqual({
    ...{ 199: retry, 200: delivered, 204: delivered, 299: delivered, 300: retry, 400: retry, 409: retry, 410: "failed", 411: retry, 500: retry },
  });
});

test("256 bytes of a response are kept, its duration to a tenth of a millisecond, and nothing of an empty one", async () => {
  const kept = async (setup: Setup) => ((await attempt(setup)).outcome as { attempt?: unknown }).attempt;
  const common = { time_ms: NOW, callback: "7", timestamp: 1_999 };
  expect(await kept({ status: 500, body: `a${"b".repeat(300)}`, tookMs: 12.36 })).toEqual({
    ...{ ...common, status: 500, latency_ms: 12.4, answer: `a${"b".repeat(255)}` },
  });
  expect(await kept({ status: 204, tookMs: 3 })).toEqual({ ...common, status: 204, latency_ms: 3 });
  expect(await kept({ body: "k" })).toEqual({ ...common, status: 200, latency_ms: 0, answer: "k" });
});

test("without a response the reason is reported, and whether the receiver was silent; errors other than the network's are thrown", async () => {
  const common = { time_ms: NOW, callback: "7", timestamp: 1_999 };
  const failed = async (error: Error) => (await attempt({ error, tookMs: 4 })).outcome;
  expect(await failed(new RequestFailed("timeout", "no whole response"))).toMatchObject({
    ...{ kind: "retry", isTimeout: true, attempt: { ...common, latency_ms: 4, error: "timeout: no whole response" } },
  });
  expect(await failed(new RequestFailed("closed", "gone"))).toMatchObject({ kind: "retry", isTimeout: false, attempt: { error: "closed: gone" } });
  const refused = await failed(new CallbackRefused("private"));
  expect(refused).toMatchObject({ kind: "retry", isTimeout: false });
  expect((refused as { attempt: unknown }).attempt).toEqual({ ...common, error: "refused: private" });
  await expect(attempt({ error: new TypeError("a mistake") })).rejects.toThrow("a mistake");
});

test("D-62: the attempt after the tenth retry is the last; a failed probe is reported, and changes nothing else", async () => {
  const after = async (tries: number) => (await attempt({ status: 500, row: { tries } })).outcome;
  const { kind, dueMs } = (await after(0)) as { kind: string; dueMs: number };
  expect(kind).toBe("retry");
  expect(dueMs).toBeWithin(NOW + 13_500, NOW + 15_001);
  expect((await after(9)).kind).toBe("retry");
  expect(await after(10)).toMatchObject({ kind: "failed", endedMs: NOW });
  const probe = { claimed: { isProbe: true, isRetry: true }, callback: { paused_ms: 1 } };
  expect((await attempt({ ...probe, status: 500 })).outcome).toMatchObject({ kind: "probed", isTimeout: false });
  expect((await attempt({ ...probe, error: new RequestFailed("timeout", "") })).outcome).toMatchObject({ kind: "probed", isTimeout: true });
  expect((await attempt(probe)).outcome.kind).toBe("delivered");
});

test("D-63: each attempt follows the current route; a delivery with another route moves, and one without a route waits for its next attempt", async () => {
  const nowhere: Route = { to: "nowhere", reason: "callback_not_verified" };
  const outcomeOf = async (setup: Setup) => {
    const { outcome, requests } = await attempt(setup);
    expect(requests).toEqual([]);
    return outcome;
  };
  expect(await outcomeOf({ route: { to: "phone", url: "https://other.example/" } })).toEqual({ kind: "moved", url: "https://other.example/" });
  expect(await outcomeOf({ route: nowhere })).toEqual({ kind: "moved", url: undefined });
  expect(await outcomeOf({ app: undefined })).toEqual({ kind: "moved", url: undefined });
  const lost = { row: { callback: NO_CALLBACK } };
  expect(await outcomeOf({ ...lost, route: nowhere })).toMatchObject({
    kind: "retry",
    isTimeout: false,
    attempt: { error: "callback_not_verified" },
  });
  expect(await outcomeOf({ ...lost, app: undefined })).toMatchObject({ kind: "retry", attempt: { time_ms: NOW, error: "no_callback" } });
  expect(await outcomeOf(lost)).toEqual({ kind: "moved", url: URL });
  expect(await outcomeOf({ callback: { paused_ms: 1 } })).toEqual({ kind: "back" });
});

test("D-138: a retry that the app would no longer get ends; a first attempt is not checked", async () => {
  const retry = { claimed: { isRetry: true } };
  expect((await attempt({ ...retry, isWanted: false })).outcome).toEqual({ kind: "unsubscribed", endedMs: NOW });
  expect((await attempt(retry)).outcome.kind).toBe("delivered");
  const first = await attempt({ isWanted: false });
  expect([first.outcome.kind, first.asked]).toEqual(["delivered", []]);
});

test("D-172: an erased event is not sent, and a POST with nothing else in it has failed", async () => {
  const member = {
    id: "10",
    object: "page",
    field: "feed",
    entity: "2001",
    phone: null,
    time_ms: 7_999,
    payload: '{"n":2}',
    traceparent: null,
    tracestate: null,
  };
  const both = await attempt({ row: { payload: "" }, claimed: { members: [member, { ...member, payload: "" }] } });
  expect(both.requests.map(({ body }) => body)).toEqual([
    '{"object":"page","entry":[{"id":"2001","time":7,"changes":[{"field":"feed","value":{"n":2}}]}]}',
  ]);
  const none = await attempt({ row: { payload: "" } });
  expect(none.outcome).toMatchObject({ kind: "failed", endedMs: NOW, attempt: { error: expect.stringContaining("erased") } });
  expect(none.requests).toEqual([]);
});

test("D-150: faults apply to each attempt except a probe, with the fields of all events; a first attempt may be sent after others", async () => {
  const member = {
    id: "10",
    object: "page",
    field: "mention",
    entity: "2001",
    phone: null,
    time_ms: 7_999,
    payload: "{}",
    traceparent: null,
    tracestate: null,
  };
  const lost = await attempt({ effect: "lose", claimed: { members: [member] } });
  expect([lost.outcome, lost.requests, lost.asked]).toMatchObject([
    { kind: "failed", endedMs: NOW },
    [],
    [{ fields: ["feed", "mention"], entity: "2001", isRetry: false }],
  ]);
  const reordered = await attempt({ effect: "reorder", claimed: { isRetry: true } });
  expect([reordered.outcome, reordered.requests]).toMatchObject([{ kind: "retry", isTimeout: false, attempt: { error: "fault: reordered" } }, []]);
  expect(reordered.asked.at(-1)).toMatchObject({ fields: ["feed"], entity: "2001", isRetry: true });
  const counts = [await attempt({ effect: "repeat" }), await attempt({ effect: "repeat", status: 500 })].map(({ requests }) => requests.length);
  expect(counts).toEqual([2, 1]);
  const probe = await attempt({ effect: "lose", claimed: { isProbe: true, isRetry: true } });
  expect([probe.outcome.kind, probe.requests.length]).toEqual(["delivered", 1]);
});

test("D-62: the previous secret signs too, until its overlap ends, to the millisecond", () => {
  const app: WebhookApp = { ...APP, previous_secret: { sealed: sealer.seal("old"), until_ms: 100 } };
  const at = (ms: number): readonly string[] => secretsOf({ sealer, realNowMs: () => ms }, app);
  expect([at(99), at(100), at(99)]).toEqual([["s3cret", "old"], ["s3cret"], ["s3cret", "old"]]);
  expect(secretsOf({ sealer, realNowMs: () => 0 }, APP)).toEqual(["s3cret"]);
});
