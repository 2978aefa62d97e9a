/** Reads every value that a database stores, for tests that search the values as a thief would. */
import type { Database } from "#storage/database";
import { append, sql } from "#storage/sql";

export interface StoredValue {
  readonly table: string;
  readonly column: string;
  /** The stored value as text. Bytes in the database are read as Latin-1 text. */
  readonly text: string;
}

/** Each value of each column of each table, as text. */
export async function everyValue(database: Database): Promise<StoredValue[]> {
  const values: StoredValue[] = [];
  for (const { table, columns } of await tablesOf(database)) {
    const list = columns.map(({ name, isBytes }) => (isBytes ? `t.${name}` : `CAST(t.${name} AS TEXT) AS ${name}`)).join(", ");
    const rows = await database.reader.all<Record<string, string | Uint8Array | null>>(append(sql``, `SELECT ${list} FROM ${table} t`, []));
    for (const row of rows) {
      for (const [column, value] of Object.entries(row)) {
        if (value !== null) values.push({ table, column, text: typeof value === "string" ? value : Buffer.from(value).toString("latin1") });
      }
    }
  }
  return values;
}

interface Table {
  readonly table: string;
  readonly columns: readonly { readonly name: string; readonly isBytes: boolean }[];
}

async function tablesOf({ dialect, reader }: Database): Promise<Table[]> {
  const found =
    dialect === "sqlite"
      ? await reader.all<{ table_name: string; column_name: string; type: string }>(sql`
          SELECT m.name AS table_name, p.name AS column_name, p.type AS type FROM sqlite_master m JOIN pragma_table_info(m.name) p
          WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`)
      : await reader.all<{ table_name: string; column_name: string; type: string }>(sql`
          SELECT c.table_name, c.column_name, c.data_type AS type FROM information_schema.columns c WHERE c.table_schema = current_schema()`);
  const tables = Map.groupBy(found, ({ table_name }) => table_name);
  return [...tables].map(([table, columns]) => ({
    table,
    columns: columns.map(({ column_name, type }) => ({ name: column_name, isBytes: /^(blob|bytea)$/i.test(type) })),
  }));
}
