/** Tests the queries about a queue: the order of their rows, the rows of other queues, and deliveries that are due exactly now. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { type DeliveryRow, fixtureMigrations, insertDeliveries } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import type { Transaction } from "#storage/database";
import { type Row, sql } from "#storage/sql";
import {
  type ClaimedRow,
  claimFirsts,
  claimRetries,
  findDueRetries,
  findFirsts,
  findFollowers,
  findFreeHeads,
  findMembers,
  findNextRetryTime,
  findQueuesWithFirsts,
  findQueuesWithRetries,
  findSending,
  giveBackClaimed,
  hasQueued,
  isBehindAnother,
  joinMembers,
  lockFirsts,
  lockRetries,
  lockWaiting,
  saveMove,
  saveResults,
} from "./delivery/deliveries.store.ts";

const NOW = 1_000;

const idsOf = (rows: readonly { readonly id: string }[]): number[] => rows.map(({ id }) => Number(id));

onEachDatabase("queues of deliveries", (kind) => {
  async function withRows(rows: readonly DeliveryRow[]) {
    const database = await (await newWorkStore(kind, fixtureMigrations)).open();
    // The test inserts the rows backwards, so that the order of their ids is not the order of insertion; as text, the id 100 would come before 9.
    await insertDeliveries(database, rows.toReversed());
    const write = <T>(body: (tx: Transaction) => Promise<T>): Promise<T> => database.write(body);
    const row = (id: number): Promise<Row | undefined> =>
      database.reader.get(
        sql`SELECT d.callback, d.status, d.first_callback, d.queue_entity, d.retry_due_ms, d.head, d.members, d.fence, d.first_attempt_ms, d.tries, d.attempts, d.ended_ms
          FROM webhook_deliveries d WHERE d.id = ${id}`,
      );
    return { reader: database.reader, write, row };
  }

  const first = (id: number, more: Partial<DeliveryRow> = {}): DeliveryRow => ({ id, isFirst: true, queue_entity: 2001, ...more });

  test("first attempts are sorted by id, only from their own queue, up to the limit", async () => {
    const { reader } = await withRows([first(8, { callback: 70 }), first(9), { id: 10, queue_entity: 2002 }, first(11), first(100), first(101)]);
    expect(idsOf(await findFirsts(reader, "71", 3))).toEqual([9, 11, 100]);
    expect(idsOf(await findFirsts(reader, "70", 3))).toEqual([8]);
  });

  test("an entity is queued from the time that it waits until its attempt has ended, in its own queue", async () => {
    const { reader } = await withRows([{ id: 9, queue_entity: 2001, fence: 5, status: 1 }]);
    expect([await hasQueued(reader, "71", "2001"), await hasQueued(reader, "71", "2002"), await hasQueued(reader, "70", "2001")]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test("the first one of each entity is free unless it is being sent; entities are read in order, after the previous one", async () => {
    const { reader } = await withRows([
      first(9, { queue_entity: 2003 }),
      first(10, { queue_entity: 2002 }),
      { id: 11, queue_entity: 2004, fence: 5 },
      first(12, { queue_entity: 2004 }),
      first(100, { queue_entity: 2003 }),
      first(101, { queue_entity: 20_001 }),
      first(102, { queue_entity: 2001, callback: 70 }),
      first(103, { queue_entity: 2001 }),
    ]);
    const heads = async (after: string, limit = 10) => (await findFreeHeads(reader, "71", after, limit)).map(({ id, entity }) => `${entity} ${id}`);
    expect(await heads("0")).toEqual(["2001 103", "2002 10", "2003 9", "20001 101"]);
    expect(await heads("2002")).toEqual(["2003 9", "20001 101"]);
    expect(await heads("2001", 2)).toEqual(["2002 10", "2003 9"]);
    expect(await heads("20001")).toEqual([]);
  });

  test("retries are due at their time, the earliest first, and by id if times are equal", async () => {
    const { reader } = await withRows([
      { id: 9, retry_due_ms: NOW },
      { id: 10, retry_due_ms: NOW - 1 },
      { id: 11, retry_due_ms: NOW + 1 },
      { id: 12, retry_due_ms: NOW - 2, callback: 70 },
      { id: 13, retry_due_ms: NOW + 2 },
      { id: 100, retry_due_ms: NOW - 1 },
    ]);
    expect(idsOf(await findDueRetries(reader, "71", NOW, 10))).toEqual([10, 100, 9]);
    expect(idsOf(await findDueRetries(reader, "71", NOW, 2))).toEqual([10, 100]);
    expect(await findNextRetryTime(reader, "71", NOW)).toBe(NOW + 1);
    expect(await findNextRetryTime(reader, "71", NOW + 1)).toBe(NOW + 2);
    expect(await findNextRetryTime(reader, "71", NOW + 2)).toBeUndefined();
    expect(await findNextRetryTime(reader, "70", NOW)).toBeUndefined();
  });

  test("of the requested deliveries, those are locked that wait and precede all others of their entity", async () => {
    const { write } = await withRows([
      first(9),
      first(10),
      first(11, { queue_entity: 2002 }),
      { id: 12, queue_entity: 2003, fence: 5 },
      first(13, { queue_entity: 2003 }),
      // A delivery in another queue does not affect the order of this queue.
      first(14, { callback: 70 }),
      { id: 15, retry_due_ms: 5 },
      { id: 100, retry_due_ms: 4 },
      first(101, { queue_entity: 2004 }),
    ]);
    const wanted = ["101", "100", "15", "14", "13", "12", "11", "10", "9"];
    expect(await write(async (tx) => idsOf(await lockFirsts(tx, wanted)))).toEqual([9, 11, 14, 101]);
    expect(await write(async (tx) => idsOf(await lockFirsts(tx, ["11"])))).toEqual([11]);
    expect(await write(async (tx) => idsOf(await lockRetries(tx, wanted)))).toEqual([15, 100]);
    expect(await write(async (tx) => idsOf(await lockRetries(tx, ["100", "9"])))).toEqual([100]);
  });

  test("a claim takes unclaimed deliveries, and a return restores them: a first attempt, or a retry", async () => {
    const { write, row } = await withRows([
      first(9),
      { id: 10, retry_due_ms: 5 },
      { id: 11, fence: 6, queue_entity: 2001, status: 1 },
      { id: 12, fence: 6, status: 1 },
      first(13),
    ]);
    await write(async (tx) => {
      await claimFirsts(tx, ["9", "11"], 7, NOW);
      await claimRetries(tx, ["10", "12"], 7);
    });
    expect(await row(9)).toMatchObject({ status: 1, first_callback: null, queue_entity: 2001, fence: 7, first_attempt_ms: NOW });
    expect(await row(10)).toMatchObject({ status: 1, retry_due_ms: null, fence: 7, first_attempt_ms: null });
    for (const id of [11, 12]) expect(await row(id)).toMatchObject({ fence: 6, first_attempt_ms: null });
    expect(await row(13)).toMatchObject({ first_callback: 71, fence: 0 });
    await write((tx) => giveBackClaimed(tx, ["9", "10", "11"], 7, NOW));
    expect(await row(9)).toMatchObject({ status: 0, first_callback: 71, queue_entity: 2001, retry_due_ms: null, fence: 0 });
    expect(await row(10)).toMatchObject({ status: 0, first_callback: null, queue_entity: null, retry_due_ms: NOW, fence: 0 });
    expect(await row(11)).toMatchObject({ status: 1, fence: 6 });
  });

  test("the next ones of an entity are of the same app, behind the head, in its queue; a joined one has no state of its own", async () => {
    const { reader, write, row } = await withRows([
      first(8),
      first(9),
      first(10, { app: 1002 }),
      first(11, { queue_entity: 2002 }),
      first(12, { callback: 70 }),
      first(13),
      first(100),
      first(101),
    ]);
    const head = { id: "9", callback: "71", entity: "2001", app: "1001" } as ClaimedRow;
    expect(idsOf(await findFollowers(reader, head, 10))).toEqual([13, 100, 101]);
    expect(idsOf(await findFollowers(reader, head, 2))).toEqual([13, 100]);
    await write((tx) => joinMembers(tx, "9", ["100", "13"]));
    expect(await row(9)).toMatchObject({ members: 2, first_callback: 71, head: null });
    expect(await row(13)).toMatchObject({ status: 4, first_callback: null, queue_entity: null, head: 9, members: 0 });
    expect(await row(101)).toMatchObject({ status: 0, first_callback: 71, head: null, members: 0 });
    expect((await findMembers(reader, "9")).map(({ id, field }) => `${id} ${field}`)).toEqual(["13 field 13", "100 field 100"]);
    expect(await findMembers(reader, "8")).toEqual([]);
  });

  test("a delivery can be joined if it waits, was not sent, and has no others with it", async () => {
    const { write } = await withRows([
      first(9),
      first(10, { members: 1 }),
      first(11, { attempts: '[{"time_ms":1}]' }),
      { id: 12, retry_due_ms: 1 },
      first(13),
    ]);
    expect(await write(async (tx) => [...(await lockWaiting(tx, ["9", "10", "11", "12"]))])).toEqual(["9"]);
  });

  test("a result ends an attempt, unless another session has taken it over", async () => {
    const sent = { queue_entity: 2001, status: 1 };
    const { write, row } = await withRows([
      { id: 9, fence: 7, ...sent },
      { id: 10, fence: 8, ...sent },
      { id: 11, fence: 7, ...sent },
      { id: 12, fence: 7, ...sent },
    ]);
    await write((tx) =>
      saveResults(tx, [
        { id: "9", fence: 7, status: 2, attempts: '["a"]', due_ms: null, ended_ms: NOW },
        { id: "10", fence: 7, status: 2, attempts: '["b"]', due_ms: null, ended_ms: NOW },
        { id: "11", fence: 7, status: 0, attempts: '["c"]', due_ms: NOW, ended_ms: null },
      ]),
    );
    const common = { queue_entity: null, fence: 0, tries: 1 };
    expect(await row(9)).toMatchObject({ ...common, status: 2, attempts: '["a"]', retry_due_ms: null, ended_ms: NOW });
    expect(await row(10)).toMatchObject({ ...sent, fence: 8, tries: 0, attempts: "[]", ended_ms: null });
    expect(await row(11)).toMatchObject({ ...common, status: 0, attempts: '["c"]', retry_due_ms: NOW, ended_ms: null });
    expect(await row(12)).toMatchObject({ ...sent, fence: 7, tries: 0 });
  });

  test("a moved delivery waits for the same attempt in the other queue, and stays if another session has it", async () => {
    const { write, row } = await withRows([
      { id: 9, fence: 7, status: 1, queue_entity: 2001 },
      { id: 10, fence: 7, status: 1 },
      { id: 11, fence: 8, status: 1 },
    ]);
    await write(async (tx) => {
      await saveMove(tx, { id: "9", entity: "2001", attempts: '["a"]' }, true, 7, "72", NOW);
      for (const id of ["10", "11"]) await saveMove(tx, { id, entity: "2001", attempts: '["b"]' }, false, 7, "72", NOW);
    });
    const waiting = { callback: 72, status: 0, fence: 0 };
    expect(await row(9)).toMatchObject({ ...waiting, first_callback: 72, queue_entity: 2001, retry_due_ms: null, attempts: '["a"]' });
    expect(await row(10)).toMatchObject({ ...waiting, first_callback: null, queue_entity: null, retry_due_ms: NOW, attempts: '["b"]' });
    expect(await row(11)).toMatchObject({ callback: 71, status: 1, fence: 8, attempts: "[]" });
  });

  test("the deliveries that an ended session was sending are found by id; none is sent without a session", async () => {
    const { reader } = await withRows([{ id: 9, fence: 7 }, { id: 10, fence: 8 }, { id: 11 }, { id: 100, fence: 7 }]);
    expect(idsOf(await findSending(reader, 7))).toEqual([9, 100]);
    expect(await findSending(reader, 0)).toEqual([]);
  });

  test("every queue with something to send is found once, with its oldest and its first due delivery", async () => {
    const { reader } = await withRows([
      first(9, { callback: 73 }),
      first(10, { callback: 72 }),
      first(11, { callback: 72 }),
      { id: 12, callback: 74 },
      { id: 13, callback: 75, retry_due_ms: 8 },
      { id: 14, callback: 75, retry_due_ms: 6 },
      { id: 15, callback: 72, retry_due_ms: 5 },
      { id: 100, callback: 75, retry_due_ms: 6 },
    ]);
    expect(await findQueuesWithFirsts(reader)).toEqual([
      { queue: "72", oldest: "10" },
      { queue: "73", oldest: "9" },
    ]);
    expect(await findQueuesWithRetries(reader)).toEqual([
      { queue: "72", due_ms: 5, oldest: "15" },
      { queue: "75", due_ms: 6, oldest: "14" },
    ]);
  });

  test("a delivery is behind another one of its entity that arrived earlier, in the same queue", async () => {
    const { reader } = await withRows([first(9), first(10), first(11, { callback: 70 }), first(12, { queue_entity: 2002 })]);
    const behind: boolean[] = [];
    for (const id of [9, 10, 11, 12]) behind.push(await isBehindAnother(reader, String(id)));
    expect(behind).toEqual([false, true, false, false]);
  });
});
