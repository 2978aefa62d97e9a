/**
 * Tests how the results of attempts are stored, many in one transaction and in their order: the state of each delivery, and the health of its
 * callback.
 */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { fixtureMigrations, insertDeliveries, newFeatures, openWebhooks } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import { sql } from "#storage/sql";
import { TimeOrderedIds } from "#system";
import { findCallback, findCallbackId, insertCallback, saveHealth } from "./callbacks/callbacks.store.ts";
import { Callbacks } from "./callbacks/callbacks.ts";
import type { Claimed } from "./delivery/claims.ts";
import { NO_CALLBACK } from "./delivery/deliveries.store.ts";
import { ResultWriter } from "./delivery/results.ts";
import type { Outcome } from "./observer.ts";

const FENCE = 5;
const FAILING = { failing_since_ms: 10, last_failure_ms: 10, alerted_ms: null, paused_ms: null, probe_due_ms: null };

onEachDatabase("ends of attempts", (kind) => {
  async function open(count = 9) {
    const database = await (await newWorkStore(kind, fixtureMigrations)).open();
    const { webhooks, clock } = openWebhooks(database, { features: newFeatures() });
    await database.write(async (tx) => {
      for (const id of ["71", "72"]) await insertCallback(tx, id, "1001", `https://receiver.example/${id}`);
    });
    await insertDeliveries(
      database,
      Array.from({ length: count }, (_, at) => ({ id: at + 1, status: 1, fence: FENCE })),
    );
    const [waits, changes]: [Record<string, string | undefined>, string[]] = [{}, []];
    const writer = new ResultWriter({
      ...{ clock, database, jobs: webhooks.deps.jobs, callbacks: new Callbacks(database, new TimeOrderedIds(() => 1)), hasLog: false },
      onStored({ claimed, waitsIn }) {
        waits[claimed.row.id] = waitsIn;
      },
      onHealth: ({ callback: { id }, became }) => void changes.push(`${id} ${became}`),
    });
    const add = (id: number, outcome: Outcome, callback = "71", isRetry = true): void => {
      const event = {
        id: String(id),
        object: "page",
        field: "feed",
        entity: "2001",
        phone: null,
        time_ms: 0,
        payload: "{}",
        traceparent: null,
        tracestate: null,
      };
      const row = { ...event, event: event.id, app: "1001", callback, members: 0, first_attempt_ms: 0, tries: 0, attempts: "[]" };
      const claimed: Claimed = { row, members: [], isRetry, isProbe: false, fence: FENCE, firstMs: 0 };
      writer.add({ claimed, outcome, wasSent: true, atMs: 700 });
    };
    const health = async (id: string) => (await findCallback(database.reader, id))?.failing_since_ms;
    return { database, writer, waits, changes, add, health };
  }

  const delivered = (time_ms: number, callback = "71"): Outcome => ({
    kind: "delivered",
    attempt: { time_ms, callback, status: 200 },
    endedMs: time_ms,
  });
  const failed = (time_ms: number, callback = "71"): Outcome => ({
    ...{ kind: "retry", attempt: { time_ms, callback, status: 500 }, dueMs: time_ms + 50, isTimeout: false },
  });

  test("the last attempt decides whether the callback works, and each callback is judged by its own attempts", async () => {
    const { writer, add, health } = await open();
    add(1, delivered(20));
    add(2, failed(30));
    add(3, failed(20, "72"), "72");
    add(4, failed(30, "72"), "72");
    await writer.flush();
    expect([await health("71"), await health("72")]).toEqual([30, 20]);
    add(5, failed(40));
    add(6, delivered(50));
    await writer.flush();
    expect([await health("71"), await health("72")]).toEqual([null, 20]);
    expect(writer.isEmpty).toBe(true);
  });

  test("410 pauses a callback, and is reported once", async () => {
    const { writer, add, changes } = await open();
    for (const id of [1, 2]) add(id, { kind: "failed", attempt: { time_ms: 20, callback: "71", status: 410 }, endedMs: 20 });
    await writer.flush();
    expect(changes).toEqual(["71 paused"]);
  });

  test("a first failure is reported once, and again after a success", async () => {
    const { writer, add, changes } = await open();
    for (const [id, outcome] of [failed(20), failed(30), delivered(40), failed(50)].entries()) {
      add(id + 1, outcome);
      await writer.flush();
    }
    expect(changes).toEqual(["71 failing", "71 failing"]);
  });

  test("each delivery has the state of its end, or waits for the same attempt in the same place or elsewhere", async () => {
    const { database, writer, add, waits } = await open();
    add(1, delivered(20));
    add(2, { kind: "failed", attempt: { time_ms: 20, callback: "71", status: 500 }, endedMs: 21 });
    add(3, failed(20));
    add(4, { kind: "unsubscribed", endedMs: 22 });
    add(5, { kind: "probed", attempt: { time_ms: 20, callback: "71", status: 500 }, isTimeout: false });
    add(6, { kind: "back" }, "71", false);
    add(7, { kind: "moved", url: "https://receiver.example/72" });
    add(8, { kind: "moved", url: undefined }, "71", false);
    add(9, { kind: "moved", url: "https://new.example/" });
    await writer.flush();
    const rows = await database.reader.all<{
      id: number;
      callback: string;
      status: number;
      first: number;
      due: number | null;
      ended: number | null;
      tried: number;
    }>(
      sql`SELECT d.id, CAST(d.callback AS TEXT) AS callback, d.status, CASE WHEN d.first_callback IS NULL THEN 0 ELSE 1 END AS first, d.retry_due_ms AS due,
        d.ended_ms AS ended, CASE WHEN d.attempts = '[]' THEN 0 ELSE 1 END AS tried FROM webhook_deliveries d WHERE d.fence = 0 ORDER BY d.id`,
    );
    const created = (await findCallbackId(database.reader, "1001", "https://new.example/")) ?? "";
    expect(rows.map(({ callback, status, first, due, ended, tried }) => [callback, status, first, due, ended, tried])).toEqual([
      ["71", 2, 0, null, 20, 1],
      ["71", 3, 0, null, 21, 1],
      ["71", 0, 0, 70, null, 1],
      ["71", 5, 0, null, 22, 0],
      ["71", 0, 0, 700, null, 1],
      ["71", 0, 1, null, null, 0],
      ["72", 0, 0, 700, null, 0],
      [NO_CALLBACK, 0, 1, null, null, 0],
      [created, 0, 0, 700, null, 0],
    ]);
    const ended = { 1: undefined, 2: undefined, 3: undefined, 4: undefined };
    expect(waits).toEqual({ ...ended, 5: "71", 6: "71", 7: "72", 8: NO_CALLBACK, 9: created });
  });

  test("with the last delivery that leaves a failing callback without an attempt, nothing that failed there counts any more", async () => {
    for (const [outcome, isForgotten] of [
      [{ kind: "moved", url: "https://receiver.example/72" }, true],
      [{ kind: "unsubscribed", endedMs: 22 }, true],
      [{ kind: "failed", attempt: { time_ms: 20, error: "erased" }, endedMs: 20 }, true],
      [{ kind: "back" }, false],
    ] as const) {
      const { database, writer, add, health } = await open(1);
      await database.write((tx) => saveHealth(tx, "71", FAILING));
      add(1, outcome);
      await writer.flush();
      expect([outcome.kind, await health("71")]).toEqual([outcome.kind, isForgotten ? null : 10]);
    }
  });
});
