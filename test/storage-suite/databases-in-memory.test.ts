/** Checks that worlds in memory are files of a private folder, which is removed with the server. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import type { Database, FeatureMigrations } from "#storage/database";
import { databasesIn } from "#storage/open";
import { sql } from "#storage/sql";

const migrations: FeatureMigrations[] = [
  { feature: "notes", migrations: [{ name: "notes", statements: ["CREATE TABLE notes (text TEXT NOT NULL)"] }] },
];

const notesIn = async ({ reader }: Database) =>
  (await reader.all<{ text: string }>(sql`SELECT n.text FROM notes n ORDER BY n.text`)).map(({ text }) => text);
const write = (database: Database, text: string): Promise<void> => database.write((tx) => tx.runOne(sql`INSERT INTO notes (text) VALUES (${text})`));
const fileOf = async ({ reader }: Database) => (await reader.get<{ file: string }>(sql`SELECT file FROM pragma_database_list`))?.file ?? "";

async function begin() {
  const databases = await databasesIn(":memory:", migrations);
  const first = await databases.open("default");
  afterThisTest(() => first.close());
  return { databases, first };
}

test("an idle world is unchanged when it opens again, with its saved states", async () => {
  const { databases } = await begin();
  const before = await databases.open("w");
  await write(before, "one");
  await before.saveState("saved");
  await write(before, "two");
  await before.close();
  await expect(notesIn(before)).rejects.toThrow("closed");
  const after = await databases.open("w");
  expect(await notesIn(after)).toEqual(["one", "two"]);
  expect(await after.listStates()).toMatchObject([{ name: "saved" }]);
  expect([await after.restoreState("saved"), await notesIn(after)]).toEqual([true, ["one"]]);
  await after.close();
});

test("a removed world begins empty under its name, without its states, and others are unchanged", async () => {
  const { databases, first } = await begin();
  await write(first, "of the first");
  const one = await databases.open("one");
  await write(one, "of one");
  await one.saveState("saved");
  await one.close();
  await databases.remove("one");
  const other = await databases.open("one");
  expect([await notesIn(other), await other.listStates(), await notesIn(first)]).toEqual([[], [], ["of the first"]]);
  await other.close();
});

test("files are readable only by their owner, separate for two servers, and deleted with the first world", async () => {
  const { databases, first } = await begin();
  const { first: other } = await begin();
  const folder = dirname(await fileOf(first));
  await (await databases.open("w")).close();
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(["default.sqlite", "w.sqlite"]));
  for (const [path, mode] of [
    [dirname(folder), 0o700],
    [folder, 0o700],
    [await fileOf(first), 0o600],
  ] as const)
    expect({ path, mode: statSync(path).mode & 0o777 }).toEqual({ path, mode });
  expect(dirname(await fileOf(other))).not.toBe(folder);
  await first.close();
  expect(existsSync(folder)).toBe(false);
  await write(other, "still there");
});

/** Runs a program in another process that opens a world in memory and then runs the code in `then`. Returns the files of the program. */
async function programWith(then: string) {
  const text = `
    const { openDatabase } = await import("#storage/open");
    const database = await openDatabase({ data: ":memory:", world: "default", migrations: [] });
    console.log((await database.reader.get({ query: { text: "SELECT file FROM pragma_database_list" }, values: [] })).file);
    ${then}`;
  const child = Bun.spawn([process.execPath, "-e", text], { cwd: join(import.meta.dir, "../.."), stdout: "pipe", stderr: "inherit" });
  const [output] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  return dirname(dirname(output.trim()));
}

test("they are deleted when a program ends, and those of a killed one when the next one opens some", async () => {
  const ended = await programWith("process.exit(0);");
  expect([ended.startsWith(join(tmpdir(), "plaza-memory-")), existsSync(ended)]).toEqual([true, false]);
  const killed = await programWith('process.kill(process.pid, "SIGKILL"); await new Promise(() => {});');
  expect(existsSync(killed)).toBe(true);
  await programWith(`
    const { existsSync } = await import("node:fs");
    while (existsSync(${JSON.stringify(killed)})) await Bun.sleep(5);
    process.exit(0);`);
  expect(existsSync(killed)).toBe(false);
});
