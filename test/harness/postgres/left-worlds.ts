/**
 * Keeps PostgreSQL schemas of finished tests for later tests, with the connections to them. Creating a schema with all its tables takes a quarter of
 * a second, emptying one a few milliseconds, and opening sessions for a test a tenth of a second.
 */
import { Client } from "pg";
import type { Database, FeatureMigrations } from "#storage/database";
import { PostgresDatabases } from "#storage/postgres/databases";

const left: string[] = [];
/** The tables that have rows in a new schema. The rows of these tables stay when a schema is emptied. */
let keptTables: readonly string[] | undefined;

export const leaveSchema = (name: string): void => void left.push(name);

/**
 * Empties a schema of an earlier test and returns its name. Returns undefined if there is no schema of an earlier test, so that a new one is needed.
 */
export async function takeSchema(url: string): Promise<string | undefined> {
  const name = left.pop();
  if (name === undefined || keptTables === undefined) return undefined;
  const kept = keptTables;
  await withClient(url, name, async (client) => {
    const tables = (await tablesOf(client)).filter((table) => !kept.includes(table));
    await client.query(tables.map((table) => `DELETE FROM "${table}"`).join("; "));
  });
  return name;
}

/** Records which tables of a new schema have rows. */
export async function noteNewSchema(url: string, name: string): Promise<void> {
  if (keptTables !== undefined) return;
  await withClient(url, name, async (client) => {
    const filled = (await tablesOf(client)).map((table) => `SELECT '${table}' AS name WHERE EXISTS (SELECT 1 FROM "${table}")`);
    keptTables = (await client.query<{ name: string }>(filled.join(" UNION ALL "))).rows.map((row) => row.name);
  });
}

let databases: Promise<PostgresDatabases> | undefined;

/**
 * Opens a world on the connections that earlier tests have opened, as a server opens its further worlds. To open new connections for each test would
 * take longer than most tests.
 */
export async function openBeside(url: string, name: string, migrations: readonly FeatureMigrations[]): Promise<Database> {
  databases ??= openFirst(url, migrations);
  return (await databases).open(name);
}

async function openFirst(url: string, migrations: readonly FeatureMigrations[]): Promise<PostgresDatabases> {
  const opened = new PostgresDatabases(url, migrations);
  await opened.open(`first_${process.pid}`);
  return opened;
}

/** One connection to each cluster. The connection remembers the tables of the schemas that it has emptied. */
const clients = new Map<string, Promise<Client>>();

let lastUse: Promise<void> = Promise.resolve();

/** Lets only one function at a time use a connection, because a test may open several worlds at once, and each function selects its own schema. */
function withClient(url: string, schema: string, use: (client: Client) => Promise<void>): Promise<void> {
  const turn = lastUse.then(async () => {
    const connecting = clients.get(url) ?? connect(url);
    clients.set(url, connecting);
    const client = await connecting;
    await client.query(`SET search_path TO "plaza_${schema}"`);
    await use(client);
  });
  lastUse = turn.catch(() => {});
  return turn;
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  // When a cluster restarts, it ends the connection.
  client.on("error", () => clients.delete(url));
  await client.connect();
  return client;
}

async function tablesOf(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>("SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1");
  return rows.map(({ name }) => name);
}
