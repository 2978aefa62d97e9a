/**
 * Runs migrations on PostgreSQL in one transaction under an advisory lock, so that processes that start at the same time migrate one after another.
 */
import type { Client } from "pg";
import type { FeatureMigrations, OnProgress } from "../database.ts";
import { type Applied, type LiveProcess, type MigrationTarget, migrate, migrationsTable, pendingOf } from "../migrator.ts";
import { isConnectionFailure, WorldMoved } from "./failures.ts";
import { STATE_TABLES } from "./saved-states.ts";
import { type Server, WrongAddress } from "./server.ts";
import { LOCK_SLOTS, lockKey } from "./transaction.ts";
import { NOW_MS, numbered, type Token, tokensOf } from "./values.ts";

export interface MigrateOptions {
  /** The migrator calls this function with its connection before the migrations run. */
  first?(client: Client): Promise<void>;
  readonly onProgress?: OnProgress | undefined;
  /**
   * The schema of the first world, in whose tables the running processes register themselves. The default of this option is the schema of the server
   * object that runs the migrations.
   */
  readonly leases?: string;
  /** Whether to throw `WorldMoved` if the world was moved from this server to another one. */
  readonly refusesMoved?: boolean;
}

export async function migratePostgres(
  server: Server,
  features: readonly FeatureMigrations[],
  { first, onProgress, leases = server.schema, refusesMoved = false }: MigrateOptions = {},
): Promise<void> {
  // Migrations have their own connection, because migrating much data can take longer than the time limit of a request.
  const client = await server.connect({ pipeline: true });
  try {
    await first?.(client);
    await lockMigrations(client, server.schema);
    if (refusesMoved && (await hasSchema(client, movedSchema(server.schema)))) throw new WorldMoved(server.schema);
    await migrateLocked(client, server.schema, features, leases, onProgress);
  } finally {
    // The close of the connection is enough, because PostgreSQL then also rolls back uncommitted statements.
    await client.end().catch(() => {});
  }
}

/** Returns the migrations that have not run on the schema, or undefined if the schema does not exist. Throws `UnknownMigration`. */
export async function pendingOnPostgres(client: Client, schema: string, features: readonly FeatureMigrations[]): Promise<string[] | undefined> {
  if (!(await hasSchema(client, schema))) return undefined;
  const { rows } = await client.query<Applied>(`SELECT feature, name, contracts FROM "${schema}".migrations`);
  return pendingOf(features, rows).map(({ feature, migration }) => `${feature}/${migration.name}`);
}

/**
 * Checks the migrations a second time, after this process has registered itself. Since the call of `migratePostgres`, a newer process that did not
 * see this process's registration may have removed a table or column. If a process is migrating, the shared lock is taken only when this process has
 * ended its migrations. Throws `UnknownMigration`.
 */
export async function confirmMigrations(client: Client, schema: string, features: readonly FeatureMigrations[]): Promise<void> {
  await client.query("SELECT pg_advisory_lock_shared($1)", [lockKey(schema, "migrations")]);
  try {
    pendingOf(features, await targetOf(client, schema).applied());
  } finally {
    await client.query("SELECT pg_advisory_unlock_shared($1)", [lockKey(schema, "migrations")]);
  }
}

/**
 * Returns the name of the schema that marks a world as moved to another server (D-421). The name of a world has 57 characters at most, so the name
 * `moved_<world>` is not too long for a schema.
 */
export const movedSchema = (schema: string): string => schema.replace(/^plaza_/, "moved_");

/** Runs the migrations on a session that has the lock for the migrations of this schema. */
export async function migrateLocked(
  client: Client,
  schema: string,
  features: readonly FeatureMigrations[],
  leases: string,
  onProgress?: OnProgress,
): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>("SHOW server_encoding");
  if (rows[0]?.server_encoding !== "UTF8") {
    throw new WrongAddress(`the encoding of the database is ${rows[0]?.server_encoding}: give Plaza a database with the encoding UTF8`);
  }
  await client.query("BEGIN READ WRITE");
  if ((await hasSchema(client, schema)) || !(await makeAtOnce(client, schema, features))) {
    await prepare(client);
    await migrate(targetOf(client, leases), features, onProgress);
  }
  await client.query("COMMIT");
}

export async function lockMigrations(client: Client, schema: string): Promise<void> {
  // The lock for migrations belongs to the session and not to a transaction, because each batch of a migration commits. PostgreSQL releases the lock
  // for migrations when the connection or the process ends.
  await client.query("SELECT pg_advisory_lock($1)", [lockKey(schema, "migrations")]);
}

/**
 * Makes a new schema, and sends its statements without waiting for the result of each one. If a statement fails, the function makes an empty schema
 * and returns false, so that the caller runs the statements one by one. Each statement is a separate query, because Citus refuses a query with
 * several statements that change a schema.
 */
async function makeAtOnce(client: Client, schema: string, features: readonly FeatureMigrations[]): Promise<boolean> {
  try {
    await Promise.all(statementsOfNew(schema, features).map((statement) => client.query(statement)));
    return true;
  } catch (error) {
    if (isConnectionFailure(error)) throw error;
    await client.query("ROLLBACK");
    await client.query("BEGIN READ WRITE");
    await client.query(`CREATE SCHEMA "${schema}"`);
    return false;
  }
}

/**
 * Whether the schema exists. Callers check whether the schema exists instead of using `IF NOT EXISTS`, which requires the right to create schemas
 * even if the schema exists.
 */
export async function hasSchema(client: Client, schema: string): Promise<boolean> {
  return (await client.query("SELECT 1 AS one FROM pg_namespace WHERE nspname = $1", [schema])).rows.length > 0;
}

async function prepare(client: Client): Promise<void> {
  for (const statement of [postgresStatement(migrationsTable), ...OWN_TABLES, ...STATE_TABLES]) await client.query(statement);
}

const APPLIED_NOW = `${NOW_MS} / 1000`;

function statementsOfNew(schema: string, features: readonly FeatureMigrations[]): string[] {
  const record = (feature: string, name: string, contracts: string) =>
    `INSERT INTO migrations (feature, name, applied_time, contracts) VALUES ('${feature}', '${name}', ${APPLIED_NOW}, '${contracts}')`;
  return [
    `CREATE SCHEMA "${schema}"`,
    ...[postgresStatement(migrationsTable), ...OWN_TABLES, ...STATE_TABLES],
    ...features.flatMap(({ feature, migrations }) =>
      migrations.flatMap(({ name, statements, contracts = "" }) => [...statements.map(postgresStatement), record(feature, name, contracts)]),
    ),
  ];
}

/** The PostgreSQL driver's own tables, which are in each schema. */
const OWN_TABLES = [
  // Each row of `fact_generations` counts the transactions that changed cached facts on the connections that share the row (`fact-channel.ts`).
  "CREATE TABLE IF NOT EXISTS fact_generations (slot INTEGER PRIMARY KEY, generation BIGINT NOT NULL)",
  // The column `lease_until_ms` is a time of the database's clock, and `knows` is a JSON list of migrations (`process-number.ts`).
  "CREATE TABLE IF NOT EXISTS process_numbers (number INTEGER PRIMARY KEY, holder TEXT NOT NULL, lease_until_ms BIGINT NOT NULL, version TEXT, knows TEXT)",
  // Transactions lock a name by locking its row (slot) in `locks`, which is found by a hash of the name (`transaction.ts`). All rows of `locks` exist
  // from the beginning, so that a transaction needs only one statement for a lock.
  "CREATE TABLE IF NOT EXISTS locks (slot INTEGER PRIMARY KEY)",
  `INSERT INTO locks (slot) SELECT s FROM generate_series(0, ${LOCK_SLOTS - 1}) AS s
   WHERE (SELECT COUNT(*) FROM locks) < ${LOCK_SLOTS} ON CONFLICT DO NOTHING`,
];

const targetOf = (client: Client, leases: string): MigrationTarget => ({
  applied: async () => (await client.query<Applied>("SELECT feature, name, contracts FROM migrations")).rows,
  execute: async (statement) => {
    await client.query(postgresStatement(statement));
  },
  executeBatch: async (statement, rows) => (await client.query(numbered(statement), [rows])).rowCount ?? 0,
  record: async (feature, name, contracts) => {
    await client.query(`INSERT INTO migrations (feature, name, applied_time, contracts) VALUES ($1, $2, ${APPLIED_NOW}, $3)`, [
      feature,
      name,
      contracts,
    ]);
  },
  commit: async () => {
    await client.query("COMMIT");
    await client.query("BEGIN READ WRITE");
  },
  liveProcesses: () => liveProcesses(client, leases),
});

async function liveProcesses(client: Client, schema: string): Promise<LiveProcess[]> {
  const { rows } = await client.query<{ version: string; knows: string }>(
    `SELECT version, knows FROM "${schema}".process_numbers WHERE lease_until_ms >= ${NOW_MS}`,
  );
  return rows.map(({ version, knows }) => ({ version, knows: JSON.parse(knows) as string[] }));
}

/**
 * Translates a statement for PostgreSQL. In CREATE TABLE and ALTER TABLE, a column's type `TEXT` becomes `TEXT COLLATE "C"` (text compares bytewise,
 * as in SQLite), and `WITHOUT ROWID` at the end is removed. The translation does not change any other statements, nor the word `text` in any other
 * position.
 */
export function postgresStatement(statement: string): string {
  const tokens = tokensOf(statement);
  const words = tokens.filter(({ kind }) => kind !== "space");
  if (isWord(words[1], "TABLE") && isWord(words[0], "CREATE")) return createTable(tokens);
  if (isWord(words[1], "TABLE") && isWord(words[0], "ALTER")) return alterTable(tokens);
  return statement;
}

const isWord = (token: Token | undefined, word: string): boolean => token?.kind === "word" && token.text.toUpperCase() === word;

/**
 * Translates CREATE TABLE. A column's type is the second token of the column's definition; the definitions of columns are in the outer parentheses,
 * separated by commas.
 */
function createTable(tokens: readonly Token[]): string {
  let depth = 0;
  let position = 0;
  let text = "";
  for (const token of tokens) {
    const mark = token.kind === "mark" ? token.text : "";
    if (mark === "(" && ++depth === 1) position = 0;
    else if (mark === ")") depth--;
    else if (mark === "," && depth === 1) position = 0;
    else if (token.kind !== "space" && !isComment(token)) position++;
    text += depth === 1 && position === 2 && isWord(token, "TEXT") ? `${token.text} COLLATE "C"` : token.text;
  }
  // Only the table's options follow the last parenthesis, so the words `WITHOUT ROWID` that are removed cannot be part of a literal.
  return text
    .trimEnd()
    .replace(/\sWITHOUT\s+ROWID$/i, "")
    .trimEnd();
}

const isComment = ({ kind, text }: Token): boolean => kind === "literal" && (text.startsWith("--") || text.startsWith("/*"));

/** Translates `ADD [COLUMN] name TEXT`, the only form of ALTER TABLE that both databases support. */
function alterTable(tokens: readonly Token[]): string {
  const words = tokens.filter((token) => token.kind !== "space" && !isComment(token));
  const add = words.findIndex((token) => isWord(token, "ADD"));
  const type = words[isWord(words[add + 1], "COLUMN") ? add + 3 : add + 2];
  return tokens.map((token) => (add > 0 && token === type && isWord(token, "TEXT") ? `${token.text} COLLATE "C"` : token.text)).join("");
}
