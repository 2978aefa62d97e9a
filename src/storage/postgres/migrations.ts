/** Migrations on PostgreSQL: one transaction under an advisory lock, so that processes that start at once take turns. */
import { Client, type ClientConfig } from "pg";
import type { FeatureMigrations } from "../database.ts";
import { type MigrationTarget, migrate, migrationsTable } from "../migrator.ts";
import { postgresStatement } from "./ddl.ts";
import { lockKey } from "./lock-key.ts";

export async function migratePostgres(config: ClientConfig, schema: string, features: readonly FeatureMigrations[]): Promise<void> {
  // A separate connection, because migrating much data can take longer than the time limit of a request.
  const client = new Client(config);
  // A broken connection also fails the running statement, which reports the error.
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ server_encoding: string }>("SHOW server_encoding");
    if (rows[0]?.server_encoding !== "UTF8") throw new Error(`the encoding of the database must be UTF8, but is ${rows[0]?.server_encoding}`);
    await client.query("BEGIN READ WRITE");
    await client.query("SELECT pg_advisory_xact_lock($1)", [lockKey(schema, "migrations", "")]);
    await prepare(client, schema);
    await migrate(targetOf(client), features);
    await client.query("COMMIT");
  } finally {
    // Also rolls back what is not committed.
    await client.end().catch(() => {});
  }
}

async function prepare(client: Client, schema: string): Promise<void> {
  const { rows } = await client.query("SELECT 1 AS one FROM pg_namespace WHERE nspname = $1", [schema]);
  // IF NOT EXISTS alone would require the right to create schemas even if the schema exists.
  if (rows.length === 0) await client.query(`CREATE SCHEMA "${schema}"`);
  const tables = await client.query("SELECT 1 AS one FROM pg_tables WHERE schemaname = $1 AND tablename = 'fact_generation'", [schema]);
  if (tables.rows.length > 0) return;
  await client.query(postgresStatement(migrationsTable));
  // One row: the number of transactions that changed cached facts (see `fact-channel.ts`).
  await client.query("CREATE TABLE fact_generation (generation BIGINT NOT NULL)");
  await client.query("INSERT INTO fact_generation (generation) VALUES (0)");
}

const targetOf = (client: Client): MigrationTarget => ({
  applied: async () => (await client.query<{ feature: string; name: string }>("SELECT room AS feature, name FROM migrations")).rows,
  execute: async (statement) => {
    await client.query(postgresStatement(statement));
  },
  record: async (feature, name) => {
    await client.query("INSERT INTO migrations (room, name, applied_time) VALUES ($1, $2, CAST(extract(epoch FROM clock_timestamp()) AS BIGINT))", [
      feature,
      name,
    ]);
  },
});
