/** A database with some migrations and a clock that the test moves, for what works below the graph: jobs and webhooks. */
import { describe } from "bun:test";
import type { Database, FeatureMigrations } from "#storage/database";
import { openDatabase } from "#storage/open";
import { afterThisTest } from "./cleanup.ts";
import { sharedPostgres } from "./postgres-cluster.ts";

export type DatabaseKind = "sqlite" | "postgres";

/** The same tests on both databases. */
export function onBothDatabases(title: string, body: (kind: DatabaseKind) => void): void {
  for (const kind of ["sqlite", "postgres"] as const) describe(`${title} (${kind})`, () => body(kind));
}

let count = 0;
export interface WorkStore {
  /** On PostgreSQL as often as processes are wanted; on SQLite `:memory:`, once. */
  open(): Promise<Database>;
}

export async function newWorkStore(kind: DatabaseKind, migrations: readonly FeatureMigrations[]): Promise<WorkStore> {
  const world = `work${process.pid}_${++count}`;
  const data = kind === "postgres" ? (await sharedPostgres()).url : ":memory:";
  return {
    async open() {
      const database = await openDatabase({ data, world, migrations });
      afterThisTest(() => database.close());
      return database;
    },
  };
}

export interface MovedClock {
  ms: number;
  nowMs(): number;
}

/** Stands still but for the test. */
export const movedClock = (ms = 1_795_000_000_000): MovedClock => ({
  ms,
  nowMs() {
    return this.ms;
  },
});
