/**
 * Moves the schema of a world from one PostgreSQL server to another (D-421). If a server has the schema `moved_<world>`, the world was moved away
 * from this server: the server refuses to open the world, and statements of processes that have the world open fail.
 *
 * | step | stored on the old server | on the new server | after a kill |
 * |---|---|---|---|
 * | copy | the world | the tables, filled in one transaction | begins anew |
 * | fence | `moved_<world>`, renamed in one transaction | the world | continues with the next step |
 * | arrive | `moved_<world>` | the world; an older `moved_<world>` is deleted | is repeated |
 *
 * The caller then stores the world's new database, and calls `forgetMoved`.
 *
 * **Invariant:** the session that fences the old server has held the server's advisory lock since before the copy began, so two processes never copy
 * the same world.
 */
import type { Client } from "pg";
import type { FeatureMigrations } from "../../database.ts";
import { hasSchema, lockMigrations, migrateLocked, migratePostgres, movedSchema } from "../migrations.ts";
import type { Server } from "../server.ts";
import { copyTable } from "./copy-table.ts";

/** The tables that already have rows in a new schema, so that they are not copied. */
const FILLED = ["migrations", "locks", "process_numbers"];

export interface SchemaMove {
  readonly from: Server;
  readonly to: Server;
  readonly migrations: readonly FeatureMigrations[];
  /** The schemas in whose tables the running processes register themselves, on the old server and on the new one. */
  readonly leases: { readonly from: string; readonly to: string };
}

/**
 * Copies the schema of a world to the new server, and fences the schema on the old server. The promise resolves at once if an earlier call has
 * already copied and fenced the schema.
 */
export async function moveSchema({ from, to, migrations, leases }: SchemaMove): Promise<void> {
  const { schema } = from;
  await locked(from, async (old) => {
    if (await hasSchema(old, movedSchema(schema))) return requireCopy(old, to);
    await dropSchema(to, schema);
    if (await hasSchema(old, schema)) {
      await migrateLocked(old, schema, migrations, leases.from);
      await migratePostgres(to, migrations, { leases: leases.to });
      await copyAndFence(old, to);
    } else {
      await old.query(`BEGIN READ WRITE; CREATE SCHEMA "${movedSchema(schema)}"; COMMIT`);
    }
  });
  await dropSchema(to, movedSchema(schema));
}

/**
 * Whether the world was moved away from the server. If another process is moving the world, the function waits until the session of that process has
 * ended.
 */
export const hasMoved = (server: Server): Promise<boolean> => locked(server, (client) => hasSchema(client, movedSchema(server.schema)));

/** Deletes the data of a world that was moved away, but keeps the empty schema that marks the world as moved. */
export async function forgetMoved(server: Server): Promise<void> {
  const moved = movedSchema(server.schema);
  await locked(server, async (client) => {
    if (await hasSchema(client, moved)) await client.query(`BEGIN READ WRITE; DROP SCHEMA "${moved}" CASCADE; CREATE SCHEMA "${moved}"; COMMIT`);
  });
}

async function copyAndFence(old: Client, to: Server): Promise<void> {
  const { schema } = to;
  await to.session(async (copying) => {
    await old.query("BEGIN READ WRITE");
    const columns = await columnsOf(old, schema);
    const tables = [...columns.keys()];
    await old.query(`LOCK TABLE ${tables.map((table) => `"${table}"`).join(", ")} IN ACCESS EXCLUSIVE MODE`);
    await copying.query("BEGIN READ WRITE");
    for (const [table, names] of columns) if (!FILLED.includes(table)) await copyTable(old, copying, table, names);
    await copying.query("COMMIT");
    await old.query(`ALTER SCHEMA "${schema}" RENAME TO "${movedSchema(schema)}"`);
    await old.query("COMMIT");
  });
}

/**
 * Throws if the old server has the data in `moved_<world>`, and the new server does not have the world: in this case no other copy of the data
 * exists.
 */
async function requireCopy(old: Client, to: Server): Promise<void> {
  const moved = movedSchema(to.schema);
  const { rows } = await old.query("SELECT 1 AS one FROM pg_tables WHERE schemaname = $1 LIMIT 1", [moved]);
  if (rows.length === 0) return;
  const isThere = await to.session((client) => hasSchema(client, to.schema));
  if (!isThere)
    throw new Error(
      `the new database of the world has no schema ${to.schema}: on the old database, rename the schema ${moved} back, and move the world again`,
    );
}

const locked = <T>(server: Server, work: (client: Client) => Promise<T>): Promise<T> =>
  server.session(async (client) => {
    // The session takes the lock for migrations, so that no process opens the world on this server during the move. The session's lock for migrations
    // ends with the session.
    await lockMigrations(client, server.schema);
    return work(client);
  });

export const dropSchema = (server: Server, schema: string): Promise<void> =>
  server.session(async (client) => void (await client.query(`BEGIN READ WRITE; DROP SCHEMA IF EXISTS "${schema}" CASCADE; COMMIT`)));

async function columnsOf(client: Client, schema: string): Promise<Map<string, string[]>> {
  const { rows } = await client.query<{ table: string; column: string }>(
    `SELECT CAST(c.table_name AS TEXT) AS table, CAST(c.column_name AS TEXT) AS column FROM information_schema.columns c
     JOIN pg_tables t ON t.schemaname = c.table_schema AND t.tablename = c.table_name
     WHERE c.table_schema = $1 ORDER BY c.table_name, c.ordinal_position`,
    [schema],
  );
  const columns = new Map<string, string[]>();
  for (const { table, column } of rows) columns.set(table, [...(columns.get(table) ?? []), column]);
  return columns;
}
