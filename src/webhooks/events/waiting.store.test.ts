/** Tests that the queries for changed routes and subscriptions find only rows of the given queue and app, in the order of ids. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { type DeliveryRow, fixtureMigrations, insertDeliveries } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import { type Row, sql } from "#storage/sql";
import {
  countCallbacks,
  insertCallback,
  isWaitedFor,
  listCallbacks,
  listNextRetries,
  markAlerted,
  saveHealth,
  takeProbe,
} from "../callbacks/callbacks.store.ts";
import { hastenUnrouted, listMemberFields, listPausedCallbacks, listQueuesOf, listWaiting, saveQueue, saveUnsubscribed } from "./reroute.store.ts";

const NOW = 1_000;

const idsOf = (rows: readonly { readonly id: string }[]): number[] => rows.map(({ id }) => Number(id));

onEachDatabase("waiting deliveries", (kind) => {
  async function withRows(rows: readonly DeliveryRow[]) {
    const database = await (await newWorkStore(kind, fixtureMigrations)).open();
    // The test inserts the rows backwards, so that the order of their ids is not the order of insertion; as text, the id 100 would come before 9.
    await insertDeliveries(database, rows.toReversed());
    const row = (id: number): Promise<Row | undefined> =>
      database.reader.get(
        sql`SELECT d.callback, d.status, d.first_callback, d.queue_entity, d.retry_due_ms, d.ended_ms FROM webhook_deliveries d WHERE d.id = ${id}`,
      );
    return { database, reader: database.reader, row };
  }

  const first = (id: number, more: Partial<DeliveryRow> = {}): DeliveryRow => ({ id, isFirst: true, queue_entity: 2001, ...more });

  async function withCallbacks() {
    const { database, reader } = await withRows([]);
    await database.write(async (tx) => {
      for (const [id, app] of [
        [100, 1001],
        [9, 1001],
        [10, 1002],
        [11, 1001],
      ] as const)
        await insertCallback(tx, String(id), String(app), `https://receiver.example/${id}`);
    });
    const pause = (id: number, probeDueMs: number | null) =>
      database.write((tx) =>
        saveHealth(tx, String(id), { failing_since_ms: 1, last_failure_ms: 2, alerted_ms: null, paused_ms: 4, probe_due_ms: probeDueMs }),
      );
    return { database, reader, pause };
  }

  test("first attempts and retries of a queue are sorted by id, after the previous one, up to the limit", async () => {
    const { reader } = await withRows([
      first(9),
      { id: 10, retry_due_ms: 1 },
      { id: 11, fence: 7, queue_entity: 2001 },
      first(12, { callback: 72 }),
      { id: 13, retry_due_ms: 1, callback: 72 },
      first(14, { app: 1002 }),
      { id: 100, retry_due_ms: 1 },
    ]);
    const waitingOf = async (app: string, after: string, limit = 10) => idsOf(await listWaiting(reader, "71", app, after, limit));
    expect(await waitingOf("1001", "0")).toEqual([9, 10, 100]);
    expect(await waitingOf("1001", "9")).toEqual([10, 100]);
    expect(await waitingOf("1001", "0", 2)).toEqual([9, 10]);
    expect(await waitingOf("1002", "0")).toEqual([14]);
  });

  test("a move keeps a first attempt as one, and makes a retry due at once; ended ones stay where they are", async () => {
    const { database, row } = await withRows([
      first(9),
      { id: 10, retry_due_ms: NOW + 5 },
      { id: 11, fence: 7, status: 1 },
      first(12, { callback: 73 }),
      { id: 13, retry_due_ms: 3, callback: 73 },
      first(14),
      { id: 15, retry_due_ms: 3 },
    ]);
    await database.write(async (tx) => {
      for (const id of [9, 10, 11, 12, 13]) await saveQueue(tx, String(id), "71", "72", NOW);
    });
    expect(await row(9)).toMatchObject({ callback: 72, first_callback: 72, queue_entity: 2001, retry_due_ms: null });
    expect(await row(10)).toMatchObject({ callback: 72, first_callback: null, retry_due_ms: NOW });
    expect(await row(11)).toMatchObject({ callback: 71 });
    expect(await row(12)).toMatchObject({ callback: 73, first_callback: 73 });
    expect(await row(13)).toMatchObject({ callback: 73, retry_due_ms: 3 });
    // The deliveries in this list were not moved.
    expect(await row(14)).toMatchObject({ callback: 71, first_callback: 71 });
    expect(await row(15)).toMatchObject({ callback: 71, retry_due_ms: 3 });
  });

  test("retries of one app without a route are due at once, and none later than before", async () => {
    const { database, row } = await withRows([
      { id: 9, callback: 0, retry_due_ms: NOW + 1 },
      { id: 10, callback: 0, retry_due_ms: NOW - 1 },
      { id: 11, callback: 0, retry_due_ms: NOW + 1, app: 1002 },
      { id: 12, callback: 71, retry_due_ms: NOW + 1 },
      first(13, { callback: 0 }),
    ]);
    await database.write((tx) => hastenUnrouted(tx, "0", "1001", NOW));
    expect(await Promise.all([9, 10, 11, 12, 13].map(async (id) => (await row(id))?.retry_due_ms))).toEqual([NOW, NOW - 1, NOW + 1, NOW + 1, null]);
  });

  test("a delivery that the app no longer gets ends while it waits, not while it is sent, and once", async () => {
    const { database, row } = await withRows([
      first(9),
      { id: 10, retry_due_ms: 5 },
      { id: 11, status: 1, fence: 7, queue_entity: 2001 },
      { id: 12, status: 2, ended_ms: 5 },
    ]);
    const end = (id: number): Promise<boolean> => database.write((tx) => saveUnsubscribed(tx, String(id), NOW));
    expect(await Promise.all([9, 10, 11, 12].map(end))).toEqual([true, true, false, false]);
    expect(await end(9)).toBe(false);
    const gone = { status: 5, first_callback: null, queue_entity: null, retry_due_ms: null, ended_ms: NOW };
    for (const id of [9, 10]) expect(await row(id)).toMatchObject(gone);
    expect(await row(11)).toMatchObject({ status: 1, queue_entity: 2001, ended_ms: null });
    expect(await row(12)).toMatchObject({ status: 2, ended_ms: 5 });
  });

  test("the fields that travel with a delivery are those of its own followers", async () => {
    const { reader } = await withRows([
      { id: 9, members: 1 },
      { id: 10, head: 9 },
      { id: 11, head: 8 },
    ]);
    expect((await listMemberFields(reader, "9")).map(({ field }) => field)).toEqual(["field 10"]);
  });

  test("an app has its own callbacks, the oldest first, some of them paused; deliveries without a route are in a common queue", async () => {
    const { reader, pause } = await withCallbacks();
    expect(idsOf((await listCallbacks(reader, { limit: 10 })).rows)).toEqual([9, 10, 11, 100]);
    // order: the queues of an app are handled one by one, and their order has no meaning.
    expect((await listQueuesOf(reader, "1001")).sort()).toEqual(["0", "100", "11", "9"]);
    for (const id of [100, 10, 9]) await pause(id, null);
    expect(await listPausedCallbacks(reader, "1001")).toEqual([
      { id: "9", url: "https://receiver.example/9" },
      { id: "100", url: "https://receiver.example/100" },
    ]);
  });

  test("a paused callback is tried when it is due, by one process, and never after a 410", async () => {
    const { database, pause } = await withCallbacks();
    const take = (id: number, nowMs: number) => database.write((tx) => takeProbe(tx, String(id), nowMs, nowMs + 10));
    await pause(9, NOW);
    await pause(11, null);
    expect(await take(9, NOW - 1)).toBe(false);
    expect(await take(9, NOW)).toBe(true);
    expect(await take(9, NOW)).toBe(false);
    expect(await take(9, NOW + 10)).toBe(true);
    expect(await take(11, NOW)).toBe(false);
    // From here on, the callback 100 works again.
    await database.write((tx) =>
      saveHealth(tx, "100", { failing_since_ms: null, last_failure_ms: null, alerted_ms: null, paused_ms: null, probe_due_ms: NOW }),
    );
    expect(await take(100, NOW)).toBe(false);
  });

  test("metrics count callbacks that fail, need attention, or are paused", async () => {
    const { database, reader, pause } = await withCallbacks();
    for (const id of [9, 10, 11]) await pause(id, null);
    await database.write(async (tx) => {
      await saveHealth(tx, "11", { failing_since_ms: 1, last_failure_ms: 2, alerted_ms: null, paused_ms: null, probe_due_ms: null });
      await markAlerted(tx, "9", NOW);
    });
    expect(await countCallbacks(reader)).toEqual({ failing: 3, alerted: 1, paused: 2 });
  });

  test("a callback is in use while anything waits or is being sent", async () => {
    const { reader } = await withRows([
      first(9, { callback: 71 }),
      { id: 10, callback: 72, retry_due_ms: 1 },
      { id: 11, callback: 73, fence: 7 },
      { id: 12, callback: 74, status: 2 },
    ]);
    expect(await Promise.all(["71", "72", "73", "74"].map((callback) => isWaitedFor(reader, callback)))).toEqual([true, true, true, false]);
  });

  test("the next retry of each working callback is read, the earliest first, and by the callback's id if times are equal", async () => {
    const { database, reader, pause } = await withCallbacks();
    await insertDeliveries(database, [
      { id: 1, callback: 100, retry_due_ms: 5 },
      { id: 2, callback: 100, retry_due_ms: 9 },
      { id: 3, callback: 9, retry_due_ms: 5 },
      { id: 4, callback: 11, retry_due_ms: 4 },
      { id: 5, callback: 10, retry_due_ms: 1 },
    ]);
    await pause(10, null);
    const next = async (limit: number) => (await listNextRetries(reader, limit)).map(({ id, due_ms }) => `${id} ${due_ms}`);
    expect(await next(10)).toEqual(["11 4", "9 5", "100 5"]);
    expect(await next(1)).toEqual(["11 4"]);
  });
});
