/**
 * The worlds of a server on PostgreSQL, a schema each. The first has connections of its own. The others share some, and hear of changes by the
 * first one's connection for that, because a server of PostgreSQL has some hundred connections for everybody.
 */
import type { Database, Databases, FeatureMigrations } from "../database.ts";
import { translated } from "./failures.ts";
import { lockKey } from "./lock-key.ts";
import { migratePostgres } from "./migrations.ts";
import { openPostgres, PostgresDatabase } from "./open.ts";
import { Pool } from "./pool.ts";
import { Server } from "./server.ts";

/** As many as the first world has. */
const SHARED_CONNECTIONS_MAX = 8;

const schemaOf = (world: string): string => `plaza_${world}`;

export class PostgresDatabases implements Databases {
  readonly #url: string;
  readonly #migrations: readonly FeatureMigrations[];
  #first: PostgresDatabase | undefined;
  #shared: Pool | undefined;

  constructor(url: string, migrations: readonly FeatureMigrations[]) {
    this.#url = url;
    this.#migrations = migrations;
  }

  /** The first one that is opened is closed last. */
  async open(world: string): Promise<Database> {
    if (this.#first === undefined) {
      const url = this.#url;
      this.#first = await openPostgres({ url, schema: schemaOf(world), migrations: this.#migrations, onClosed: () => this.#shared?.end() });
      return this.#first;
    }
    return this.#openFurther(this.#first, schemaOf(world));
  }

  async #openFurther(first: PostgresDatabase, schema: string): Promise<Database> {
    const { channel } = first;
    const server = new Server(this.#url, schema);
    this.#shared ??= new Pool(server, SHARED_CONNECTIONS_MAX);
    try {
      await migratePostgres(server, this.#migrations);
      const database = new PostgresDatabase({
        ...{ schema, pool: this.#shared, migrations: this.#migrations },
        processNumber: () => first.processNumber,
        confirm: () => first.confirm(),
        end: async () => channel?.leave(schema),
      });
      await channel?.follow(schema, database.emit);
      return database;
    } catch (error) {
      throw translated(error);
    }
  }

  rest(_world: string, database: Database): Promise<void> {
    return database.close();
  }

  /** Under an advisory lock of a session for this alone: it ends with the process. */
  async making<T>(world: string, make: () => Promise<T>): Promise<T | undefined> {
    const schema = schemaOf(world);
    const client = await new Server(this.#url, schema).connect().catch((error: unknown) => {
      throw translated(error);
    });
    try {
      const { rows } = await client.query<{ is_free: number }>("SELECT pg_try_advisory_lock($1) AS is_free", [lockKey(schema, "making")]);
      return rows[0]?.is_free === 1 ? await make() : undefined;
    } finally {
      await client.end().catch(() => {});
    }
  }

  async remove(world: string): Promise<void> {
    const schema = schemaOf(world);
    try {
      const client = await new Server(this.#url, schema).connect();
      try {
        await client.query(`BEGIN READ WRITE; DROP SCHEMA IF EXISTS "${schema}" CASCADE; COMMIT`);
      } finally {
        await client.end().catch(() => {});
      }
    } catch (error) {
      throw translated(error);
    }
  }
}
