/** Chooses the databases for which the tests of this run are declared. */
import { describe, test } from "bun:test";

export type DatabaseKind = "sqlite" | "postgres";

/** Both databases, unless the run is for one of them (`tools/test-runs/runs.ts`). */
const { TEST_DATABASES: chosen = "sqlite,postgres" } = process.env;

export const databaseKinds: readonly DatabaseKind[] = (["sqlite", "postgres"] as const).filter((kind) => chosen.split(",").includes(kind));

/** Declares the same tests for each database. */
export function onEachDatabase(title: string, body: (kind: DatabaseKind) => void): void {
  for (const kind of databaseKinds) describe(`${title} (${kind})`, () => body(kind));
}

/** Declares a test of behaviour that only servers on PostgreSQL have, in a file with other tests. */
export function testOnPostgres(title: string, body: () => Promise<void>, timeoutMs?: number): void {
  if (databaseKinds.includes("postgres")) test(`${title} (postgres)`, body, timeoutMs);
}
