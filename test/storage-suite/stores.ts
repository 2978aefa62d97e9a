/** Opens databases of both types in the same way, so that each test is written once. */
import { afterEach, describe } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { databaseKinds } from "#harness/databases";
import { sharedPostgres } from "#harness/postgres-cluster";
import type { Database, FeatureMigrations } from "#storage/database";
import { openPostgres } from "#storage/postgres/open";
import { openSqlite } from "#storage/sqlite/open";

export const notes: FeatureMigrations = {
  feature: "notes",
  migrations: [
    {
      name: "notes",
      statements: [
        "CREATE TABLE notes (id BIGINT NOT NULL PRIMARY KEY, list TEXT NOT NULL, text TEXT, amount BIGINT, flag INTEGER, bytes BYTEA) WITHOUT ROWID",
        "CREATE INDEX notes_by_list ON notes (list, id)",
        "CREATE INDEX notes_by_text ON notes (list, text, id)",
      ],
    },
  ],
};

/** A database that a test opens. A test may open the database several times; on PostgreSQL also several times at once. */
interface Store {
  open(migrations?: readonly FeatureMigrations[]): Promise<Database>;
}

export interface Driver {
  readonly name: "sqlite" | "postgres";
  newStore(): Promise<Store>;
}

const opened = new Set<Database>();
const cleanups: (() => void)[] = [];

/** Registers a database to be closed after the test, whether or not the test has closed it. */
export function closedAfterwards(database: Database): Database {
  opened.add(database);
  return database;
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "plaza-suite-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function cleanUp(): Promise<void> {
  await Promise.all([...opened].map((database) => database.close()));
  opened.clear();
  for (const cleanup of cleanups.splice(0)) cleanup();
}

export const sqlite: Driver = {
  name: "sqlite",
  newStore: async () => {
    const folder = temporaryFolder();
    return { open: async (migrations = [notes]) => closedAfterwards(await openSqlite({ folder, migrations })) };
  },
};

let schemas = 0;

const postgres: Driver = {
  name: "postgres",
  newStore: async () => {
    const { url } = await sharedPostgres();
    // The schema's name has capital letters and a dash, because every statement must quote names.
    const schema = `plaza_Suite-${++schemas}-${process.pid}`;
    return { open: async (migrations = [notes]) => closedAfterwards(await openPostgres({ url, schema, migrations, limits: { connections: 6 } })) };
  },
};

/** Declares the same tests for the driver of each database. */
export function describeDrivers(title: string, tests: (driver: Driver) => void): void {
  for (const driver of [sqlite, postgres].filter(({ name }) => databaseKinds.includes(name))) {
    describe(`${title} (${driver.name})`, () => {
      afterEach(cleanUp);
      tests(driver);
    });
  }
}

export async function openNew(driver: Driver): Promise<Database> {
  return (await driver.newStore()).open();
}

const TURN_MS = 5;

/**
 * Waits until `isTrue` returns true, up to `limitMs`, and returns whether it did. The wait is counted in turns of this process, because on a busy
 * machine other processes have less time as well.
 */
export async function becomesTrue(isTrue: () => boolean | Promise<boolean>, limitMs: number): Promise<boolean> {
  for (let turn = 0; turn < limitMs / TURN_MS; turn++) {
    if (await isTrue()) return true;
    await Bun.sleep(TURN_MS);
  }
  return isTrue();
}
