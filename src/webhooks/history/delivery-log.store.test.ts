/** D-424: the log of delivered webhooks grows in the order of commits, whichever process writes, and the newest entry is never deleted. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { fixtureMigrations, insertDeliveries } from "#harness/webhooks";
import { newWorkStore } from "#harness/work-database";
import { nextTurn } from "#kernel/turns";
import type { Database } from "#storage/database";
import { DELIVERED, SENDING } from "../delivery/deliveries.store.ts";
import { deleteLogged, lastPosition, listLogged, logDelivered } from "./delivery-log.store.ts";

onEachDatabase("the log of delivered webhooks", (kind) => {
  const open = async (count: number, status = DELIVERED): Promise<Database> => {
    const database = await (await newWorkStore(kind, fixtureMigrations)).open();
    await insertDeliveries(
      database,
      Array.from({ length: count }, (_, at) => ({ id: at + 1, status, fence: status === SENDING ? 5 : 0 })),
    );
    return database;
  };
  const logged = async ({ reader }: Database, after = 0, limit = 1_000) =>
    (await listLogged(reader, after, limit)).map(({ position, delivery }) => `${position} ${delivery}`);

  test("a transaction logs its deliveries by their ids, but none that it has not stored as delivered", async () => {
    const database = await open(4);
    await database.write((tx) => logDelivered(tx, ["3", "1", "2"], 10));
    await database.write((tx) => logDelivered(tx, [], 10));
    await database.write((tx) => logDelivered(tx, ["4", "9"], 10));
    expect(await logged(database)).toEqual(["1 1", "2 2", "3 3", "4 4"]);
    expect([await logged(database, 1, 2), await lastPosition(database.reader)]).toEqual([["2 2", "3 3"], 4]);
    const sending = await open(1, SENDING);
    await sending.write((tx) => logDelivered(tx, ["1"], 10));
    expect([await logged(sending), await lastPosition(sending.reader)]).toEqual([[], 0]);
  });

  test("transactions at the same time: a reader that goes on from the last position sees every entry", async () => {
    const COUNT = 60;
    const database = await open(COUNT);
    let isWriting = true;
    const writing = Promise.all(Array.from({ length: COUNT }, (_, at) => database.write((tx) => logDelivered(tx, [String(at + 1)], 10)))).finally(
      () => {
        isWriting = false;
      },
    );
    const seen: number[] = [];
    for (let isLast = false; !isLast; ) {
      isLast = !isWriting;
      await nextTurn();
      seen.push(...(await listLogged(database.reader, seen.at(-1) ?? 0, 1_000)).map(({ position }) => position));
    }
    await writing;
    expect(seen).toEqual(Array.from({ length: COUNT }, (_, at) => at + 1));
    expect(new Set((await listLogged(database.reader, 0, 1_000)).map(({ delivery }) => delivery)).size).toBe(COUNT);
  });

  test("old entries are deleted, the oldest first, some at a time, and never the newest one", async () => {
    const database = await open(6);
    for (let id = 1; id <= 6; id++) await database.write((tx) => logDelivered(tx, [String(id)], id * 10));
    const remove = (beforeMs: number, limit: number) => database.write((tx) => deleteLogged(tx, beforeMs, limit));
    expect([await remove(10, 2), await remove(40, 2), await remove(40, 2), await remove(40, 2)]).toEqual([0, 2, 1, 0]);
    expect(await logged(database)).toEqual(["4 4", "5 5", "6 6"]);
    expect(await remove(1_000, 100)).toBe(2);
    expect(await logged(database)).toEqual(["6 6"]);
  });
});
