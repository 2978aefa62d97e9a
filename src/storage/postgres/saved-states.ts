/**
 * The saved states of a world on PostgreSQL. Each row of the world is stored as JSON in one table of the world's schema, because it would take a
 * tenth of a second to create tables for each saved state. Each function that makes SQL text joins its statements into one text, which takes only one
 * round trip to the database.
 */
import { type FeatureMigrations, type Reader, type SavedState, StateOutdated } from "../database.ts";
import { type Row, sql } from "../sql.ts";
import type { PoolConnection } from "./pool.ts";
import { NOW_MS } from "./values.ts";

/** The tables for saved states. The column `migrations` is the number of migrations that had run in the world when its state was saved. */
export const STATE_TABLES = [
  "CREATE TABLE IF NOT EXISTS saved_states (name TEXT PRIMARY KEY, saved_ms BIGINT NOT NULL, migrations BIGINT NOT NULL)",
  "CREATE TABLE IF NOT EXISTS saved_rows (state TEXT NOT NULL, relation TEXT NOT NULL, content TEXT NOT NULL)",
  "CREATE INDEX IF NOT EXISTS saved_rows_by_state ON saved_rows (state, relation)",
];

/** The driver's own tables, which are not part of a saved state. */
const OWN = ["migrations", "fact_generations", "process_numbers", "locks", "saved_states", "saved_rows"];

const tablesText = (schema: string): string =>
  `SELECT CAST(relname AS TEXT) AS name FROM pg_class WHERE relnamespace = '"${schema}"'::regnamespace AND relkind = 'r' ORDER BY relname`;

/** Returns the tables of the world, without the tables of the driver and of the server. */
function tablesOfWorld(names: readonly string[], migrations: readonly FeatureMigrations[]): string[] {
  const left = new Set([...OWN, ...migrations.flatMap(({ serverTables = [] }) => serverTables)]);
  return names.filter((name) => !left.has(name));
}

function requireStateName(name: string): void {
  if (!/^[A-Za-z0-9_.-]{1,64}$/.test(name)) throw new RangeError(`not a valid state name: ${name}`);
}

const deleteText = (name: string): string => `DELETE FROM saved_rows WHERE state = '${name}'; DELETE FROM saved_states WHERE name = '${name}'`;

/**
 * Returns the text that saves one snapshot of the world. All statements of the text see the same snapshot, because the caller's transaction is
 * REPEATABLE READ.
 */
const saveText = (name: string, tables: readonly string[]): string =>
  [
    deleteText(name),
    `INSERT INTO saved_states (name, saved_ms, migrations) SELECT '${name}', ${NOW_MS}, COUNT(*) FROM migrations`,
    ...tables.map(
      (table) => `INSERT INTO saved_rows (state, relation, content) SELECT '${name}', '${table}', row_to_json(t)::text FROM "${table}" t`,
    ),
  ].join("; ");

/** Returns the text that finds a saved state: whether it has as many migrations as the world, and the tables that have rows, usually only a few. */
const findText = (name: string): string =>
  `SELECT CASE WHEN s.migrations = (SELECT COUNT(*) FROM migrations) THEN 1 ELSE 0 END AS is_current,
   (SELECT string_agg(DISTINCT r.relation, ' ') FROM saved_rows r WHERE r.state = s.name) AS filled FROM saved_states s WHERE s.name = '${name}'`;

/**
 * Returns the text that restores a state. Until the restoring transaction ends, writers on other connections wait and readers see the old content.
 * The notification at the end of the text empties the caches of all processes.
 */
const restoreText = (schema: string, tables: readonly string[], inserts: readonly string[]): string =>
  [
    `LOCK TABLE ${tables.map((table) => `"${table}"`).join(", ")} IN EXCLUSIVE MODE`,
    ...tables.map((table) => `DELETE FROM "${table}"`),
    ...inserts,
    `WITH counted AS (
       INSERT INTO fact_generations (slot, generation) VALUES (pg_backend_pid() % 256, 1)
       ON CONFLICT (slot) DO UPDATE SET generation = fact_generations.generation + 1 RETURNING slot, generation)
     SELECT pg_notify('${schema}', slot || ' ' || generation || ' null') FROM counted`,
  ].join("; ");

const restoreOne = (name: string, table: string): string =>
  `INSERT INTO "${table}" SELECT r.* FROM saved_rows s CROSS JOIN LATERAL json_populate_record(NULL::"${table}", CAST(s.content AS json)) r
   WHERE s.state = '${name}' AND s.relation = '${table}'`;

/** Runs `work` on all tables of the world in one transaction. */
type Together = <T>(isolation: "REPEATABLE READ" | "READ COMMITTED", work: (connection: PoolConnection) => Promise<T>) => Promise<T>;

export class PostgresStates {
  readonly #schema: string;
  readonly #migrations: readonly FeatureMigrations[];
  readonly #together: Together;

  constructor(schema: string, migrations: readonly FeatureMigrations[], together: Together) {
    this.#schema = schema;
    this.#migrations = migrations;
    this.#together = together;
  }

  async save(name: string): Promise<void> {
    requireStateName(name);
    await this.#together("REPEATABLE READ", async (connection) => {
      await connection.execute(saveText(name, await this.#tables(connection)));
    });
  }

  /** Implements `restoreState` of `Database`. The transaction that restores a state notifies other processes of the change. */
  async restore(name: string | undefined): Promise<boolean> {
    if (name !== undefined) requireStateName(name);
    return this.#together("READ COMMITTED", async (connection) => {
      const tables = await this.#tables(connection);
      let inserts: readonly string[] = [];
      if (name !== undefined) {
        // A process that saves a state of the same name waits, so that the state is the same when its rows are inserted.
        await connection.execute("LOCK TABLE saved_states IN SHARE MODE");
        const [found] = (await connection.execute(findText(name))).rows as { is_current: number; filled: string | null }[];
        if (found === undefined) return false;
        if (found.is_current !== 1) throw new StateOutdated(name);
        const filled = new Set(found.filled?.split(" "));
        inserts = tables.filter((table) => filled.has(table)).map((table) => restoreOne(name, table));
      }
      await connection.execute(restoreText(this.#schema, tables, inserts));
      return true;
    });
  }

  list(reader: Reader): Promise<(SavedState & Row)[]> {
    return reader.all<SavedState & Row>(sql`SELECT s.name, s.saved_ms FROM saved_states s ORDER BY s.name`);
  }

  async delete(name: string): Promise<boolean> {
    requireStateName(name);
    return this.#together("READ COMMITTED", async (connection) => {
      const { rows } = await connection.execute(findText(name));
      await connection.execute(deleteText(name));
      return rows.length > 0;
    });
  }

  async #tables(connection: PoolConnection): Promise<string[]> {
    const { rows } = await connection.execute(tablesText(this.#schema));
    const names = (rows as { name: string }[]).map(({ name }) => name);
    return tablesOfWorld(names, this.#migrations);
  }
}
