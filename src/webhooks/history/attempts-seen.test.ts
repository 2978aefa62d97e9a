/** Tests what people see of attempts: counts by callback and field, the state of a delivery, and the stored attempts. */
import { expect, test } from "bun:test";
import { type Attempt, NO_ATTEMPTS, withAttempts } from "../delivery/attempts.ts";
import { NO_CALLBACK } from "../delivery/deliveries.store.ts";
import type { AttemptedOutcome } from "../observer.ts";
import type { DeliveryRow } from "./list.store.ts";
import { ATTEMPT_EDGES_MS, DeliveryMetrics } from "./metrics.ts";
import { viewOf } from "./view.ts";

const claimed = (more: { callback?: string; object?: string; field?: string } = {}) => {
  const event = {
    id: "1",
    object: more.object ?? "page",
    field: more.field ?? "feed",
    entity: "2001",
    phone: null,
    time_ms: 0,
    payload: "{}",
    traceparent: null,
    tracestate: null,
  };
  return { ...event, event: "1", app: "1001", callback: more.callback ?? "7", members: 0, first_attempt_ms: 0, tries: 0, attempts: NO_ATTEMPTS };
};
const outcomeOf = (kind: AttemptedOutcome["kind"], latency_ms?: number): AttemptedOutcome => {
  const attempt: Attempt = { time_ms: 0, ...(latency_ms === undefined ? {} : { latency_ms }) };
  return { kind, attempt, endedMs: 0, dueMs: 0, isTimeout: false } as AttemptedOutcome;
};

test("attempts are counted by outcome, and events if the POST was accepted", () => {
  const metrics = new DeliveryMetrics();
  for (const kind of ["delivered", "delivered", "retry", "probed", "failed"] as const)
    metrics.record({ row: claimed(), updates: 3, outcome: outcomeOf(kind, 2) });
  metrics.recordUnsubscribed(claimed());
  const counts = { delivered: 2, retried: 2, failed: 1, unsubscribed: 1, updates: 6, durationSumMs: 10 };
  expect([...metrics.entries()]).toMatchObject([{ app: "1001", callback: "7", object: "page", field: "feed", ...counts }]);
  metrics.record({ row: claimed({ field: "messages" }), updates: 1, outcome: outcomeOf("failed") });
  metrics.record({ row: claimed({ callback: "8" }), updates: 1, outcome: outcomeOf("delivered") });
  expect(
    [...metrics.entries()].map(({ callback, field, failed, updates, durationSumMs }) => ({ callback, field, failed, updates, durationSumMs })),
  ).toEqual([
    { callback: "7", field: "feed", failed: 1, updates: 6, durationSumMs: 10 },
    { callback: "7", field: "messages", failed: 1, updates: 0, durationSumMs: 0 },
    { callback: "8", field: "feed", failed: 0, updates: 1, durationSumMs: 0 },
  ]);
});

test("fields of one name are counted by their objects", () => {
  const metrics = new DeliveryMetrics();
  const objects = ["social", "chatapp_business_account", "page"];
  for (const [at, object] of objects.entries()) {
    for (let n = 0; n <= at; n++) metrics.record({ row: claimed({ object, field: "messages" }), updates: 1, outcome: outcomeOf("delivered") });
    metrics.recordUnsubscribed(claimed({ object, field: "messages" }));
    for (let n = 0; n <= at; n++) metrics.recordBroken({ object, field: "messages", entity: "1", path: "", problem: "" });
  }
  expect([...metrics.entries()].map(({ object, delivered, unsubscribed }) => ({ object, delivered, unsubscribed }))).toEqual(
    objects.map((object, at) => ({ object, delivered: at + 1, unsubscribed: 1 })),
  );
  expect([...metrics.brokenPayloads()]).toEqual(objects.map((object, at) => ({ object, field: "messages", count: at + 1 })));
});

test("a latency counts up to its edge, and one above all edges separately", () => {
  const metrics = new DeliveryMetrics();
  // The edges of the histogram must not change, because dashboards refer to them.
  const edges = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 15_000];
  expect(ATTEMPT_EDGES_MS).toEqual(edges);
  for (const edge of edges) for (const ms of [edge, edge + 0.5]) metrics.record({ row: claimed(), updates: 1, outcome: outcomeOf("delivered", ms) });
  // The first interval of the histogram has only the latency at its upper edge. Each other interval also has the latency just above the edge of the
  // interval before it.
  expect([...metrics.entries()][0]?.durations).toEqual([1, ...edges.slice(1).map(() => 2), 1]);
});

test("five thousand callbacks and fields are counted separately, further ones together", () => {
  const metrics = new DeliveryMetrics();
  for (let callback = 1; callback <= 5_003; callback++)
    metrics.record({ row: claimed({ callback: String(callback) }), updates: 1, outcome: outcomeOf("delivered") });
  const entries = [...metrics.entries()];
  expect(entries.map(({ delivered }) => delivered)).toEqual([...Array.from({ length: 5_000 }, () => 1), 3]);
  expect(entries.at(-1)).toMatchObject({ app: "other", callback: "other", object: "other", field: "other" });
  metrics.record({ row: claimed({ callback: "5000" }), updates: 1, outcome: outcomeOf("delivered") });
  expect([...metrics.entries()].map(({ delivered }) => delivered)).toEqual([...Array.from({ length: 4_999 }, () => 1), 2, 3]);
});

test("broken payloads are counted by their field, and overdue deliveries in total", () => {
  const metrics = new DeliveryMetrics();
  for (const field of ["feed", "feed", "messages"]) metrics.recordBroken({ object: "page", field, entity: "1", path: "", problem: "" });
  expect([...metrics.brokenPayloads()].map(({ field, count }) => `${field} ${count}`)).toEqual(["feed 2", "messages 1"]);
  expect(metrics.overdue).toBe(0);
  for (const _ of [1, 2]) metrics.recordOverdue();
  expect(metrics.overdue).toBe(2);
});

test("thirty attempts are kept; of more, the first and the last", () => {
  const after = (count: number): number[] => {
    let attempts = NO_ATTEMPTS;
    for (let n = 1; n <= count; n++) attempts = withAttempts(attempts, [{ time_ms: n }]);
    return (JSON.parse(attempts) as Attempt[]).map(({ time_ms }) => time_ms);
  };
  const upTo = (count: number, from = 1): number[] => Array.from({ length: count - from + 1 }, (_, at) => from + at);
  expect([after(1), after(2), after(30)]).toEqual([[1], [1, 2], upTo(30)]);
  expect(after(31)).toEqual([1, ...upTo(31, 3)]);
  expect(after(40)).toEqual([1, ...upTo(40, 12)]);
});

test("a delivery has its state and, if it waits or has failed, the reason; absent keys are omitted", () => {
  const row: DeliveryRow = {
    ...{ id: "9", app: "1001", callback: "7", url: "https://receiver.example/", status: 0, members: 0, retry_due_ms: null, attempts: NO_ATTEMPTS },
    ...{ ended_ms: null, paused_ms: null, object: "page", field: "feed", entity: "2001", phone: null, time_ms: 5 },
  };
  const shown = (more: Partial<DeliveryRow>, attempts: readonly Partial<Attempt>[] = []) => {
    const { status, reason, next_attempt_time } = viewOf({ ...row, ...more, attempts: JSON.stringify(attempts) });
    return [status, reason, next_attempt_time];
  };
  expect(shown({})).toEqual(["waiting", "queued", undefined]);
  expect(shown({ retry_due_ms: 8 })).toEqual(["waiting", "retry", 0.008]);
  expect(shown({ retry_due_ms: 8, paused_ms: 1 })).toEqual(["waiting", "callback_paused", undefined]);
  expect(shown({ callback: NO_CALLBACK, url: null, paused_ms: null })).toEqual(["waiting", "no_callback", undefined]);
  expect(shown({ callback: NO_CALLBACK, url: null }, [{ error: "callback_not_verified" }])).toEqual(["waiting", "callback_not_verified", undefined]);
  expect(shown({ callback: NO_CALLBACK, url: null }, [{ error: "callback_not_verified" }, { error: "timeout" }])).toEqual([
    "waiting",
    "no_callback",
    undefined,
  ]);
  expect(shown({ status: 1 })).toEqual(["sending", undefined, undefined]);
  expect(shown({ status: 2 })).toEqual(["delivered", undefined, undefined]);
  expect(shown({ status: 3 }, [{ status: 410 }])).toEqual(["failed", "gone", undefined]);
  expect(shown({ status: 3 }, [{ status: 410 }, { status: 500 }])).toEqual(["failed", "gave_up", undefined]);
  expect(shown({ status: 5 })).toEqual(["unsubscribed", undefined, undefined]);
  const always = {
    id: "9",
    webhook_id: "msg_9",
    app: "1001",
    object: "page",
    field: "feed",
    entity: "2001",
    status: "waiting",
    time: 0.005,
    attempts: [],
  };
  expect(viewOf(row)).toEqual({
    ...always,
    status: "waiting",
    callback: "https://receiver.example/",
    callback_id: "7",
    reason: "queued",
    updates: 1,
  });
  const nowhere = { ...row, callback: NO_CALLBACK, url: null, phone: "4101", members: 2, ended_ms: 6, status: 2 };
  expect(viewOf(nowhere)).toEqual({ ...always, status: "delivered", phone_number: "4101", updates: 3, ended_time: 0.006 });
});
