/** Implements `Database` on PostgreSQL: a world is a schema, a write is a transaction, and several processes can share the database. */

import type { OnProgress } from "../database.ts";
import { type Database, type FeatureMigrations, MOVED_AWAY, type Reader, runAction, type SavedState, type Transaction } from "../database.ts";
import { DatabaseHealth } from "../database-health.ts";
import { keysOf } from "../migrator.ts";
import { type Row, type Sql, sql } from "../sql.ts";
import { rollback } from "./ends.ts";
import { FactChannel } from "./fact-channel.ts";
import { isConnectionFailure, isRetryable, isStalePlan, isTimeout, isUndefinedTable, problemKindOf, translated, WorldMoved } from "./failures.ts";
import { Groups, Undone } from "./groups.ts";
import { confirmMigrations, migratePostgres } from "./migrations.ts";
import { Pool, type PoolConnection, type PoolLimits } from "./pool.ts";
import { PostgresStates } from "./saved-states.ts";
import { Server } from "./server.ts";
import { Cluster } from "./watches/cluster.ts";

export interface PostgresOptions {
  /** The address `postgres://user:password@host:port,host:port/database`, with libpq's parameters (e.g. `sslmode`) as query. */
  readonly url: string;
  /** The world's schema, which is created if it does not exist. */
  readonly schema: string;
  readonly migrations: readonly FeatureMigrations[];
  /**
   * Limits for the connections of the pool, which are opened on demand. The server's dedicated connection does not count towards the limits of the
   * pool.
   */
  readonly limits?: Partial<PoolLimits>;
  /** The object that collects the problems of the database. If `health` is left out, the problems are not reported. */
  readonly health?: DatabaseHealth;
  /** The version of this program, which is stored so that other processes can read it. */
  readonly version?: string;
  readonly onProgress?: OnProgress | undefined;
  /** The migrations that this program contains, each as `feature/name`. The default of this option is the list of the schema's migrations. */
  readonly knows?: readonly string[];
  /** The cluster of this process, if the process already uses other databases of the cluster. */
  readonly cluster?: Cluster;
  /** The database calls this function when it is closed. */
  onClosed?(): Promise<void> | undefined;
}

/**
 * The maximum number of attempts if PostgreSQL rolls back a transaction because of a conflict. The number is small, because the conflicting
 * transactions end between two attempts.
 */
const ATTEMPTS_MAX = 5;
/** PostgreSQL's limit for a name, in bytes; the pattern also excludes quotes. */
const SCHEMA = /^[A-Za-z_][A-Za-z0-9_-]{0,62}$/;

/**
 * Opens a world's database. Throws `databaseUnreachable`, `WrongAddress`, `UnknownMigration`, `MigrationFailed`, and PostgreSQL's own errors (a wrong
 * password, a missing right).
 */
export async function openPostgres({
  url,
  schema,
  migrations,
  limits,
  health = new DatabaseHealth(),
  version = "unknown",
  onProgress,
  knows = keysOf(migrations),
  cluster = new Cluster(health),
  onClosed,
}: PostgresOptions): Promise<PostgresDatabase> {
  if (!SCHEMA.test(schema)) throw new RangeError(`not a schema name: ${schema}`);
  const server = new Server(url, schema, cluster);
  try {
    await migratePostgres(server, migrations, { first: (client) => server.refuseSharedSessions(client), onProgress });
    const pool = new Pool(server, limits);
    health.addPool(() => pool.report());
    const database = new PostgresDatabase({
      schema,
      pool,
      migrations,
      health,
      end: async () => void (await Promise.all([pool.end(), onClosed?.()])),
    });
    database.channel = await FactChannel.open(server, database.emit, health, { version, knows });
    await server
      .session((client) => confirmMigrations(client, schema, migrations))
      .catch(async (error: unknown) => {
        await database.close();
        throw error;
      });
    return database;
  } catch (error) {
    throw translated(error);
  }
}

/**
 * The code that uses a connection calls this function with true before an action that must not happen twice, and with false if the action did not
 * happen after all.
 */
type Started = (is: boolean) => void;

interface DatabaseParts {
  readonly schema: string;
  readonly pool: Pool;
  readonly migrations: readonly FeatureMigrations[];
  readonly health: DatabaseHealth;
  /** Returns the process number. The function `processNumber` is set if another database of this process has the fact channel. */
  processNumber?(): number;
  /** Confirms the cached facts. The function `confirm` is set if another database of this process has the fact channel. */
  confirm?(): void;
  /** Whether the world can be moved to another server, even while this process has the world open (D-421). */
  readonly isMovable?: boolean;
  /** This function is called when the database is closed. */
  end(): Promise<void>;
}

export class PostgresDatabase implements Database {
  readonly dialect = "postgres";
  readonly reader: Reader;
  readonly schema: string;
  readonly #states: PostgresStates;
  readonly #pool: Pool;
  readonly #groups: Groups;
  readonly #health: DatabaseHealth;
  readonly #end: () => Promise<void>;
  readonly #processNumber: () => number;
  readonly #confirm: () => void;
  readonly #isMovable: boolean;
  readonly #listeners = new Set<(kind: string | undefined, key: string | undefined) => void>();
  /** The channel for changed facts; undefined if another database of this process has the channel. */
  channel: FactChannel | undefined;
  #running = 0;
  #whenIdle: (() => void)[] = [];
  #closing: Promise<void> | undefined;

  constructor({ schema, pool, migrations, health, end, processNumber = () => 0, confirm = () => {}, isMovable = false }: DatabaseParts) {
    this.schema = schema;
    this.#states = new PostgresStates(schema, migrations, (isolation, work) => this.#together(isolation, work));
    this.#pool = pool;
    this.#health = health;
    this.#groups = new Groups(pool, schema, this.emit);
    this.#end = end;
    this.#processNumber = processNumber;
    this.#confirm = confirm;
    this.#isMovable = isMovable;
    this.reader = {
      get: async <R extends Row>(statement: Sql) => (await this.#read<R>(statement))[0],
      all: <R extends Row>(statement: Sql) => this.#read<R>(statement),
    };
  }

  get processNumber(): number {
    return this.channel?.processNumber ?? this.#processNumber();
  }

  write<T>(body: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#run(async () => {
      for (let attempt = 1; ; ) {
        try {
          // The body of a write has effects only through its `tx`, so the body can run again in its own transaction.
          const result = await this.#groups.run(body, attempt > 1);
          this.#health.worked(true);
          return result;
        } catch (error) {
          const isUndone = error instanceof Undone;
          if (attempt === ATTEMPTS_MAX || !(isUndone || isRetryable(error))) throw error;
          // A run of the body on a dead connection does not count as an attempt.
          if (!isUndone || !error.wasStale) attempt++;
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
        // PostgreSQL takes the snapshot at the first statement.
        await connection.query(probe);
        started(true);
        try {
          return await body({ get: async <R extends Row>(statement: Sql) => (await read<R>(statement))[0], all: read });
        } finally {
          isOpen = false;
          await rollback(connection);
        }
      }),
    );
  }

  onInvalidate(listener: (kind: string | undefined, key: string | undefined) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  confirm(): void {
    if (this.channel === undefined) this.#confirm();
    else this.channel.confirm();
  }

  async ping(): Promise<void> {
    await this.reader.get(probe);
  }

  async scrub(): Promise<void> {}

  saveState(name: string): Promise<void> {
    return this.#states.save(name);
  }

  async restoreState(name: string | undefined): Promise<boolean> {
    const isDone = await this.#states.restore(name);
    if (isDone) this.emit(undefined, undefined);
    return isDone;
  }

  listStates(): Promise<readonly SavedState[]> {
    return this.#states.list(this.reader);
  }

  deleteState(name: string): Promise<boolean> {
    return this.#states.delete(name);
  }

  /** Runs a transaction over all tables of the world, and repeats the transaction after a deadlock. */
  #together<T>(isolation: string, work: (connection: PoolConnection) => Promise<T>): Promise<T> {
    return this.#run(async () => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await this.#onConnection(async (connection) => {
            await connection.execute(`BEGIN ISOLATION LEVEL ${isolation} READ WRITE`);
            try {
              const result = await work(connection);
              await connection.execute("COMMIT");
              return result;
            } catch (error) {
              await rollback(connection);
              throw error;
            }
          });
        } catch (error) {
          if (attempt === ATTEMPTS_MAX || !isRetryable(error)) throw error;
        }
      }
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #read<R extends Row>(statement: Sql): Promise<R[]> {
    return this.#run(() => this.#onConnection(async (connection) => (await connection.query<R>(statement)).rows)).then((rows) => {
      this.#health.worked(false);
      return rows;
    });
  }

  /**
   * Lends a connection to `use`. If the connection has died since its last use, `use` runs again on another connection, unless it has `started` an
   * action that must not happen twice.
   */
  async #onConnection<T>(use: (connection: PoolConnection, started: Started) => Promise<T>): Promise<T> {
    for (;;) {
      const connection = await this.#pool.acquire(this.schema);
      let isStarted = false;
      try {
        return await use(connection, (is) => {
          isStarted = is;
        });
      } catch (error) {
        const isFailure = isConnectionFailure(error) || isStalePlan(error);
        if (isFailure) connection.isBroken = true;
        // The loop closes each broken connection that was used before, so it ends with the first new connection at the latest.
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
      const kind = problemKindOf(error);
      if (kind !== undefined) this.#health.failed(kind, error);
      if (this.#isMovable && isUndefinedTable(error) && (await this.#isGone())) {
        this.emit(MOVED_AWAY, this.schema);
        throw translated(new WorldMoved(this.schema));
      }
      throw translated(error);
    } finally {
      if (--this.#running === 0) for (const resolve of this.#whenIdle.splice(0)) resolve();
    }
  }

  async #isGone(): Promise<boolean> {
    const find = sql`SELECT 1 AS one FROM pg_namespace WHERE nspname = ${this.schema}`;
    return (await this.#onConnection((connection) => connection.query(find))).rows.length === 0;
  }

  /** Reports to the listeners a fact that this process or another process changed. */
  readonly emit = (kind: string | undefined, key: string | undefined): void => {
    for (const listener of this.#listeners) runAction(() => listener(kind, key));
  };

  async #close(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
    await Promise.all([this.channel?.close(), this.#end()]);
  }
}

const probe = sql`SELECT 1 AS one`;
