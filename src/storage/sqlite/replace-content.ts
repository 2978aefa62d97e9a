/** Replaces what a database holds, table by table, so that its connections stay open and other tables of the server stay as they are. */
import type { Database } from "bun:sqlite";
import type { FeatureMigrations } from "../database.ts";

/** Of the world: neither of the server, nor of the migrations. */
export function tablesOf(connection: Database, migrations: readonly FeatureMigrations[]): string[] {
  const left = new Set(["migrations", ...migrations.flatMap(({ serverTables = [] }) => serverTables)]);
  const text = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
  return namesOf(connection, text).filter((name) => !left.has(name));
}

export function haveSameMigrations(connection: Database, one: string, other: string): boolean {
  const named = (schema: string) => `SELECT room, name FROM ${schema}.migrations`;
  return namesOf(connection, `${named(one)} EXCEPT ${named(other)} LIMIT 1`).length === 0;
}

/** A statement that is not finalized keeps the file open when the connection is closed. */
function namesOf(connection: Database, text: string): string[] {
  const statement = connection.prepare<{ name: string }, []>(text);
  try {
    return statement.all().map(({ name }) => name);
  } finally {
    statement.finalize();
  }
}

/** In one transaction. `from`: the attached database whose rows take their place; undefined: none do. */
export function replaceContent(connection: Database, tables: readonly string[], from: string | undefined): void {
  connection.run("BEGIN IMMEDIATE");
  try {
    // An empty table costs nothing: deleting from it would write its pages anew.
    for (const table of filled(connection, "main", tables)) connection.run(`DELETE FROM main.${table}`);
    if (from !== undefined) {
      for (const table of filled(connection, from, tables)) connection.run(`INSERT INTO main.${table} SELECT * FROM ${from}.${table}`);
    }
    connection.run("COMMIT");
  } catch (error) {
    if (connection.inTransaction) connection.run("ROLLBACK");
    throw error;
  }
}

function filled(connection: Database, schema: string, tables: readonly string[]): string[] {
  const text = tables.map((table) => `SELECT '${table}' AS name WHERE EXISTS (SELECT 1 FROM ${schema}.${table})`).join(" UNION ALL ");
  return namesOf(connection, text);
}
