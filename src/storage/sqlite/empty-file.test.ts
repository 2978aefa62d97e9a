/**
 * Checks that the file of a new database either is complete or does not exist. Only the file's owner can read the file, and the file has no data of a
 * deleted database of the same name.
 */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { diskSteps } from "#harness/disk/disk-steps";
import { temporaryFolder } from "#harness/server";
import type { FeatureMigrations } from "../database.ts";
import { emptyFile, migrateFile, placeFile, withLog, withoutLog } from "./empty-file.ts";

const migrationsOf = (...names: string[]): FeatureMigrations[] => [
  { feature: "notes", migrations: names.map((name) => ({ name, statements: [`CREATE TABLE ${name} (id INTEGER PRIMARY KEY)`] })) },
];
const tablesOf = (path: string): string[] => {
  const database = new Database(path);
  try {
    return database
      .prepare<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      .all()
      .map(({ name }) => name);
  } finally {
    database.close();
  }
};

test("it has all tables, the applied migrations with their times, and says in both bytes that it has a log", async () => {
  const image = await emptyFile(migrationsOf("one", "two"));
  expect([image[18], image[19]]).toEqual([2, 2]);
  const path = join(temporaryFolder(), "notes.sqlite");
  placeFile(path, image, true);
  expect(tablesOf(path)).toEqual(["migrations", "one", "two"]);
  const database = new Database(path);
  const applied = database.prepare<{ feature: string; name: string; applied_time: number }, []>("SELECT * FROM migrations ORDER BY name").all();
  database.close();
  expect(applied).toMatchObject([
    { feature: "notes", name: "one" },
    { feature: "notes", name: "two" },
  ]);
  for (const { applied_time } of applied) expect(Math.abs(applied_time - Date.now() / 1_000)).toBeLessThan(3_600);
});

test("an image is switched between log and no log, in both bytes", () => {
  const image = new Uint8Array(100);
  expect([...withLog(image).subarray(17, 21)]).toEqual([0, 2, 2, 0]);
  expect([...withoutLog(image).subarray(17, 21)]).toEqual([0, 1, 1, 0]);
});

test("it is created once for a set of migrations; of more than four sets the first is forgotten", async () => {
  const of = (name: string) => emptyFile(migrationsOf(name));
  const first = of("a0");
  for (const name of ["a1", "a2", "a3"]) of(name);
  expect(of("a0")).toBe(first);
  const second = of("a1");
  const fifth = of("a4");
  expect([of("a1") === second, of("a4") === fifth]).toEqual([true, true]);
  expect(of("a0")).not.toBe(first);
  await Promise.all(["a0", "a1", "a2", "a3", "a4"].map(of));
});

test("it replaces the remains of a deleted database, and only its owner can read it", () => {
  const folder = temporaryFolder();
  const path = join(folder, "notes.sqlite");
  for (const suffix of ["-wal", "-shm", ".new"]) writeFileSync(path + suffix, "left over");
  placeFile(path, Uint8Array.of(1, 2, 3), true);
  expect(readdirSync(folder)).toEqual(["notes.sqlite"]);
  expect([...readFileSync(path)]).toEqual([1, 2, 3]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("its bytes are on the disk before it has its name, and the name is on the disk before it is used", async () => {
  const folder = temporaryFolder();
  const stepsOf = (isDurable: boolean) => diskSteps(folder, () => placeFile(join(folder, "notes.sqlite"), Uint8Array.of(1), isDurable));
  expect(await stepsOf(true)).toEqual(["sync notes.sqlite.new", "notes.sqlite.new is notes.sqlite", "sync ."]);
  expect(await stepsOf(false)).toEqual(["notes.sqlite.new is notes.sqlite"]);
});

test("a file gets the migrations that it lacks, all of them or none", async () => {
  const path = join(temporaryFolder(), "notes.sqlite");
  placeFile(path, withoutLog(Uint8Array.from(await emptyFile(migrationsOf("one")))), true);
  await migrateFile(path, migrationsOf("one", "two"));
  expect(tablesOf(path)).toEqual(["migrations", "one", "two"]);
  const broken = migrationsOf("one", "two", "three");
  const wrong: FeatureMigrations = { feature: "wrong", migrations: [{ name: "wrong", statements: ["CREATE TABLE"] }] };
  await expect(migrateFile(path, [...broken, wrong])).rejects.toThrow("the migration wrong/wrong failed");
  expect(tablesOf(path)).toEqual(["migrations", "one", "two"]);
});
