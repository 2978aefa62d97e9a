/**
 * A lease passes all calls on to its database until the lease ends. After the end of a lease, the lease refuses writes, and the database serves the
 * next lease.
 */
import { expect, test } from "bun:test";
import { newWorkStore } from "#harness/work-database";
import { DatabaseLease } from "./database-lease.ts";
import { sql } from "./sql.ts";

const notes = { feature: "notes", migrations: [{ name: "notes", statements: ["CREATE TABLE notes (id INTEGER PRIMARY KEY)"] }] };

async function newLease() {
  const database = await (await newWorkStore("sqlite", [notes])).open();
  const add = (lease: DatabaseLease, id: number) => lease.write(async (tx) => void (await tx.run(sql`INSERT INTO notes (id) VALUES (${id})`)));
  const ids = async (): Promise<number[]> =>
    (await database.reader.all<{ id: number }>(sql`SELECT n.id FROM notes n ORDER BY n.id`)).map(({ id }) => id);
  return { database, lease: new DatabaseLease(database), add, ids };
}

test("until it ends it writes, reads, saves states and restores them", async () => {
  const { database, lease, add, ids } = await newLease();
  expect([lease.dialect, lease.processNumber, lease.reader === database.reader]).toEqual(["sqlite", database.processNumber, true]);
  await add(lease, 1);
  await lease.saveState("one");
  await add(lease, 2);
  expect((await lease.listStates()).map(({ name }) => name)).toEqual(["one"]);
  expect(await lease.snapshot((reader) => reader.get<{ count: number }>(sql`SELECT COUNT(*) AS count FROM notes n`))).toEqual({ count: 2 });
  expect([await lease.restoreState("one"), await ids()]).toEqual([true, [1]]);
  expect([await lease.restoreState("none"), await lease.deleteState("one"), await lease.deleteState("one")]).toEqual([false, true, false]);
  await lease.scrub();
  await lease.ping();
});

test("afterwards it refuses writes and reports no changes; the next lease does both", async () => {
  const { database, lease, add, ids } = await newLease();
  const heard: string[] = [];
  lease.onInvalidate(() => heard.push("of the first"));
  const letGo = lease.onInvalidate(() => heard.push("let go"));
  letGo();
  await lease.saveState("empty");
  await lease.close();
  await lease.close();
  const refused = { errorName: "databaseUnreachable" };
  await expect(add(lease, 1)).rejects.toMatchObject(refused);
  await expect(lease.snapshot(async () => 1)).rejects.toMatchObject(refused);
  await expect(lease.scrub()).rejects.toMatchObject(refused);
  await expect(lease.restoreState("empty")).rejects.toMatchObject(refused);
  const next = new DatabaseLease(database);
  next.onInvalidate(() => heard.push("of the next"));
  await add(next, 2);
  await next.write(async (tx) => tx.invalidate("note", "2"));
  expect({ ids: await ids(), heard }).toEqual({ ids: [2], heard: ["of the next"] });
});
