/** Checks SQLite's files: who may use them, how large they may grow, and which of them are left. */
import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "#storage/database";
import { sql } from "#storage/sql";
import { FolderInUse } from "#storage/sqlite/folder-lock";
import { openSqlite } from "#storage/sqlite/open";
import { cleanUp, closedAfterwards, notes, temporaryFolder } from "./stores.ts";

const open = async (folder: string, world = "default") => closedAfterwards(await openSqlite({ folder, world, migrations: [notes] }));
const insert = (id: number, text = "t") => sql`INSERT INTO notes (id, list, text) VALUES (${id}, ${"a"}, ${text})`;
const count = sql`SELECT COUNT(*) AS count FROM notes`;
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

/** Starts another process that holds the folder until it is killed. */
async function holdElsewhere(folder: string) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "hold-folder.ts"), folder], { stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(value)).toBe("held\n");
  return child;
}

describe("data folder", () => {
  afterEach(cleanUp);

  test("a folder in use by this process is refused, and free after close", async () => {
    const folder = temporaryFolder();
    const database = await open(folder);
    const refused = await open(folder).catch((error) => error);
    expect(refused).toBeInstanceOf(FolderInUse);
    expect(refused.message).toContain(folder);
    await database.close();
    await open(folder);
  });

  test("worlds of one process share the folder", async () => {
    const folder = temporaryFolder();
    const [one, two] = [await open(folder, "one"), await open(folder, "two")];
    await one.write((tx) => tx.run(insert(1)));
    expect(await two.reader.get(count)).toEqual({ count: 0 });
    await one.close();
    await expect(open(folder, "two")).rejects.toBeInstanceOf(FolderInUse);
    await two.close();
    expect(await (await open(folder, "one")).reader.get(count)).toEqual({ count: 1 });
  });

  test("a folder in use by another process is refused at once, and free when that was killed", async () => {
    const folder = temporaryFolder();
    const child = await holdElsewhere(folder);
    const ms: number[] = [];
    for (const world of ["default", "other"]) {
      const start = performance.now();
      await expect(open(folder, world)).rejects.toBeInstanceOf(FolderInUse);
      await expect(open(folder, world)).rejects.toThrow(`in use by another running process (${child.pid})`);
      ms.push(performance.now() - start);
    }
    // On a busy machine, one attempt may be late. A process that waits for the other process to end the use of the folder would be late every time.
    expect(Math.min(...ms)).toBeLessThan(500);
    child.kill("SIGKILL");
    await child.exited;
    const database = await open(folder);
    // The acknowledged rows of the other process are stored.
    expect(await database.reader.get(count)).toEqual({ count: 1 });
  }, 20_000);

  test("the holder of a folder is named only if it is known to be a running process", async () => {
    const folder = temporaryFolder();
    const child = await holdElsewhere(folder);
    for (const left of ["4194305\n", "somebody\n", "0\n", "-1\n"]) {
      writeFileSync(join(folder, "plaza.pid"), left);
      await expect(open(folder)).rejects.toThrow("the data folder is in use by another running process, or already open in this process");
    }
    child.kill("SIGKILL");
    await child.exited;
  }, 20_000);

  test("the other process is refused while this one holds the folder", async () => {
    const folder = temporaryFolder();
    await open(folder);
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "hold-folder.ts"), folder], { stdout: "ignore", stderr: "pipe" });
    expect(await child.exited).not.toBe(0);
    expect(await new Response(child.stderr).text()).toContain("FolderInUse");
  }, 20_000);

  test("files are readable only by their owner, and so is a new folder", async () => {
    const folder = join(temporaryFolder(), "a", "b");
    const database = await open(folder);
    await database.write((tx) => tx.run(insert(1)));
    expect(modeOf(folder)).toBe("700");
    const files = readdirSync(folder);
    expect(files).toContain("default.sqlite-wal");
    for (const file of files) expect({ file, mode: modeOf(join(folder, file)) }).toEqual({ file, mode: "600" });
    await database.close();
    chmodSync(join(folder, "default.sqlite"), 0o644);
    await open(folder);
    expect(modeOf(join(folder, "default.sqlite"))).toBe("600");
  });

  test("every commit waits for the disk, even in a folder that is opened again; in memory none does", async () => {
    const settings = (database: Database) =>
      database.write(async (tx) => ({ ...(await tx.get(sql`PRAGMA synchronous`)), ...(await tx.get(sql`PRAGMA journal_mode`)) }));
    const folder = temporaryFolder();
    // In SQLite's `synchronous`, the value 2 is FULL, and 0 is OFF.
    for (let opened = 0; opened < 2; opened++) {
      const database = await open(folder);
      expect(await settings(database)).toEqual({ synchronous: 2, journal_mode: "wal" });
      await database.close();
    }
    expect(await settings(await open(":memory:"))).toEqual({ synchronous: 0, journal_mode: "wal" });
  });

  test("closing merges the log into the file, even if the data existed before", async () => {
    const folder = temporaryFolder();
    for (const id of [1, 2]) {
      const database = await open(folder);
      await database.write((tx) => tx.run(insert(id)));
      await database.snapshot((reader) => reader.get(count));
      await database.close();
      expect(readdirSync(folder).sort()).toEqual(["default.sqlite", "plaza.lock"]);
    }
  });

  test("a log without its file is not replayed into a new world of that name", async () => {
    const folder = temporaryFolder();
    const child = await holdElsewhere(folder);
    child.kill("SIGKILL");
    await child.exited;
    expect(readdirSync(folder)).toContain("default.sqlite-wal");
    await Bun.file(join(folder, "default.sqlite")).delete();
    expect(await (await open(folder)).reader.get(count)).toEqual({ count: 0 });
  }, 20_000);

  test("a file that is not a database is refused, and the folder is free again", async () => {
    const folder = temporaryFolder();
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "default.sqlite"), "this is a letter, not a database\n".repeat(100));
    await expect(open(folder)).rejects.toThrow("not a database");
    await open(folder, "other");
  });

  test("the log stays limited in a long run of writes, and shrinks after a snapshot made it grow", async () => {
    const folder = temporaryFolder();
    const database = await open(folder);
    const logBytes = () => statSync(join(folder, "default.sqlite-wal")).size;
    const text = "x".repeat(8_000);
    let id = 0;
    const writeMegabytes = async (megabytes: number) => {
      for (let i = 0; i < megabytes; i++) {
        await Promise.all(
          Array.from({ length: 125 }, () => {
            const next = id++;
            return database.write((tx) =>
              tx.run(sql`INSERT INTO notes (id, list, text) VALUES (${next % 2_000}, ${"a"}, ${text})
              ON CONFLICT (id) DO UPDATE SET amount = ${next}, text = excluded.text`),
            );
          }),
        );
      }
    };
    await writeMegabytes(60);
    // The limit of the file's size is 16 MB plus the writes of the last group.
    expect(logBytes()).toBeLessThan(24_000_000);
    await database.snapshot(() => writeMegabytes(40));
    expect(logBytes()).toBeGreaterThan(40_000_000);
    await writeMegabytes(3);
    expect(logBytes()).toBeLessThan(34_000_000);
  }, 30_000);
});
