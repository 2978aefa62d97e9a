/** PostgreSQL as a `Database`: a world is a schema, a write is a transaction, any number of processes take part. */
import type { ClientConfig } from "pg";
import { runAction } from "../after-commit.ts";
import type { Database, FeatureMigrations, Reader, Transaction } from "../database.ts";
import { type Row, type Sql, sql } from "../sql.ts";
import { FactChannel } from "./fact-channel.ts";
import { isConnectionFailure, isRetryable, isStalePlan, isTimeout, translated } from "./failures.ts";
import { migratePostgres } from "./migrations.ts";
import { Pool, type PoolConnection } from "./pool.ts";
import { PostgresTransaction } from "./transaction.ts";
import { rowTypes } from "./values.ts";

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with libpq's parameters (`sslmode` and the like) as query. */
  readonly url: string;
  /** Made when missing. */
  readonly schema: string;
  readonly migrations: readonly FeatureMigrations[];
  /** Connections at most, beside the dedicated one; they are opened when needed. */
  readonly poolSize?: number;
}

/** As many as a process of one core keeps busy; ten processes fit into the server's default of 100. */
const POOL_SIZE = 8;
/** As long as a connection is waited for. */
const CONNECT_MS_MAX = 5_000;
/** A statement of a request takes milliseconds; this is for a network that swallows packets, and for waits at a lock. */
const STATEMENT_MS_MAX = 30_000;
/** Attempts at a transaction that PostgreSQL undoes for a conflict. Those it conflicted with are through by then. */
const ATTEMPTS_MAX = 5;
/** PostgreSQL's limit for a name, in bytes; also keeps quotes out. */
const SCHEMA = /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/;

/** Errors: `databaseUnreachable`, `UnknownMigration`, `MigrationFailed`, and PostgreSQL's own (a wrong password, a missing right). */
export async function openPostgres({ url, schema, migrations, poolSize = POOL_SIZE }: PostgresOptions): Promise<Database> {
  if (!SCHEMA.test(schema)) throw new RangeError(`not a schema name: ${schema}`);
  const config = configOf(url, schema);
  try {
    await migratePostgres(config, schema, migrations);
    const database = new PostgresDatabase(config, schema, poolSize);
    await database.listen();
    return database;
  } catch (error) {
    throw translated(error);
  }
}

function configOf(url: string, schema: string): ClientConfig {
  // What the address says wins over the rest of the config, so its own options are taken out and put together with these.
  const [address = "", query = ""] = url.split("?", 2);
  const parameters = new URLSearchParams(query);
  const options = parameters.get("options") ?? "";
  parameters.delete("options");
  return {
    connectionString: parameters.size === 0 ? address : `${address}?${parameters}`,
    application_name: "plaza",
    connectionTimeoutMillis: CONNECT_MS_MAX,
    keepAlive: true,
    types: rowTypes,
    // Statements outside a write only read: what forgot its transaction is refused, as on SQLite's reading connection.
    options: `${options} -c search_path="${schema}" -c default_transaction_read_only=on`,
  };
}

class PostgresDatabase implements Database {
  readonly dialect = "postgres";
  readonly reader: Reader;
  readonly #config: ClientConfig;
  readonly #schema: string;
  readonly #pool: Pool;
  readonly #listeners: ((kind: string | undefined, key: string | undefined) => void)[] = [];
  #channel: FactChannel | undefined;
  #running = 0;
  #whenIdle: (() => void)[] = [];
  #closing: Promise<void> | undefined;

  constructor(config: ClientConfig, schema: string, poolSize: number) {
    this.#config = config;
    this.#schema = schema;
    this.#pool = new Pool({ ...config, query_timeout: STATEMENT_MS_MAX, pipeline: true }, poolSize);
    this.reader = {
      get: async <R extends Row>(statement: Sql) => (await this.#read<R>(statement))[0],
      all: <R extends Row>(statement: Sql) => this.#read<R>(statement),
    };
  }

  async listen(): Promise<void> {
    this.#channel = await FactChannel.open({ ...this.#config, query_timeout: CONNECT_MS_MAX }, this.#schema, (kind, key) => this.#emit(kind, key));
  }

  get processNumber(): number {
    return this.#channel?.processNumber ?? 0;
  }

  write<T>(body: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#run(async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.#onConnection((connection, started) => this.#attempt(connection, body, started));
        } catch (error) {
          // Bodies are pure but for their tx, so one that was undone may run again.
          if (attempt === ATTEMPTS_MAX || !isRetryable(error)) throw error;
        }
      }
    });
  }

  snapshot<T>(body: (reader: Reader) => Promise<T>): Promise<T> {
    return this.#run(() =>
      this.#onConnection(async (connection, started) => {
        let isOpen = true;
        const read = async <R extends Row>(statement: Sql) => {
          if (!isOpen) throw new Error("a snapshot was used after its body had ended");
          return (await connection.query<R>(statement)).rows;
        };
        await connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
        // The first statement fixes the moment.
        await connection.query(probe);
        started();
        try {
          return await body({ get: async <R extends Row>(statement: Sql) => (await read<R>(statement))[0], all: read });
        } finally {
          isOpen = false;
          await rollback(connection);
        }
      }),
    );
  }

  onInvalidate(listener: (kind: string | undefined, key: string | undefined) => void): void {
    this.#listeners.push(listener);
  }

  async ping(): Promise<void> {
    await this.reader.get(probe);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #read<R extends Row>(statement: Sql): Promise<R[]> {
    return this.#run(() => this.#onConnection(async (connection) => (await connection.query<R>(statement)).rows));
  }

  async #attempt<T>(connection: PoolConnection, body: (tx: Transaction) => Promise<T>, started: () => void): Promise<T> {
    const transaction = new PostgresTransaction(connection, this.#schema);
    // Travels together with the first statement of the body; a failure shows there, or at COMMIT.
    connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE").catch((error) => {
      transaction.failure ??= error;
    });
    let result: T;
    try {
      result = await body(transaction);
      transaction.end();
      if (transaction.failure !== undefined) throw transaction.failure;
    } catch (error) {
      transaction.end();
      await rollback(connection);
      // What PostgreSQL's trouble was counts, not what the body made of it.
      throw isTransient(transaction.failure) ? transaction.failure : error;
    }
    // When the connection breaks from here on, nobody knows whether the write is stored: it is not repeated.
    started();
    await commit(connection, transaction);
    for (const [kind, key] of transaction.facts) this.#emit(kind, key);
    for (const action of transaction.actions) runAction(action);
    return result;
  }

  /**
   * Lends a connection to `use`. One that has died unseen since its last request is replaced, unless `use` has `started`
   * something that must not be done twice.
   */
  async #onConnection<T>(use: (connection: PoolConnection, started: () => void) => Promise<T>): Promise<T> {
    for (;;) {
      const connection = await this.#pool.acquire();
      let isStarted = false;
      try {
        return await use(connection, () => {
          isStarted = true;
        });
      } catch (error) {
        const isFailure = isConnectionFailure(error) || isStalePlan(error);
        if (isFailure) connection.isBroken = true;
        // A used connection never comes back from this, so the loop ends with the first new one.
        if (isFailure && connection.wasUsed && !isStarted && !isTimeout(error)) continue;
        throw error;
      } finally {
        this.#pool.release(connection);
      }
    }
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw new Error("the database is closed");
    this.#running++;
    try {
      return await work();
    } catch (error) {
      throw translated(error);
    } finally {
      if (--this.#running === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
    }
  }

  #emit(kind: string | undefined, key: string | undefined): void {
    for (const listener of this.#listeners) runAction(() => listener(kind, key));
  }

  async #close(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
    await Promise.all([this.#channel?.close(), this.#pool.end()]);
  }
}

const probe = sql`SELECT 1 AS one`;

const isTransient = (error: unknown): boolean => isRetryable(error) || isConnectionFailure(error) || isStalePlan(error);

async function rollback(connection: PoolConnection): Promise<void> {
  try {
    await connection.execute("ROLLBACK");
  } catch {
    // The server undoes what an ended connection left open.
    connection.isBroken = true;
  }
}

/** A statement that failed unseen by the body shows here: PostgreSQL answers COMMIT with ROLLBACK. */
async function commit(connection: PoolConnection, transaction: PostgresTransaction): Promise<void> {
  const announced = transaction.facts.length > 0 ? transaction.announceFacts() : Promise.resolve();
  // Both travel together; what went wrong with the first is thrown below.
  announced.catch(() => {});
  const { command } = await connection.execute("COMMIT");
  await announced;
  if (command !== "COMMIT") throw transaction.failure ?? new Error("the transaction was rolled back at its commit");
}
