/** Replaces the content of a database table by table, so that the connections of the database stay open and the server's own tables do not change. */
import type { FeatureMigrations } from "../database.ts";
import { append, type Row, type Sql, sql } from "../sql.ts";

/** Runs statements and keeps them prepared, because in a small world preparing a statement takes longer than running it. */
interface Runner {
  readonly inTransaction: boolean;
  all<R extends Row>(statement: Sql): R[];
  run(statement: Sql): number;
  execute(text: string): void;
}

interface Named extends Row {
  name: string;
}

const named = (runner: Runner, statement: Sql): string[] => runner.all<Named>(statement).map(({ name }) => name);

/** Returns the tables of the world, without the server's tables and the table of migrations. */
export function tablesOf(runner: Runner, migrations: readonly FeatureMigrations[]): string[] {
  const left = new Set(["migrations", ...migrations.flatMap(({ serverTables = [] }) => serverTables)]);
  const tables = sql`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`;
  return named(runner, tables).filter((name) => !left.has(name));
}

export function haveSameMigrations(runner: Runner, one: string, other: string): boolean {
  const missing = append(sql`SELECT feature, name FROM`, `${one}.migrations EXCEPT SELECT feature, name FROM ${other}.migrations LIMIT 1`);
  return named(runner, missing).length === 0;
}

/**
 * Replaces the rows of the tables in one transaction. `from` is the attached database with the new rows; if it is undefined, the tables become empty.
 */
export function replaceContent(runner: Runner, tables: readonly string[], from: string | undefined): void {
  runner.execute("BEGIN IMMEDIATE");
  try {
    // The function skips empty tables, because a DELETE on an empty table would rewrite its pages.
    for (const table of filled(runner, "main", tables)) runner.run(append(sql`DELETE FROM`, `main.${table}`));
    if (from !== undefined) {
      for (const table of filled(runner, from, tables)) runner.run(append(sql`INSERT INTO`, `main.${table} SELECT * FROM ${from}.${table}`));
    }
    runner.execute("COMMIT");
  } catch (error) {
    if (runner.inTransaction) runner.execute("ROLLBACK");
    throw error;
  }
}

function filled(runner: Runner, schema: string, tables: readonly string[]): string[] {
  const all = tables.map((table) => `SELECT '${table}' AS name WHERE EXISTS (SELECT 1 FROM ${schema}.${table})`);
  return named(runner, append(sql``, all.join(" UNION ALL ")));
}
