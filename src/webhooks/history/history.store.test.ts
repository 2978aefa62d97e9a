/** Tests that the queries that list deliveries, and the removal of old deliveries, leave out other rows and are exact at the limits of times. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { type DeliveryRow, fixtureMigrations, insertDeliveries } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import type { Database } from "#storage/database";
import { type Row, sql } from "#storage/sql";
import { insertCallback } from "../callbacks/callbacks.store.ts";
import { emptyEvent, findAttempts, forgetEntity, listErasable, saveAttempts } from "./erasure.store.ts";
import { findDelivery, findReplayable, listDeliveries, listEventsOf, listNewestEvents, listReplayable, saveReplay } from "./list.store.ts";
import { countUnrouted, deleteEnded } from "./retention.store.ts";

const NOW = 1_000;

const idsOf = (rows: readonly { readonly id: string }[]): number[] => rows.map(({ id }) => Number(id));

onEachDatabase("past deliveries", (kind) => {
  async function withRows(rows: readonly DeliveryRow[]): Promise<Database> {
    const database = await (await newWorkStore(kind, fixtureMigrations)).open();
    // The test inserts the rows backwards, so that the order of their ids is not the order of insertion; as text, the id 100 would come before 9.
    await insertDeliveries(database, rows.toReversed());
    return database;
  }
  const idsIn = async ({ reader }: Database, table: "deliveries" | "events"): Promise<number[]> =>
    idsOf(
      await reader.all<{ id: string }>(
        table === "events"
          ? sql`SELECT CAST(e.id AS TEXT) AS id FROM webhook_events e ORDER BY e.id`
          : sql`SELECT CAST(d.id AS TEXT) AS id FROM webhook_deliveries d ORDER BY d.id`,
      ),
    );

  test("the events of a POST are in its order: the delivery's own with those that travelled with it", async () => {
    const { reader } = await withRows([{ id: 8, head: 7 }, { id: 9, members: 2 }, { id: 10, head: 9 }, { id: 11 }, { id: 100, head: 9 }]);
    expect(idsOf(await listEventsOf(reader, "9"))).toEqual([9, 10, 100]);
    expect(idsOf(await listEventsOf(reader, "11"))).toEqual([11]);
  });

  test("D-62: the id of a delivery whose event travels in another one's POST finds that one", async () => {
    const { reader } = await withRows([{ id: 8 }, { id: 9, members: 2 }, { id: 10, head: 9 }, { id: 100, head: 9 }]);
    for (const [asked, found] of [
      ["8", "8"],
      ["9", "9"],
      ["10", "9"],
      ["100", "9"],
      ["101", undefined],
    ] as const) {
      const deliveries = [await findDelivery(reader, asked), await findReplayable(reader, asked)];
      expect(deliveries.map((one) => one?.id)).toEqual([found, found]);
    }
    expect((await listEventsOf(reader, "9")).map(({ delivery }) => delivery)).toEqual(["9", "10", "100"]);
  });

  test("the newest events are first, each with the delivery in whose POST it travels", async () => {
    const { reader } = await withRows([{ id: 8 }, { id: 9, members: 1 }, { id: 10, event: 20, head: 9 }, { id: 100, event: 30 }]);
    const newest = async (limit: number) => (await listNewestEvents(reader, limit)).map(({ event, id }) => `${event} in ${id}`);
    expect(await newest(10)).toEqual(["30 in 100", "20 in 9", "9 in 9", "8 in 8"]);
    expect(await newest(2)).toEqual(["30 in 100", "20 in 9"]);
  });

  test("a list has one row for a POST, found by its state, its callback and the field of any of its events", async () => {
    const database = await withRows([
      { id: 8, status: 2, callback: 71 },
      { id: 9, status: 3, callback: 72, members: 1 },
      { id: 10, status: 4, callback: 72, head: 9 },
      { id: 11, status: 2, callback: 72 },
      { id: 100, callback: 73 },
    ]);
    await database.write((tx) => insertCallback(tx, "72", "1001", "https://receiver.example/"));
    const list = async (filter: Parameters<typeof listDeliveries>[1]) => idsOf((await listDeliveries(database.reader, filter, { limit: 10 })).rows);
    expect(await list({})).toEqual([100, 11, 9, 8]);
    expect(await list({ statuses: [2] })).toEqual([11, 8]);
    expect(await list({ statuses: [2, 3] })).toEqual([11, 9, 8]);
    expect(await list({ callback: "72" })).toEqual([11, 9]);
    expect(await list({ callback: "https://receiver.example/" })).toEqual([11, 9]);
    expect(await list({ callback: "7" })).toEqual([]);
    expect(await list({ field: "field 10" })).toEqual([9]);
    expect(await list({ field: "field 9" })).toEqual([9]);
    expect(await list({ field: "field 8", callback: "72" })).toEqual([]);
  });

  test("deliveries that can be replayed are sorted by id, from the given second on, without those that travelled with others", async () => {
    const database = await withRows([
      { id: 9 },
      { id: 10, callback: 72 },
      { id: 11, head: 10, callback: 72 },
      { id: 12, event: 8 },
      { id: 100, callback: 72 },
      { id: 101 },
    ]);
    await database.write((tx) => insertCallback(tx, "72", "1001", "https://receiver.example/"));
    await database.write((tx) => tx.runOne(sql`UPDATE webhook_callbacks SET paused_ms = 5 WHERE id = 72`));
    const list = async (after: string, sinceMs: number, callback?: string, limit = 10) =>
      (await listReplayable(database.reader, after, sinceMs, callback, limit)).map(({ id, is_paused }) => `${id} ${is_paused}`);
    expect(await list("0", 9_000)).toEqual(["9 0", "10 1", "100 1", "101 0"]);
    expect(await list("0", 9_001)).toEqual(["10 1", "100 1", "101 0"]);
    expect(await list("10", 0)).toEqual(["12 0", "100 1", "101 0"]);
    expect(await list("0", 0, undefined, 2)).toEqual(["9 0", "10 1"]);
    expect(await list("0", 0, "72")).toEqual(["10 1", "100 1"]);
    expect(await list("0", 0, "https://receiver.example/")).toEqual(["10 1", "100 1"]);
  });

  test("a replay restarts ended deliveries, hastens a retry, and leaves waiting and running ones alone", async () => {
    const ended = { ended_ms: 5, attempts: '["a"]' };
    const database = await withRows([
      { id: 2, status: 2, ...ended },
      { id: 3, status: 3, ...ended },
      { id: 5, status: 5, ...ended },
      { id: 9, retry_due_ms: NOW + 1 },
      { id: 10, retry_due_ms: NOW - 1 },
      { id: 11, isFirst: true, queue_entity: 2001 },
      { id: 12, status: 1, fence: 7 },
    ]);
    await database.write(async (tx) => {
      await tx.run(sql`UPDATE webhook_deliveries SET tries = 4 WHERE id > 0`);
      for (const id of [2, 3, 5, 9, 10, 11, 12]) await saveReplay(tx, String(id), NOW);
    });
    const row = (id: number): Promise<Row | undefined> =>
      database.reader.get(sql`SELECT d.status, d.retry_due_ms, d.first_attempt_ms, d.tries, d.ended_ms FROM webhook_deliveries d WHERE d.id = ${id}`);
    for (const id of [2, 3, 5]) {
      expect(await row(id)).toEqual({ status: 0, retry_due_ms: NOW, first_attempt_ms: NOW, tries: 0, ended_ms: null });
    }
    const untouched = { first_attempt_ms: null, tries: 4, ended_ms: null };
    expect(await row(9)).toEqual({ status: 0, retry_due_ms: NOW, ...untouched });
    expect(await row(10)).toEqual({ status: 0, retry_due_ms: NOW - 1, ...untouched });
    expect(await row(11)).toEqual({ status: 0, retry_due_ms: null, ...untouched });
    expect(await row(12)).toEqual({ status: 1, retry_due_ms: null, ...untouched });
  });

  test("deliveries that ended before the limit are deleted with those that travelled with them; an event with the last of its deliveries", async () => {
    const old = { ended_ms: NOW - 1 };
    const database = await withRows([
      { id: 2, status: 2, ...old },
      { id: 3, status: 3, ...old, members: 1 },
      { id: 4, status: 4, head: 3 },
      { id: 5, status: 5, ...old },
      // This delivery belongs to the event of the delivery before it, and still waits.
      { id: 6, event: 5, status: 0, retry_due_ms: NOW },
      { id: 7, status: 2, ended_ms: NOW },
      { id: 8, status: 0, isFirst: true, queue_entity: 2001 },
      { id: 9, status: 4, head: 8 },
    ]);
    const remove = (limit: number): Promise<number> => database.write((tx) => deleteEnded(tx, NOW, limit));
    expect(await remove(2)).toBe(2);
    expect(await idsIn(database, "deliveries")).toEqual([5, 6, 7, 8, 9]);
    expect(await idsIn(database, "events")).toEqual([5, 7, 8, 9]);
    expect(await remove(2)).toBe(1);
    expect(await idsIn(database, "deliveries")).toEqual([6, 7, 8, 9]);
    expect(await idsIn(database, "events")).toEqual([5, 7, 8, 9]);
    await database.write((tx) => tx.run(sql`UPDATE webhook_deliveries SET status = 3, ended_ms = 1 WHERE id = 6`));
    expect(await remove(2)).toBe(1);
    expect(await idsIn(database, "events")).toEqual([7, 8, 9]);
    expect(await remove(2)).toBe(0);
  });

  test("deliveries without a route are counted by app while they wait, up to the thousand that are tried first", async () => {
    const nowhere = { callback: 0, retry_due_ms: NOW };
    const database = await withRows([
      { id: 1, ...nowhere, app: 1002 },
      { id: 2, ...nowhere },
      { id: 3, ...nowhere, app: 1002 },
      // The next two deliveries do not wait in the queue of deliveries without a callback.
      { id: 4, callback: 0, status: 3, ended_ms: 5 },
      { id: 5, callback: 71, retry_due_ms: NOW },
    ]);
    expect(await countUnrouted(database.reader)).toEqual([
      { app: "1001", count: 1 },
      { app: "1002", count: 2 },
    ]);
    const many = Array.from({ length: 998 }, (_, at) => ({ id: 10 + at, ...nowhere, retry_due_ms: NOW - 1, app: 1003 }));
    await insertDeliveries(database, [...many, { id: 9, ...nowhere, retry_due_ms: NOW - 2, app: 1004 }]);
    const counts = await countUnrouted(database.reader);
    expect(counts.slice(-2)).toEqual([
      { app: "1003", count: 998 },
      { app: "1004", count: 1 },
    ]);
    expect(counts.reduce((sum, { count }) => sum + count, 0)).toBe(1_000);
  });

  test("an erasure looks at every delivery, by id; it erases one event, and a response that is still to come stays", async () => {
    const database = await withRows([
      { id: 9, queue_entity: 3001, isFirst: true },
      { id: 10, queue_entity: 3001, isFirst: true },
      { id: 11, fence: 7, status: 1, attempts: '["a"]' },
      { id: 12, attempts: '["b"]' },
      { id: 100 },
    ]);
    const list = async (after: string, limit: number) => idsOf(await listErasable(database.reader, after, limit));
    expect(await list("0", 3)).toEqual([9, 10, 11]);
    expect(await list("11", 3)).toEqual([12, 100]);
    await database.write(async (tx) => {
      await emptyEvent(tx, "9", true);
      await emptyEvent(tx, "12", false);
      for (const id of ["9", "12"]) await forgetEntity(tx, id);
      for (const id of ["11", "12"]) await saveAttempts(tx, id, "[]");
    });
    const seen = await listErasable(database.reader, "0", 10);
    expect(seen.map(({ id, entity, payload }) => `${id} ${entity} ${payload}`)).toEqual([
      "9 0 ",
      "10 3001 {}",
      "11 2001 {}",
      "12 2001 ",
      "100 2001 {}",
    ]);
    expect([await findAttempts(database.reader, "11"), await findAttempts(database.reader, "12")]).toEqual(['["a"]', "[]"]);
    const places = await database.reader.all(
      sql`SELECT d.id, d.queue_entity FROM webhook_deliveries d WHERE d.queue_entity IS NOT NULL ORDER BY d.id`,
    );
    expect(places).toEqual([
      { id: 9, queue_entity: 0 },
      { id: 10, queue_entity: 3001 },
    ]);
  });
});
