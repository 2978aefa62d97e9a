/** Finds the database of each world on a server with several databases (D-420), and moves worlds from one database to another (D-421). */
import { databaseUnreachable, isUnreachable } from "#kernel/errors";
import type { Database, Databases, Transaction } from "#storage/database";
import { beginMove, countWorldsIn, endMove, findPlace, findPlaceAfter, isOpenAnywhere, lockPlace, type PlaceRow } from "./worlds.store.ts";

/**
 * The longest time for which a request waits while its world is being moved. Clients usually wait longer than this for a response, and moving a small
 * world takes less time.
 */
const WAIT_MS_MAX = 5_000;
/** The interval at which a waiting request or move reads the list of worlds. */
const LOOK_EVERY_MS = 50;
/**
 * The longest time for which a move waits until all processes have closed the world. The wait is longer than the lease of a killed process, and
 * longer than a running delivery.
 */
const CLOSED_WITHIN_MS = 60_000;

interface PlacesOptions {
  readonly databases: Pick<Databases, "spread" | "move" | "hasMoved" | "forgetMoved">;
  /** Returns the database of the server's first world. */
  first(): Database;
  realNowMs(): number;
  /** Closes the world in this process, if this process has it open. */
  close(name: string): Promise<void>;
  /** Announces to all processes that a world begins to move, or that its move has ended. */
  announce(tx: Transaction, change: "moving" | "moved", name: string): void;
}

export class WorldPlaces {
  readonly #options: PlacesOptions;
  /** The last known database of each world. The last known database is used while the list of worlds cannot be reached. */
  readonly #known = new Map<string, string | null>();

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  get #names(): string[] {
    return this.#options.databases.spread.map(({ name }) => name);
  }

  get areMany(): boolean {
    return this.#options.databases.spread.length > 1;
  }

  /** The name of a world's database, from its row in the list of worlds. Undefined on a server with a single database. */
  shown(database: string | null): string | undefined {
    return database ?? this.#names[0];
  }

  /** Whether `database` is one of the databases of the server. */
  has(database: string): boolean {
    return this.#names.includes(database);
  }

  isFirst(database: string | null): boolean {
    return this.shown(database) === this.#names[0];
  }

  note(name: string, database: string | null): void {
    this.#known.set(name, database);
  }

  /** The last known database of the world. Undefined if this process has not yet looked up the world's database. */
  known(name: string): string | null | undefined {
    return this.#known.get(name);
  }

  forget(name: string): void {
    this.#known.delete(name);
  }

  /** Throws an `Error` if a world is in a database that `--databases` does not name. */
  async check(): Promise<void> {
    const named = new Set(this.#names.slice(1));
    let after = "";
    for (;;) {
      const found = await findPlaceAfter(this.#options.first().reader, after);
      if (found?.database == null) return;
      if (!named.has(found.database)) throw new UnknownDatabase(found.name, found.database);
      after = found.database;
    }
  }

  /**
   * Finds the database in which a world must be opened. If the world is being moved, waits for the end of the move. If the list of worlds cannot be
   * reached, the result is the world's last known database, unless that is the first one, which has the list. Rejects with `databaseUnreachable`.
   */
  async find(name: string): Promise<string | null> {
    const endMs = this.#options.realNowMs() + WAIT_MS_MAX;
    try {
      for (;;) {
        const place = await findPlace(this.#options.first().reader, name);
        if (place?.moving_to == null) {
          this.#known.set(name, place?.database ?? null);
          return place?.database ?? null;
        }
        if (this.#options.realNowMs() > endMs) throw Object.assign(databaseUnreachable(), { cause: new Error(`the world ${name} is being moved`) });
        // The wait for a move is a timer, because another process may be moving the world.
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      }
    } catch (error) {
      const known = this.#known.get(name);
      if (known === undefined || this.isFirst(known) || !isUnreachable(error)) throw error;
      return known;
    }
  }

  /**
   * Chooses the database in which a new world is created. A new world gets the database `named`, or else the connected database with the fewest
   * worlds.
   */
  async choose(named: string | undefined): Promise<string | null> {
    if (named !== undefined) return this.isFirst(named) ? null : named;
    const connected = this.#options.databases.spread.filter(({ isUp }) => isUp);
    const counted = await Promise.all(
      connected.map(async ({ name }) => {
        const database = this.isFirst(name) ? null : name;
        return { database, count: await countWorldsIn(this.#options.first().reader, database) };
      }),
    );
    const [fewest] = counted.sort((one, other) => one.count - other.count);
    return fewest?.database ?? null;
  }

  /** Throws `databaseUnreachable` unless this process is connected to the database. */
  requireUp(database: string | null): void {
    const name = this.shown(database);
    if (name !== undefined && this.#options.databases.spread.find((one) => one.name === name)?.isUp !== true) throw databaseUnreachable();
  }

  /**
   * Moves a world. The caller makes sure that no other process moves the world. Returns false if the world does not exist. Rejects if the world could
   * not be moved to the new database.
   */
  async move(name: string, to: string): Promise<boolean> {
    const { first, announce, realNowMs, close } = this.#options;
    const place = await findPlace(first().reader, name);
    if (place === undefined) return false;
    if (place.moving_to === null) {
      if (this.shown(place.database) === to) return true;
      this.requireUp(place.database);
      this.requireUp(to);
    }
    await first().write(async (tx) => {
      await lockPlace(tx, name);
      await beginMove(tx, name, to);
      announce(tx, "moving", name);
    });
    await close(name);
    for (const endMs = realNowMs() + CLOSED_WITHIN_MS; await isOpenAnywhere(first().reader, name, realNowMs()); ) {
      if (realNowMs() > endMs) {
        await this.#end(name, place.database);
        throw new StillOpen(name);
      }
      // The wait for the closing of a world is a timer, because other processes may still have the world open.
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    await this.#carryOut(place, to);
    return true;
  }

  /** Completes the move of a world after the process that began the move has ended. */
  async resume(name: string): Promise<void> {
    const place = await findPlace(this.#options.first().reader, name);
    if (place?.moving_to == null || !this.has(place.moving_to)) return;
    await this.move(name, place.moving_to);
  }

  async #carryOut({ name, database }: PlaceRow, to: string): Promise<void> {
    const { databases } = this.#options;
    const from = this.shown(database) ?? "";
    try {
      await databases.move?.(name, from, to);
    } catch (error) {
      // If the world has already left its old database, or if nobody can find that out now, the move is completed later.
      if ((await databases.hasMoved?.(name, from).catch(() => true)) === false) await this.#end(name, database);
      throw error;
    }
    await databases.forgetMoved?.(name, from);
    await this.#end(name, this.isFirst(to) ? null : to);
  }

  #end(name: string, database: string | null): Promise<void> {
    const { first, announce, realNowMs } = this.#options;
    return first().write(async (tx) => {
      await lockPlace(tx, name);
      await endMove(tx, name, database, realNowMs());
      announce(tx, "moved", name);
    });
  }
}

/** The error if a world is in a database that `--databases` does not name. */
class UnknownDatabase extends Error {
  constructor(world: string, database: string) {
    super(`the world ${world} is in the database ${database}: name it in --databases`);
    this.name = "UnknownDatabase";
  }
}

/** The error if a process did not close a world in time for its move. After this error, the world is still in its old database. */
export class StillOpen extends Error {
  constructor(world: string) {
    super(`the world ${world} was still in use after ${CLOSED_WITHIN_MS / 1_000} s, and was not moved`);
    this.name = "StillOpen";
  }
}
