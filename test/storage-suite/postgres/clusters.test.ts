/** D-420, D-421: the worlds of one server in several databases, and the move of a world between them. */
import { expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { sharedPostgres } from "#harness/postgres-cluster";
import { type Database, MOVED_AWAY, type NamedDatabase } from "#storage/database";
import { PostgresClusters } from "#storage/postgres/clusters";
import { sql } from "#storage/sql";

const migrations = [
  { feature: "notes", migrations: [{ name: "notes", statements: ["CREATE TABLE notes (id BIGINT NOT NULL PRIMARY KEY, text TEXT, bytes BYTEA)"] }] },
];
const TEXTS = ["plain", "", null, "tab\tand\nline\r", "\\N and \\.", "snowman ☃ 𝄞"];
const all = sql`SELECT n.id, n.text, n.bytes FROM notes n ORDER BY n.id`;

async function newDatabases(...names: readonly string[]): Promise<NamedDatabase[]> {
  const cluster = await sharedPostgres();
  return Promise.all(names.map(async (name) => ({ name, url: await cluster.newDatabase() })));
}

/** Opens the databases, and in them the first world. `open` opens another world. */
async function start(databases: readonly NamedDatabase[]) {
  const clusters = new PostgresClusters(databases, migrations, {});
  const first = await clusters.open("default");
  const opened: Database[] = [first];
  const close = async (): Promise<void> => {
    for (const database of opened.splice(0).toReversed()) await database.close();
  };
  afterThisTest(close);
  const open = async (world: string, at: string): Promise<Database> => {
    const database = await clusters.open(world, at);
    opened.push(database);
    return database;
  };
  return { clusters, open, close };
}

const problemOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "none",
    (error: Error) => error.message,
  );

async function fill(database: Database): Promise<void> {
  await database.write(async (tx) => {
    for (const [id, text] of TEXTS.entries())
      await tx.runOne(sql`INSERT INTO notes (id, text, bytes) VALUES (${id}, ${text}, ${text === null ? null : new Uint8Array([id, 0, 92, 255])})`);
  });
}

test("D-420: each database has its own worlds, and its processes share only the channel of that database", async () => {
  const databases = await newDatabases("eu1", "eu2");
  const { clusters, open } = await start(databases);
  expect(clusters.spread.map(({ name, isUp }) => `${name} ${isUp}`)).toEqual(["eu1 true", "eu2 true"]);
  const [here, there] = [await open("a", "eu1"), await open("a", "eu2")];
  await fill(here);
  expect(await there.reader.all(all)).toEqual([]);
  expect(await clusters.names("eu1")).toEqual(["a", "default"]);
  expect(await clusters.names("eu2")).toEqual(["a"]);
  expect(await clusters.pending("a", "eu2")).toEqual([]);
  const other = await start(databases);
  const heard: string[] = [];
  (await other.open("a", "eu2")).onInvalidate((kind, key) => heard.push(`${kind} ${key}`));
  await there.write(async (tx) => tx.invalidate("note", "1"));
  while (!heard.includes("note 1")) await Bun.sleep(5);
  expect(there.processNumber).not.toBe((await other.open("b", "eu2")).processNumber);
  expect(await problemOf(open("a", "eu3"))).toContain("temporarily unavailable");
});

test("D-420: databases that changed their names, their order or their server are refused", async () => {
  const [eu1, eu2] = (await newDatabases("eu1", "eu2")) as [NamedDatabase, NamedDatabase];
  await (await start([eu1, eu2])).close();
  const refusal = (...databases: NamedDatabase[]) => problemOf(start(databases));
  expect(await refusal(eu1, { ...eu2, name: "eu9" })).toContain("change the name back to eu2");
  expect(await refusal(eu2, eu1)).toContain("was the first in --databases before");
  const [others] = (await newDatabases("us1")) as [NamedDatabase];
  expect(await refusal(others, { name: "eu1", url: eu1.url })).toContain("contains a first world");
  expect(await refusal(eu1, eu2)).toBe("none");
});

test("D-421: a world moves with all its rows, and its old database refuses a process that has not heard of it", async () => {
  const { clusters, open } = await start(await newDatabases("eu1", "eu2"));
  const stale = await open("a", "eu1");
  await fill(stale);
  await stale.saveState("before");
  const before = await stale.reader.all(all);
  const heard: unknown[] = [];
  stale.onInvalidate((kind) => heard.push(kind));
  await clusters.move("a", "eu1", "eu2");
  for (const use of [() => fill(stale), () => stale.reader.all(all), () => clusters.open("a", "eu1")])
    expect(await problemOf(use())).toContain("temporarily unavailable");
  expect(heard).toContain(MOVED_AWAY);
  expect([await clusters.hasMoved("a", "eu1"), await clusters.hasMoved("a", "eu2")]).toEqual([true, false]);
  const moved = await open("a", "eu2");
  expect(await moved.reader.all(all)).toEqual(before);
  expect((await moved.listStates()).map(({ name }) => name)).toEqual(["before"]);
  // A repeated move of a world changes nothing, even after the old data was deleted.
  await clusters.move("a", "eu1", "eu2");
  await clusters.forgetMoved("a", "eu1");
  await clusters.move("a", "eu1", "eu2");
  expect(await moved.reader.all(all)).toEqual(before);
  await moved.write((tx) => tx.run(sql`DELETE FROM notes WHERE id > 0`));
  await clusters.move("a", "eu2", "eu1");
  await clusters.forgetMoved("a", "eu2");
  expect(await (await open("a", "eu1")).reader.all(all)).toHaveLength(1);
  expect(await clusters.names("eu2")).toEqual([]);
});

test("D-421: a world that stores nothing yet moves as well, and one whose copy is missing is not given up", async () => {
  const { clusters, open } = await start(await newDatabases("eu1", "eu2"));
  await clusters.move("empty", "eu1", "eu2");
  expect(await problemOf(clusters.open("empty", "eu1"))).toContain("temporarily unavailable");
  expect(await (await open("empty", "eu2")).reader.all(all)).toEqual([]);
  await fill(await open("a", "eu1"));
  await clusters.move("a", "eu1", "eu2");
  await clusters.remove("a", "eu2");
  expect(await problemOf(clusters.move("a", "eu1", "eu2"))).toContain("rename the schema moved_a back");
  // A new world that gets the name of a deleted one begins empty.
  await clusters.remove("a", "eu1");
  expect(await (await open("a", "eu1")).reader.all(all)).toEqual([]);
});
