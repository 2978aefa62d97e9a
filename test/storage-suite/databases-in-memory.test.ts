/** Connections of databases in memory serve one world after the other. */
import { expect, test } from "bun:test";
import { readdirSync, readlinkSync } from "node:fs";
import { afterThisTest } from "#harness/cleanup";
import type { Database, FeatureMigrations } from "#storage/database";
import { databasesIn } from "#storage/open";
import { sql } from "#storage/sql";

const migrations: FeatureMigrations[] = [
  {
    feature: "notes",
    serverTables: ["keys"],
    migrations: [{ name: "notes", statements: ["CREATE TABLE notes (text TEXT NOT NULL)", "CREATE TABLE keys (text TEXT NOT NULL)"] }],
  },
];

const notesIn = ({ reader }: Database) => reader.all(sql`SELECT n.text FROM notes n UNION ALL SELECT k.text FROM keys k ORDER BY 1`);

const atOnce = ({ reader }: Database) => reader.getAtOnce?.(sql`SELECT n.text FROM notes n`);

const write = (database: Database, text: string): Promise<unknown> =>
  database.write(async (tx) => {
    await tx.runOne(sql`INSERT INTO notes (text) VALUES (${text})`);
    await tx.runOne(sql`INSERT INTO keys (text) VALUES (${text})`);
  });

async function begin() {
  const databases = await databasesIn(":memory:", migrations);
  const first = await databases.open("default");
  afterThisTest(() => first.close());
  const use = async (world: string, text: string): Promise<void> => {
    const database = await databases.open(world);
    await write(database, text);
    await notesIn(database);
    await database.close();
    await databases.remove(world);
  };
  return { databases, first, use };
}

/** Those that have lost their names. */
function filesInMemory(): number {
  const targets = readdirSync("/proc/self/fd").map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return "";
    }
  });
  return targets.filter((target) => target.includes("memory.sqlite")).length;
}

test("a database begins empty where another one was, and who still uses that one finds it closed", async () => {
  const { databases } = await begin();
  const one = await databases.open("one");
  await write(one, "of one");
  expect(await notesIn(one)).toHaveLength(2);
  expect(atOnce(one)).toEqual({ text: "of one" });
  await one.close();
  await databases.remove("one");
  const other = await databases.open("other");
  expect(await notesIn(other)).toEqual([]);
  await write(other, "of the other");
  await expect(notesIn(one)).rejects.toThrow("closed");
  // Also of what it has prepared.
  expect(() => atOnce(one)).toThrow("closed");
  await expect(write(one, "too late")).rejects.toThrow("closed");
  expect(await notesIn(other)).toEqual([{ text: "of the other" }, { text: "of the other" }]);
  expect(await other.snapshot((reader) => reader.all(sql`SELECT n.text FROM notes n`))).toEqual([{ text: "of the other" }]);
  await other.close();
});

test("one after the other uses the same files, which are gone with the first database", async () => {
  const before = filesInMemory();
  const { first, use } = await begin();
  await use("w", "text");
  const open = filesInMemory();
  for (let count = 0; count < 5; count++) await use(`w${count}`, "text");
  expect(filesInMemory()).toBe(open);
  await first.close();
  expect(filesInMemory()).toBe(before);
});

test("what has grown large is not kept", async () => {
  const { use } = await begin();
  const open = filesInMemory();
  // In two tables each.
  for (const characters of [600_000, 2_000_000]) {
    await use("large", "x".repeat(characters));
    expect(filesInMemory()).toBe(open);
  }
  await use("small", "text");
  expect(filesInMemory()).toBeGreaterThan(open);
});

test("those of four are kept for the next, of more the rest is closed", async () => {
  const { databases } = await begin();
  const before = filesInMemory();
  const endAll = async (count: number): Promise<number> => {
    const open = await Promise.all(Array.from({ length: count }, (_, world) => databases.open(`w${world}`)));
    for (const [world, database] of open.entries()) {
      await database.close();
      await databases.remove(`w${world}`);
    }
    return filesInMemory() - before;
  };
  const ofOne = await endAll(1);
  expect(ofOne).toBeGreaterThan(0);
  expect([await endAll(4), await endAll(5), await endAll(1)]).toEqual([4 * ofOne, 4 * ofOne, 4 * ofOne]);
});
