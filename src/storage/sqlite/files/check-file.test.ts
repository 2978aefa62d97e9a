/** D-343: checks that the next start refuses a file that was cut or overwritten while no process used it. */
import { expect, test } from "bun:test";
import { closeSync, openSync, rmSync, statSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "#harness/server";
import { sql } from "../../sql.ts";
import { openSqlite } from "../open.ts";
import { problemOfFile } from "./check-file.ts";

const migrations = [{ feature: "notes", migrations: [{ name: "notes", statements: ["CREATE TABLE notes (id BIGINT PRIMARY KEY, text TEXT)"] }] }];
const PAGE_BYTES = 4096;

/** Makes a closed database with some hundred pages. */
async function newFile() {
  const folder = temporaryFolder();
  const database = await openSqlite({ folder, migrations });
  for (let id = 1; id <= 300; id++) await database.write((tx) => tx.run(sql`INSERT INTO notes (id, text) VALUES (${id}, ${"x".repeat(3_000)})`));
  await database.close();
  const file = join(folder, "default.sqlite");
  const opened = async () => {
    try {
      await (await openSqlite({ folder, migrations })).close();
      return "opened";
    } catch (error) {
      return (error as Error).message;
    }
  };
  return { file, opened };
}

function overwrite(file: string, at: number, bytes: number): void {
  const handle = openSync(file, "r+");
  writeSync(handle, Buffer.alloc(bytes, 0xa5), 0, bytes, at);
  closeSync(handle);
}

test("D-343: a whole file is opened, also after a crash that left its log", async () => {
  const { opened, file } = await newFile();
  expect(await opened()).toBe("opened");
  expect(problemOfFile(file)).toBeUndefined();
});

test("D-343: an empty file, one that is too short, and one with wrong pages are refused, each in words that name it", async () => {
  const empty = await newFile();
  truncateSync(empty.file);
  expect(await empty.opened()).toBe(`${empty.file} is empty: restore the file from a backup`);
  // The start refused the empty file instead of filling it with a new database.
  expect(statSync(empty.file).size).toBe(0);

  const short = await newFile();
  const { size } = statSync(short.file);
  truncateSync(short.file, size - PAGE_BYTES);
  expect(await short.opened()).toBe(`${short.file} has ${size - PAGE_BYTES} bytes, and should have ${size}: restore the file from a backup`);

  const wrong = await newFile();
  overwrite(wrong.file, 20 * PAGE_BYTES, 40 * PAGE_BYTES);
  expect(await wrong.opened()).toMatch(/^\/.*default\.sqlite is damaged \(.+\): restore the file from a backup$/);
  expect(problemOfFile(wrong.file)).toStartWith("is damaged (");
});

test("D-343: a file that cannot be opened is no damage, and the check of others says so", async () => {
  const { file } = await newFile();
  rmSync(file);
  expect(problemOfFile(file)).toStartWith("cannot be read (");
});
