/**
 * The worlds of a server on several PostgreSQL clusters (D-420). The first cluster contains the first world, which contains the list of worlds and
 * the control keys. Each further cluster has the schema `plaza`, which has the channel for facts and the process numbers of this cluster, so that no
 * cluster needs another cluster while it serves its worlds.
 *
 * **Invariant:** while a cluster cannot be reached, the server refuses requests only for the worlds of this cluster. The server serves the cluster's
 * worlds again as soon as its channel is connected again.
 */
import { databaseUnreachable } from "#kernel/errors";
import type { Database, Databases, FeatureMigrations, NamedDatabase, Program, Reader, SpreadDatabase } from "../database.ts";
import { DatabaseHealth } from "../database-health.ts";
import { sql } from "../sql.ts";
import { HOME, PostgresDatabases } from "./databases.ts";
import { problemKindOf, translating } from "./failures.ts";
import { hasSchema, movedSchema } from "./migrations.ts";
import { dropSchema, forgetMoved, hasMoved, moveSchema } from "./moves/move-schema.ts";
import { WrongAddress } from "./server.ts";

/** The name of the first world, which only the first cluster has. */
const DEFAULT = "default";
/** The time between two attempts to open a cluster that could not be reached at the start of the process. */
const RETRY_MS = 500;

/**
 * The schema `plaza` stores the cluster's name. If somebody exchanges two addresses of `--databases`, the server detects the exchange by the stored
 * name before it serves a world from the wrong cluster.
 */
const homeMigrations: readonly FeatureMigrations[] = [
  { feature: "clusters", migrations: [{ name: "names", statements: ["CREATE TABLE cluster_names (name TEXT PRIMARY KEY) WITHOUT ROWID"] }] },
];

/** A cluster other than the first one, with the state of this process's connection to it. */
class FurtherCluster implements SpreadDatabase {
  readonly name: string;
  readonly databases: PostgresDatabases;
  readonly #health: DatabaseHealth;
  #home: Database | undefined;
  #opening: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor({ name, url }: NamedDatabase, migrations: readonly FeatureMigrations[], program: Program, health: DatabaseHealth) {
    this.name = name;
    this.#health = health;
    this.databases = new PostgresDatabases(url, migrations, { ...program, health }, async () => {});
  }

  get isUp(): boolean {
    return this.databases.isUp;
  }

  ping(): Promise<void> {
    return this.databases.ping();
  }

  /** Returns the databases of this cluster. Throws `databaseUnreachable` at once while the cluster cannot be reached. */
  get reached(): PostgresDatabases {
    if (!this.isUp) throw databaseUnreachable();
    return this.databases;
  }

  /**
   * Connects to the cluster. If the connection fails, the process tries again until it is connected to the cluster or ends. Rejects with
   * `WrongAddress`.
   */
  open(): Promise<void> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(): Promise<void> {
    try {
      this.#home = await this.databases.openHome(homeMigrations);
      await this.#requireName(this.#home);
      if (this.#isClosed) await this.#home.close();
    } catch (error) {
      if (error instanceof WrongAddress) {
        await this.#home?.close();
        throw error;
      }
      const cause = error instanceof Error ? (error.cause ?? error) : error;
      this.#health.failed(problemKindOf(cause) ?? "unreachable", cause);
      if (this.#isClosed) return;
      // A timer repeats the attempt, because requests do not wait for a cluster that cannot be reached. The timer does not keep the program running.
      this.#timer = setTimeout(() => {
        this.open().catch((wrong: unknown) => this.#health.failed("unreachable", wrong));
      }, RETRY_MS);
      this.#timer.unref();
    }
  }

  async #requireName(home: Database): Promise<void> {
    const known = await home.write(async (tx) => {
      await tx.lock("cluster_names", "");
      const row = await tx.get<{ name: string }>(sql`SELECT c.name FROM cluster_names c`);
      if (row === undefined) await tx.runOne(sql`INSERT INTO cluster_names (name) VALUES (${this.name})`);
      return row?.name ?? this.name;
    });
    if (known !== this.name)
      throw new WrongAddress(`--databases has the new name ${this.name} for the database ${known}: change the name back to ${known}`);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#opening?.catch(() => {});
    clearTimeout(this.#timer);
    await this.#home?.close();
  }
}

export class PostgresClusters implements Databases {
  readonly #migrations: readonly FeatureMigrations[];
  readonly #first: PostgresDatabases;
  readonly #further: readonly FurtherCluster[];
  readonly spread: readonly SpreadDatabase[];

  /** `databases` has at least one element. */
  constructor(databases: readonly NamedDatabase[], migrations: readonly FeatureMigrations[], program: Program) {
    const { health = new DatabaseHealth() } = program;
    const [first, ...further] = databases as [NamedDatabase, ...NamedDatabase[]];
    this.#migrations = migrations;
    this.#further = further.map((one) => new FurtherCluster(one, migrations, program, health.of(one.name)));
    const closeFurther = async () => void (await Promise.all(this.#further.map((one) => one.close())));
    const ofFirst = new PostgresDatabases(first.url, migrations, { ...program, health: health.of(first.name) }, closeFurther);
    this.#first = ofFirst;
    const firstOfAll = {
      name: first.name,
      get isUp() {
        return ofFirst.isUp;
      },
      ping: () => ofFirst.ping(),
    };
    this.spread = [firstOfAll, ...this.#further];
  }

  /** Opens a world. When the first world is opened, this process connects to all clusters of the server. */
  async open(world: string, at?: string): Promise<Database> {
    return this.#first.isOpen ? this.#at(at).open(world) : translating(this.#openFirst(world));
  }

  async #openFirst(world: string): Promise<Database> {
    await this.#refuseExchanged();
    const database = await this.#first.open(world);
    try {
      await Promise.all(this.#further.map((one) => one.open()));
    } catch (error) {
      await database.close();
      throw error;
    }
    return database;
  }

  /**
   * Throws `WrongAddress` before anything is created, if the first cluster was not the first cluster before, or if a further cluster contains a first
   * world.
   */
  async #refuseExchanged(): Promise<void> {
    const has = (databases: PostgresDatabases, schema: string) => databases.serverOf(DEFAULT).session((client) => hasSchema(client, schema));
    if (await has(this.#first, HOME))
      throw new WrongAddress("another database was the first in --databases before: put the database with the list of worlds first again");
    // A cluster that cannot be reached at the start is opened later, and its name is checked when it is opened.
    for (const { name, databases } of this.#further)
      if (await has(databases, databases.serverOf(DEFAULT).schema).catch(() => false))
        throw new WrongAddress(
          `the database ${name} of --databases contains a first world: put ${name} first in --databases, or use an empty database`,
        );
  }

  async look<T>(world: string, read: (reader: Reader) => Promise<T>, at?: string): Promise<T> {
    return this.#at(at).look(world, read);
  }

  async names(at?: string): Promise<string[]> {
    return this.#named(at).names();
  }

  pending(world: string, at?: string): Promise<string[] | undefined> {
    return this.#named(at).pending(world);
  }

  async remove(world: string, at?: string): Promise<void> {
    const databases = this.#at(at);
    await databases.remove(world);
    await translating(dropSchema(databases.serverOf(world), movedSchema(databases.serverOf(world).schema)));
  }

  making<T>(world: string, make: () => Promise<T>): Promise<T | undefined> {
    return this.#first.making(world, make);
  }

  async move(world: string, from: string, to: string): Promise<void> {
    const [old, target] = [this.#at(from), this.#at(to)];
    await translating(
      moveSchema({
        ...{ from: old.serverOf(world), to: target.serverOf(world), migrations: this.#migrations },
        leases: { from: old.leases, to: target.leases },
      }),
    );
  }

  async hasMoved(world: string, from: string): Promise<boolean> {
    return translating(hasMoved(this.#at(from).serverOf(world)));
  }

  async forgetMoved(world: string, from: string): Promise<void> {
    await translating(forgetMoved(this.#at(from).serverOf(world)));
  }

  /** Returns the databases of a cluster that this process is connected to. Throws `databaseUnreachable` while the cluster cannot be reached. */
  #at(name: string | undefined): PostgresDatabases {
    return this.#isFirst(name) ? this.#first : this.#furtherOf(name).reached;
  }

  #named(name: string | undefined): PostgresDatabases {
    return this.#isFirst(name) ? this.#first : this.#furtherOf(name).databases;
  }

  #isFirst(name: string | undefined): boolean {
    return name === undefined || name === this.spread[0]?.name;
  }

  #furtherOf(name: string | undefined): FurtherCluster {
    const found = this.#further.find((one) => one.name === name);
    if (found === undefined)
      throw Object.assign(databaseUnreachable(), { cause: new Error(`--databases does not contain the database ${name}: add ${name}=postgres://…`) });
    return found;
  }
}
