/** Checks that work on many deliveries is divided into several transactions and includes the last delivery, however many deliveries exist. */
import { expect, test } from "bun:test";
import { type DeliveryRow, fixtureMigrations, insertDeliveries, newFeatures, openWebhooks, pauseCallback } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import { sql } from "#storage/sql";
import { findCallback, insertCallback } from "./callbacks/callbacks.store.ts";
import { deleteOldDeliveries, retentionJob } from "./callbacks/health-jobs.ts";

const DAY_MS = 24 * 3_600_000;
const QUEUE = "71";

async function withRows(count: number, row: Omit<DeliveryRow, "id">) {
  const database = await (await newWorkStore("sqlite", fixtureMigrations)).open();
  const features = newFeatures("https://new.example/");
  const fixture = openWebhooks(database, { features });
  await insertDeliveries(
    database,
    Array.from({ length: count }, (_, at) => ({ id: at + 1, ...row })),
  );
  const counted = async () => {
    const rows = await database.reader.all<{ callback: string; status: number; count: number }>(
      sql`SELECT CAST(d.callback AS TEXT) AS callback, d.status, COUNT(*) AS count FROM webhook_deliveries d GROUP BY d.callback, d.status`,
    );
    return rows.map(({ callback, status, count }) => [callback === QUEUE ? "here" : "elsewhere", status, count]);
  };
  const pause = () =>
    database.write(async (tx) => {
      await insertCallback(tx, QUEUE, "1001", "https://old.example/");
      await pauseCallback(tx, QUEUE, fixture.clock.ms);
    });
  return { ...fixture, counted, pause };
}

test.each([499, 500, 501, 1_000, 1_001])("%p ended deliveries are replayed, and counted", async (count) => {
  const { webhooks, database, counted, clock } = await withRows(count, { status: 2, ended_ms: 5 });
  expect(await webhooks.replaySpan({ sinceMs: 0 })).toEqual({ replayed: count });
  expect(await counted()).toEqual([["here", 0, count]]);
  expect(await database.reader.all(sql`SELECT DISTINCT d.retry_due_ms, d.tries FROM webhook_deliveries d`)).toEqual([
    { retry_due_ms: clock.ms, tries: 0 },
  ]);
});

test.each([199, 200, 201, 400, 401])(
  "D-63: %p deliveries to a paused callback take their new route, and nothing that failed there counts",
  async (count) => {
    const { webhooks, database, counted, pause } = await withRows(count, { isFirst: true, queue_entity: 2001 });
    await pause();
    await webhooks.reroute("1001");
    expect(await counted()).toEqual([["elsewhere", 0, count]]);
    expect((await findCallback(database.reader, QUEUE))?.paused_ms).toBeNull();
  },
);

test.each([199, 200, 201, 400, 401])(
  "D-138: %p deliveries that the app would no longer get end, and nothing that failed there counts",
  async (count) => {
    const { webhooks, database, features, counted, pause } = await withRows(count, { retry_due_ms: 5 });
    await pause();
    features.subscribers = () => [];
    await webhooks.endUnsubscribed("1001");
    expect(await counted()).toEqual([["here", 5, count]]);
    expect((await findCallback(database.reader, QUEUE))?.paused_ms).toBeNull();
  },
);

test.each([99, 100, 101, 200, 201])(
  "%p deliveries that ended more than thirty days ago are removed, and the next check is in a day",
  async (count) => {
    const { webhooks, database, clock, counted } = await withRows(count, { status: 2, ended_ms: 5 });
    const ended = 5 + 30 * DAY_MS;
    clock.ms = ended;
    await deleteOldDeliveries(webhooks.deps);
    expect(await counted()).toEqual([["here", 2, count]]);
    clock.ms = ended + 1;
    await deleteOldDeliveries(webhooks.deps);
    expect(await counted()).toEqual([]);
    expect(await webhooks.deps.jobs.dueTimeOf(database.reader, retentionJob, "world")).toBe(clock.ms + DAY_MS);
  },
);
