/**
 * The worlds of a server on PostgreSQL; each world is a schema. The first world has its own connections to PostgreSQL. All other worlds share a
 * connection pool, and the process learns about their changes through the first world's channel, because a PostgreSQL server has only about a hundred
 * connections for all its users.
 */
import type { Client } from "pg";
import { databaseUnreachable } from "#kernel/errors";
import type { Database, Databases, FeatureMigrations, Program, Reader } from "../database.ts";
import { DatabaseHealth } from "../database-health.ts";
import { keysOf } from "../migrator.ts";
import { translated, translating } from "./failures.ts";
import { migratePostgres, pendingOnPostgres } from "./migrations.ts";
import { dropSchema } from "./moves/move-schema.ts";
import { openPostgres, PostgresDatabase } from "./open.ts";
import { Pool } from "./pool.ts";
import { Server } from "./server.ts";
import { lockKey } from "./transaction.ts";
import { Cluster } from "./watches/cluster.ts";

/** The time limit for the response to a request for an advisory lock. PostgreSQL responds at once, because the request never waits for the lock. */
const LOCK_MS_MAX = 5_000;

const schemaOf = (world: string): string => `plaza_${world}`;
/** The schema for the server's own data in a database that does not have the first world. No world can have the name of this schema. */
export const HOME = "plaza";

export class PostgresDatabases implements Databases {
  readonly #url: string;
  readonly #migrations: readonly FeatureMigrations[];
  readonly #program: Program;
  readonly #cluster: Cluster;
  #first: PostgresDatabase | undefined;
  #shared: Pool | undefined;
  /** The worlds that this process is creating. `#making` is the session that has the locks for the worlds that this process is creating. */
  readonly #made = new Set<string>();
  #making: Promise<Client> | undefined;
  #lastAsked: Promise<unknown> = Promise.resolve();
  #lastRemoved: Promise<unknown> = Promise.resolve();
  readonly #onClosed: (() => Promise<void>) | undefined;
  readonly spread = [];

  /** If the server has several databases, the object calls `onClosed` when the first world of its database is closed. */
  constructor(url: string, migrations: readonly FeatureMigrations[], program: Program = {}, onClosed?: () => Promise<void>) {
    this.#url = url;
    this.#program = program;
    this.#cluster = new Cluster(program.health ?? new DatabaseHealth());
    this.#migrations = migrations;
    this.#onClosed = onClosed;
  }

  /** Whether the channel for facts of this process is connected. */
  get isUp(): boolean {
    return this.#first?.channel?.isConnected === true;
  }

  /** Whether the first world is open. */
  get isOpen(): boolean {
    return this.#first !== undefined;
  }

  async ping(): Promise<void> {
    if (this.#first === undefined) throw databaseUnreachable();
    await this.#first.ping();
  }

  /**
   * Opens the schema `plaza`, which has the channel and the process numbers of a database without the first world. Like a first world, the schema
   * `plaza` must be closed after all worlds of its database. `migrations` are the migrations of the schema `plaza`.
   */
  async openHome(migrations: readonly FeatureMigrations[]): Promise<Database> {
    this.#first = await openPostgres({
      ...{ url: this.#url, schema: HOME, migrations, knows: keysOf(this.#migrations), ...this.#program, cluster: this.#cluster },
      onClosed: () => this.#shared?.end(),
    });
    return this.#first;
  }

  /** Returns a server for the world's schema. The caller uses the returned server for work that needs its own sessions. */
  serverOf(world: string): Server {
    return new Server(this.#url, schemaOf(world), this.#cluster);
  }

  /** The schema in whose tables the running processes register themselves. */
  get leases(): string {
    if (this.#first === undefined) throw databaseUnreachable();
    return this.#first.schema;
  }

  /** Opens a world. The world that was opened first must be closed last, because the other worlds use the channel of the first one. */
  async open(world: string): Promise<Database> {
    if (this.#first === undefined) {
      this.#first = await openPostgres({
        ...{ url: this.#url, schema: schemaOf(world), migrations: this.#migrations, ...this.#program, cluster: this.#cluster },
        onClosed: async () => void (await Promise.all([this.#shared?.end(), this.#onClosed?.()])),
      });
      return this.#first;
    }
    return translating(this.#openFurther(this.#first, this.serverOf(world)));
  }

  async look<T>(world: string, read: (reader: Reader) => Promise<T>): Promise<T> {
    if (this.#first === undefined) throw new Error("the first world is closed");
    return read(this.#further(this.#first, this.serverOf(world)).reader);
  }

  async #openFurther(first: PostgresDatabase, server: Server): Promise<Database> {
    const database = this.#further(first, server);
    await migratePostgres(server, this.#migrations, {
      ...{ leases: first.schema, onProgress: this.#program.onProgress, refusesMoved: this.#onClosed !== undefined },
    });
    await first.channel?.follow(server.schema, database.emit);
    return database;
  }

  /** Returns the database of a world other than the first one. All worlds other than the first one share one pool of connections. */
  #further(first: PostgresDatabase, server: Server): PostgresDatabase {
    const { health = new DatabaseHealth(), limits } = this.#program;
    if (this.#shared === undefined) {
      const shared = new Pool(server, limits);
      this.#shared = shared;
      health.addPool(() => shared.report());
    }
    const { schema } = server;
    return new PostgresDatabase({
      ...{ schema, pool: this.#shared, migrations: this.#migrations, health },
      processNumber: () => first.processNumber,
      confirm: () => first.confirm(),
      isMovable: this.#onClosed !== undefined,
      end: async () => first.channel?.leave(schema),
    });
  }

  /**
   * Runs `make` under an advisory lock, which PostgreSQL releases if the process ends. All creations that run at the same time use one session,
   * because connections are scarce.
   */
  async making<T>(world: string, make: () => Promise<T>): Promise<T | undefined> {
    // PostgreSQL lets a session take its own lock a second time, so this process first checks its own list of the worlds that it is creating.
    if (this.#made.has(world)) return undefined;
    this.#made.add(world);
    try {
      this.#making ??= this.serverOf(world).connect({ query_timeout: LOCK_MS_MAX });
      const session = await this.#making;
      const key = lockKey(schemaOf(world), "making");
      if (!(await this.#asked(session, "SELECT pg_try_advisory_lock($1) AS is_done", key))) return undefined;
      return await make().finally(() => this.#asked(session, "SELECT pg_advisory_unlock($1) AS is_done", key).catch(() => {}));
    } catch (error) {
      throw translated(error);
    } finally {
      this.#made.delete(world);
      if (this.#made.size === 0) {
        const ending = this.#making;
        this.#making = undefined;
        await ending?.then((session) => session.end()).catch(() => {});
      }
    }
  }

  /** Runs the query `text` on the session that all creations share; the queries of this session run one after another. */
  #asked(session: Client, text: string, key: string): Promise<boolean> {
    const result = this.#lastAsked.then(() => session.query<{ is_done: number }>(text, [key]));
    this.#lastAsked = result.catch(() => {});
    return result.then(({ rows }) => rows[0]?.is_done === 1);
  }

  async names(): Promise<string[]> {
    const find = (client: Client) =>
      client.query<{ name: string }>(
        `SELECT CAST(n.nspname AS TEXT) AS name FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = 'migrations'
         WHERE n.nspname LIKE 'plaza\\_%' ORDER BY n.nspname`,
      );
    const { rows } = await translating(this.serverOf("default").session(find));
    return rows.map(({ name }) => name.slice(schemaOf("").length));
  }

  pending(world: string): Promise<string[] | undefined> {
    return translating(this.serverOf(world).session((client) => pendingOnPostgres(client, schemaOf(world), this.#migrations)));
  }

  /** Worlds are removed one after the other, because each removal locks all tables and indexes of a world, and PostgreSQL has few locks. */
  remove(world: string): Promise<void> {
    const removed = this.#lastRemoved.then(() => translating(dropSchema(this.serverOf(world), schemaOf(world))));
    this.#lastRemoved = removed.catch(() => {});
    return removed;
  }
}
