/**
 * Checks operations on a whole database file between two writes, the settings of connections, and the files that remain after a database is closed or
 * removed.
 */
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import { temporaryFolder } from "#harness/server";
import { nextTurn } from "#kernel/turns";
import { type Sql, sql } from "../sql.ts";
import { removeSqlite } from "./backup.ts";
import { Connection } from "./connection.ts";
import { openSqlite } from "./open.ts";

const migrations = [{ feature: "notes", migrations: [{ name: "notes", statements: ["CREATE TABLE notes (id BIGINT PRIMARY KEY, text TEXT)"] }] }];
const insert = (id: number, text = "t") => sql`INSERT INTO notes (id, text) VALUES (${id}, ${text})`;
const all = sql`SELECT n.id FROM notes n ORDER BY n.id`;

async function open(folder = temporaryFolder()) {
  const database = await openSqlite({ folder, migrations });
  afterThisTest(() => database.close());
  return { folder, database };
}

describe("between two writes", () => {
  test("a state is saved: without running writes, with all acknowledged ones", async () => {
    const { database } = await open();
    await database.write((tx) => tx.run(insert(1)));
    const gate = Promise.withResolvers<void>();
    let isSaved = false;
    const writing = database.write(async (tx) => {
      await tx.run(insert(2));
      gate.resolve();
      for (let turn = 0; turn < 5; turn++) await tx.pause();
      expect(isSaved).toBe(false);
      throw new Error("refused");
    });
    await gate.promise;
    const saving = database.saveState("one").then(() => {
      isSaved = true;
    });
    await expect(writing).rejects.toThrow("refused");
    await saving;
    await database.write((tx) => tx.run(insert(3)));
    await database.restoreState("one");
    expect(await database.reader.all(all)).toEqual([{ id: 1 }]);
  });

  test("the file is rewritten, so that no deleted value is in it or in its log, once no snapshot needs it", async () => {
    const { database, folder } = await open();
    const text = "erased-".repeat(1_000);
    await database.write((tx) => tx.run(insert(1, text)));
    // A write that commits during the first snapshot opens the connection of snapshots.
    const seen: number[] = [];
    await database.snapshot(async (reader) => {
      if (seen.length === 0) await database.write((tx) => tx.run(insert(2)));
      seen.push((await reader.all(all).catch(() => [])).length);
    });
    expect(seen).toEqual([0, 2]);
    const gate = Promise.withResolvers<void>();
    let isScrubbed = false;
    const snapshot = database.snapshot(async (reader) => {
      await gate.promise;
      return reader.all(all);
    });
    await database.write((tx) => tx.run(sql`DELETE FROM notes WHERE id = 1`));
    const scrubbing = database.scrub().then(() => {
      isScrubbed = true;
    });
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    expect(isScrubbed).toBe(false);
    gate.resolve();
    await scrubbing;
    expect(await snapshot).toHaveLength(2);
    for (const file of ["default.sqlite", "default.sqlite-wal"]) expect(readFileSync(join(folder, file)).includes("erased-")).toBe(false);
    expect(await database.reader.all(all)).toEqual([{ id: 2 }]);
  });

  test("but not if the database was asked to end meanwhile", async () => {
    const { database, folder } = await open();
    const gate = Promise.withResolvers<void>();
    const writing = database.write(async (tx) => {
      gate.resolve();
      for (let turn = 0; turn < 3; turn++) await tx.pause();
    });
    await gate.promise;
    const saving = database.saveState("late");
    const closing = database.close();
    await expect(saving).rejects.toThrow("the database is closed");
    await Promise.all([writing, closing]);
    expect(existsSync(join(folder, "snapshots"))).toBe(false);
    await expect(database.write(async () => {})).rejects.toThrow("the database is closed");
    await expect(database.snapshot(async () => {})).rejects.toThrow("the database is closed");
  });
});

test("a saved state is readable only by its owner, even of a world that is too large to copy in memory, and can be restored", async () => {
  const { database, folder } = await open();
  await database.write((tx) => tx.run(insert(1)));
  await database.saveState("small");
  const own = Object.getOwnPropertyDescriptor(Connection.prototype, "bytes") as PropertyDescriptor;
  afterThisTest(() => Object.defineProperty(Connection.prototype, "bytes", own));
  Object.defineProperty(Connection.prototype, "bytes", { configurable: true, get: () => 64 * 1024 * 1024 + 1 });
  await database.saveState("large");
  const place = join(folder, "snapshots/default");
  expect(statSync(place).mode & 0o777).toBe(0o700);
  expect(readdirSync(place).sort()).toEqual(["large.sqlite", "small.sqlite"]);
  for (const name of ["large", "small"]) {
    expect({ name, mode: statSync(join(place, `${name}.sqlite`)).mode & 0o777 }).toEqual({ name, mode: 0o600 });
    await database.restoreState(undefined);
    expect(await database.restoreState(name)).toBe(true);
    expect(await database.reader.all(all)).toEqual([{ id: 1 }]);
  }
});

test("the writer waits for a tool that locks the file for a moment, keeps the tops of indexes in memory, and copies its log in large pieces", async () => {
  const { database } = await open();
  const ofReader = async (pragma: Sql) => Object.values((await database.reader.get(pragma)) ?? {})[0];
  const ofWriter = (pragma: Sql) => database.write(async (tx) => Object.values((await tx.get(pragma)) ?? {})[0]);
  for (const settingOf of [ofReader, ofWriter]) {
    expect(await settingOf(sql`PRAGMA busy_timeout`)).toBe(1_000);
    // The size of the cache is in KiB, and is twice SQLite's default.
    expect(await settingOf(sql`PRAGMA cache_size`)).toBe(-4_000);
    // The value 2 keeps temporary data in memory, so that sorted values leave no trace on the disk.
    expect(await settingOf(sql`PRAGMA temp_store`)).toBe(2);
    expect(await settingOf(sql`PRAGMA foreign_keys`)).toBe(0);
  }
  // Only the connections of readers read the pages of the file through a memory map, without copying the pages.
  expect([await ofReader(sql`PRAGMA mmap_size`), await ofWriter(sql`PRAGMA mmap_size`)]).toEqual([268_435_456, 0]);
  expect([await ofWriter(sql`PRAGMA wal_autocheckpoint`), await ofWriter(sql`PRAGMA journal_size_limit`)]).toEqual([4_000, 33_554_432]);
});

/** Returns the files of the folder that this process has open. */
const openIn = (folder: string): string[] =>
  readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${descriptor}`);
      return target.startsWith(folder) ? [target] : [];
    } catch {
      return [];
    }
  });

test("an unusable file is not kept open, and neither is a closed one", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "default.sqlite"), "this is a letter, not a database\n".repeat(100));
  await expect(openSqlite({ folder, migrations })).rejects.toThrow("not a database");
  expect(openIn(folder)).toEqual([]);
  const own = temporaryFolder();
  // The first opening creates the world, and the second opening finds it.
  for (const id of [1, 2]) {
    const { database } = await open(own);
    await database.write((tx) => tx.run(insert(id)));
    await database.snapshot((reader) => reader.all(all));
    expect(openIn(own)).not.toEqual([]);
    await database.close();
    expect(openIn(own)).toEqual([]);
  }
  const [{ migrations: notes }] = migrations as [(typeof migrations)[0]];
  const newer = [{ feature: "notes", migrations: [...notes, { name: "gone", statements: [], contracts: "notes/notes" }] }];
  await (await openSqlite({ folder: own, migrations: newer })).close();
  const unknown = [{ feature: "others", migrations: [] }];
  await expect(openSqlite({ folder: own, migrations: unknown })).rejects.toThrow("this version does not know the migration");
  expect(openIn(own)).toEqual([]);
});

test("a removed world leaves nothing of its own, and others are unchanged", async () => {
  const folder = temporaryFolder();
  for (const world of ["one", "one-more"]) {
    for (const suffix of ["", "-wal", "-shm"]) writeFileSync(join(folder, `${world}.sqlite${suffix}`), "");
    mkdirSync(join(folder, "snapshots", world), { recursive: true });
    writeFileSync(join(folder, "snapshots", world, "kept.sqlite"), "");
  }
  removeSqlite(folder, "one");
  expect(readdirSync(folder).sort()).toEqual(["one-more.sqlite", "one-more.sqlite-shm", "one-more.sqlite-wal", "snapshots"]);
  expect(readdirSync(join(folder, "snapshots"))).toEqual(["one-more"]);
  // The world's file may be deleted already when the function is called.
  removeSqlite(folder, "one");
});
