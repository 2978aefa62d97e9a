/** D-172: tests that the traces of one person in deliveries are erased, and the traces of other people are not, however many deliveries exist. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { type DeliveryRow, fixtureMigrations, insertDeliveries } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import type { Database } from "#storage/database";
import { sql } from "#storage/sql";
import { listErasable } from "./erasure.store.ts";
import { eraseFromDeliveries } from "./erasure.ts";

const PERSON = "3001";
const OTHER = "3002";
const respondedWith = (text: string): string => JSON.stringify([{ n: 1, answer: text }, { n: 2 }]);

onEachDatabase("erasure from deliveries", (kind) => {
  async function withRows(rows: readonly DeliveryRow[]): Promise<Database> {
    const database = await (await newWorkStore(kind, fixtureMigrations)).open();
    await insertDeliveries(database, rows);
    return database;
  }
  const setEvent = (database: Database, id: number, payload: string, phone: string | null = null) =>
    database.write((tx) => tx.runOne(sql`UPDATE webhook_events SET payload = ${payload}, phone = ${phone} WHERE id = ${id}`));
  /** Sends the response to the attempt that is under way, so that the attempt ends. */
  const end = (database: Database, id: number) =>
    database.write((tx) => tx.runOne(sql`UPDATE webhook_deliveries SET fence = 0, attempts = ${respondedWith("hello")} WHERE id = ${id}`));
  const shown = async ({ reader }: Database) =>
    (await listErasable(reader, "0", 1_000)).map(({ id, entity, phone, payload, attempts }) => ({
      id: Number(id),
      entity,
      phone,
      payload,
      attempts,
    }));

  test("payloads that name the person, events of the account that is the person, and receivers' responses to them", async () => {
    const database = await withRows([
      { id: 9, attempts: respondedWith("hello") },
      { id: 10, attempts: respondedWith("hello") },
      { id: 11, queue_entity: 3001, isFirst: true },
      { id: 12 },
      { id: 13, attempts: respondedWith(`no ${PERSON} here`) },
      { id: 14, attempts: respondedWith("hello") },
    ]);
    await setEvent(database, 9, `{"from":"${PERSON}"}`);
    await setEvent(database, 10, `{"from":"${OTHER}"}`);
    await setEvent(database, 12, "{}", PERSON);
    await setEvent(database, 14, `{"from":"${PERSON}0"}`);
    expect(await eraseFromDeliveries(database, [PERSON])).toEqual({ "webhook events": 4, "webhook responses": 2 });
    const kept = { phone: null, payload: "{}", attempts: "[]" };
    expect(await shown(database)).toEqual([
      { ...kept, id: 9, entity: "2001", payload: "", attempts: '[{"n":1},{"n":2}]' },
      { ...kept, id: 10, entity: "2001", payload: `{"from":"${OTHER}"}`, attempts: respondedWith("hello") },
      { ...kept, id: 11, entity: "0", payload: "" },
      { ...kept, id: 12, entity: "0", payload: "" },
      { ...kept, id: 13, entity: "2001", payload: "", attempts: '[{"n":1},{"n":2}]' },
      { ...kept, id: 14, entity: "2001", payload: `{"from":"${PERSON}0"}`, attempts: respondedWith("hello") },
    ]);
    expect(await database.reader.all(sql`SELECT d.id FROM webhook_deliveries d WHERE d.queue_entity = 0`)).toEqual([{ id: 11 }]);
    expect(await eraseFromDeliveries(database, [PERSON])).toEqual({ "webhook events": 0, "webhook responses": 0 });
  });

  test("the response to a POST is erased with any of its events", async () => {
    const database = await withRows([
      { id: 9, members: 1, attempts: respondedWith("hello") },
      { id: 10, head: 9 },
      { id: 11, attempts: respondedWith("hello") },
    ]);
    await setEvent(database, 10, `{"from":"${PERSON}"}`);
    expect(await eraseFromDeliveries(database, [PERSON])).toEqual({ "webhook events": 1, "webhook responses": 1 });
    expect((await shown(database)).map(({ payload, attempts }) => ({ payload, attempts }))).toEqual([
      { payload: "{}", attempts: '[{"n":1},{"n":2}]' },
      { payload: "", attempts: "[]" },
      { payload: "{}", attempts: respondedWith("hello") },
    ]);
  });

  test("an event that is being sent is erased later: the rest is done, and the result counts those left", async () => {
    const database = await withRows([{ id: 9, fence: 7, status: 1 }, { id: 10 }, { id: 11, fence: 7, status: 1 }]);
    for (const id of [9, 10]) await setEvent(database, id, `{"from":"${PERSON}"}`);
    await expect(eraseFromDeliveries(database, [PERSON])).rejects.toThrow("1 deliveries about the person are being sent");
    expect((await shown(database)).map(({ payload }) => payload)).toEqual(["", "", "{}"]);
    await end(database, 9);
    expect(await eraseFromDeliveries(database, [PERSON])).toEqual({ "webhook events": 0, "webhook responses": 1 });
    expect((await shown(database)).map(({ attempts }) => attempts)).toEqual(['[{"n":1},{"n":2}]', "[]", "[]"]);
    expect(await eraseFromDeliveries(database, [PERSON])).toEqual({ "webhook events": 0, "webhook responses": 0 });
  });

  test("so is one in a POST that is being sent, because the receiver's response is still to come", async () => {
    const database = await withRows([
      { id: 9, fence: 7, status: 1, members: 2, attempts: respondedWith("before") },
      { id: 10, head: 9, status: 4 },
      { id: 11, head: 9, status: 4 },
      { id: 12, head: 13, status: 4 },
      { id: 13, members: 1 },
    ]);
    for (const id of [11, 12]) await setEvent(database, id, `{"from":"${PERSON}"}`);
    await expect(eraseFromDeliveries(database, [PERSON])).rejects.toThrow("1 deliveries about the person are being sent");
    expect((await shown(database)).map(({ payload }) => payload)).toEqual(["{}", "{}", "", "", "{}"]);
    await end(database, 9);
    expect(await eraseFromDeliveries(database, [PERSON])).toEqual({ "webhook events": 0, "webhook responses": 1 });
    expect((await shown(database)).map(({ attempts }) => attempts)).toEqual(['[{"n":1},{"n":2}]', "[]", "[]", "[]", "[]"]);
  });

  for (const count of [499, 500, 501, 1_001]) {
    test(`the last of ${count} deliveries is erased, too`, async () => {
      const database = await withRows(Array.from({ length: count }, (_, at) => ({ id: at + 1 })));
      for (const id of [1, count]) await setEvent(database, id, `{"from":"${PERSON}"}`);
      expect(await eraseFromDeliveries(database, [PERSON])).toEqual({ "webhook events": 2, "webhook responses": 0 });
    });
  }
});
