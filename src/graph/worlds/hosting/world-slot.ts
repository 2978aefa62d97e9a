/**
 * One world of the server in this process, which is open or idle. The slot of a world counts the requests that are running in the world. An operation
 * that replaces or closes the whole world waits until the requests that are running in the world have ended.
 */
import { type Awaitable, within } from "#kernel/turns";
import type { Database } from "#storage/database";
import { DatabaseLease } from "#storage/database-lease";
import { WorldClock } from "../clock.ts";
import { clearMemory, type OpenWorld, type WorldMemory } from "../open-world.ts";
import { endEpoch } from "../settings.store.ts";

interface WorldSlotOptions {
  readonly name: string;
  readonly memory: WorldMemory;
  openDatabase(): Promise<Database>;
  /** Called after the database of the world was closed. */
  databaseClosed(): void;
  /**
   * Opens the world on its database, and starts its background work if the server does background work. `isRenewed`: whether this process already had
   * the world open before.
   */
  openWorld(database: Database, memory: WorldMemory, isRenewed: boolean): Promise<OpenWorld>;
}

/** An open world, as a request of the graph uses it. */
export interface EnteredWorld {
  readonly world: OpenWorld;
  /** The function must be called once, when the request has ended. */
  leave(): void;
}

type Replaced = (isDeleted: boolean) => void;

/** An open world, as a request of the control API uses it. A request of the control API may take long. */
export interface HeldWorld extends EnteredWorld {
  /** Calls `listener` when the world is deleted, or when its data are replaced. Returns a function that removes the listener again. */
  onReplaced(listener: Replaced): () => void;
}

interface Opened {
  readonly database: Database;
  readonly world: OpenWorld;
  readonly entered: EnteredWorld;
  readonly held: HeldWorld;
}

/**
 * The longest time for which the replacement of a world's data waits for requests of the graph. A request of the graph that takes longer is probably
 * waiting for another server. A request of the control API ends with an error if its world is replaced meanwhile.
 */
const DRAIN_MS_MAX = 1_000;

/** The number of times that the worlds of this process have been used. The counter of uses shows which world was used least recently. */
let usesOfAll = 0;

const nothing = async (): Promise<void> => {};

export class WorldSlot {
  readonly #options: WorldSlotOptions;
  #opened: Opened | undefined;
  #opening: Promise<Opened> | undefined;
  #isDeleted = false;
  /**
   * The number of requests of the graph that are running in the world. `#held` is the number of requests of the control API that are running in the
   * world.
   */
  #entered = 0;
  #held = 0;
  /** The number of requests in the world since the last call of `wasUsed`. */
  #uses = 0;
  #lastUse = 0;
  #whenLeft: (() => void)[] = [];
  readonly #whenReplaced = new Set<Replaced>();
  /** A promise that resolves when the running replacement or closing of the whole world has ended. */
  #change: Promise<void> | undefined;

  constructor(options: WorldSlotOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  get memory(): WorldMemory {
    return this.#options.memory;
  }

  /** The value of the use counter when the world was last used. The counter of uses grows with each use of any world. */
  get lastUse(): number {
    return this.#lastUse;
  }

  /** Whether the world can be closed: it is open, no request is running in it, and it has no work now. */
  get canClose(): boolean {
    return this.#opened?.world.work.idle !== undefined && this.#entered + this.#held === 0 && this.#change === undefined;
  }

  /** The open world. Undefined if the world is idle and therefore not open. */
  get world(): OpenWorld | undefined {
    return this.#opened?.world;
  }

  /** Begins a request of the graph in the world, which is opened if necessary. Undefined if the world was deleted. */
  enter(): Promise<EnteredWorld | undefined> {
    return this.#whenOpen((opened) => this.#enter(opened));
  }

  /** Begins a request of the graph if the world is open or is being opened. If the world is idle, the result is undefined. */
  enterOpen(): Awaitable<EnteredWorld | undefined> {
    return this.#change === undefined && this.#opening === undefined ? this.#opened && this.#enter(this.#opened) : this.#enterLater();
  }

  async #enterLater(): Promise<EnteredWorld | undefined> {
    while (this.#change !== undefined || this.#opening !== undefined) await (this.#change ?? this.#opening?.catch(() => {}));
    return this.#opened && this.#enter(this.#opened);
  }

  /** Begins a request of the control API, which may take long. The world stays open until the request ends, but its data may be replaced. */
  hold(): Promise<HeldWorld | undefined> {
    return this.#whenOpen((opened) => {
      this.#held++;
      this.#used();
      return opened.held;
    });
  }

  /** Fills a new world, and saves its data so that the world can be reset to them. */
  async fill(fill: (world: OpenWorld) => Promise<void>): Promise<void> {
    const held = await this.hold();
    if (held === undefined) throw new Error(`the world ${this.name} was deleted while it was being created`);
    try {
      await fill(held.world);
      await keepWorld(held.world, BEGINNING);
    } finally {
      held.leave();
    }
  }

  /** Whether a request is running in the world, or has run since the last call of this method. */
  wasUsed(): boolean {
    const wasUsed = this.#uses > 0 || this.#entered + this.#held > 0;
    this.#uses = 0;
    return wasUsed;
  }

  /**
   * Closes the world, which opens again at its next use. Returns false if the world stays open because it is in use or has work now. `closed` is
   * called with the time in ms until the world's next work is due, or with undefined if the world has no work.
   */
  closeIdle(closed: (dueInMs: number | undefined) => Promise<void>): Promise<boolean> {
    return this.#alone(async () => {
      const opened = this.#opened;
      const idle = opened?.world.work.idle;
      if (opened === undefined || idle === undefined || this.#entered + this.#held > 0) return false;
      const { clock } = opened.world;
      const dueInMs = clock.isFrozen || idle.nextDueMs === undefined ? undefined : idle.nextDueMs - clock.nowMs();
      this.#opened = undefined;
      await opened.world.close();
      await this.#closeDatabase(opened.database);
      await closed(dueInMs);
      this.memory.requests.shrink();
      return true;
    });
  }

  /**
   * Replaces the data of the world. `replace` changes the world's database; the world's memory is cleared, and its running work is abandoned. `begin`
   * is called before any request uses the new data. If `replace` resolves with false, it has not changed the database.
   */
  renew(replace: (database: Database) => Promise<boolean>, begin: (world: OpenWorld) => Promise<void> = nothing): Promise<boolean> {
    return this.#alone(async () => {
      if (this.#isDeleted) return false;
      const { database, world } = this.#opened ?? (await this.#open());
      await world.abandon();
      try {
        return await replace(database);
      } finally {
        clearMemory(this.memory);
        const renewed = await this.#openOn(database, true);
        await begin(renewed.world);
        this.#tellReplaced(false);
      }
    });
  }

  /** Reopens the world if this process has it open. Called when another process has replaced the data of this world. */
  replaced(): Promise<void> {
    return this.#alone(async () => {
      const opened = this.#opened;
      await opened?.world.abandon();
      clearMemory(this.memory);
      if (opened === undefined) return;
      await this.#openOn(opened.database, true);
      this.#tellReplaced(false);
    });
  }

  /** Closes the world permanently, because it is deleted. `remove` deletes the stored data of the world. */
  delete(remove: () => Promise<void>): Promise<void> {
    return this.#alone(async () => {
      this.#isDeleted = true;
      this.#tellReplaced(true);
      await this.#close((world) => world.abandon());
      this.memory.requests.close();
      await remove();
    });
  }

  /** Stops the world's background work, and closes its database. */
  close(): Promise<void> {
    return this.#alone(() => this.#close((world) => world.close()));
  }

  /**
   * Closes the world because the server is moving it to another database. Running requests of the control API are told that the world was replaced.
   */
  closeMoving(): Promise<void> {
    return this.#alone(async () => {
      if (this.#opened === undefined) return;
      await this.#close((world) => world.close());
      this.#tellReplaced(false);
    });
  }

  #enter({ entered }: Opened): EnteredWorld {
    this.#entered++;
    this.#used();
    return entered;
  }

  #used(): void {
    this.#uses++;
    this.#lastUse = ++usesOfAll;
  }

  #tellReplaced(isDeleted: boolean): void {
    for (const listener of this.#whenReplaced) listener(isDeleted);
  }

  /**
   * Opens an idle world; if the world is being closed or its data are being replaced, waits for the end of that first. Undefined if the world was
   * deleted.
   */
  async #whenOpen<T extends EnteredWorld>(take: (opened: Opened) => T): Promise<T | undefined> {
    for (;;) {
      if (this.#change !== undefined) await this.#change;
      else if (this.#isDeleted) return undefined;
      else if (this.#opened === undefined) await this.#open();
      else return take(this.#opened);
    }
  }

  /**
   * Runs an operation on the whole world, such as replacing its data. Only one operation on a whole world runs at a time, and new requests wait until
   * it has ended. An operation on the whole world does not wait for requests of the control API.
   */
  async #alone<T>(change: () => Promise<T>): Promise<T> {
    while (this.#change !== undefined) await this.#change;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#change = promise;
    try {
      await this.#opening?.catch(() => {});
      if (this.#entered > 0) {
        const left = new Promise<void>((whenLeft) => this.#whenLeft.push(whenLeft));
        await within(left, DRAIN_MS_MAX);
      }
      return await change();
    } finally {
      this.#change = undefined;
      resolve();
    }
  }

  #open(): Promise<Opened> {
    this.#opening ??= this.#openNew().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #openNew(): Promise<Opened> {
    const database = await this.#options.openDatabase();
    try {
      return await this.#openOn(database, false);
    } catch (error) {
      await this.#closeDatabase(database);
      throw error;
    }
  }

  async #openOn(database: Database, isRenewed: boolean): Promise<Opened> {
    const world = await this.#options.openWorld(new DatabaseLease(database), this.memory, isRenewed);
    const entered = {
      world,
      leave: (): void => {
        if (--this.#entered === 0) for (const whenLeft of this.#whenLeft.splice(0)) whenLeft();
      },
    };
    const held = {
      world,
      leave: (): void => {
        this.#held--;
      },
      onReplaced: (listener: Replaced) => {
        this.#whenReplaced.add(listener);
        return () => this.#whenReplaced.delete(listener);
      },
    };
    this.#opened = { database, world, entered, held };
    return this.#opened;
  }

  async #close(end: (world: OpenWorld) => Promise<void>): Promise<void> {
    const opened = this.#opened;
    if (opened === undefined) return;
    this.#opened = undefined;
    await end(opened.world);
    await this.#closeDatabase(opened.database);
  }

  async #closeDatabase(database: Database): Promise<void> {
    try {
      await database.close();
    } finally {
      this.#options.databaseClosed();
    }
  }
}

/** The name under which a new world's data are saved, so that the world can be reset to them. A snapshot of a user cannot have this name. */
export const BEGINNING = "_beginning";

/** Matches the name of a snapshot. A snapshot's name is a valid file name on every system, and begins with a letter or digit. */
const SNAPSHOT = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
export const SNAPSHOT_NAME = SNAPSHOT.source;

export const isSnapshotName = (name: string): boolean => SNAPSHOT.test(name);

export async function keepWorld({ clock, database }: OpenWorld, state: string): Promise<void> {
  await clock.note();
  await database.saveState(state);
}

/**
 * Restores saved data. If `state` is undefined, the world becomes an empty one. Returns false without any change if no saved data have this name.
 * Rejects with `StateOutdated` if another version of the server saved the data and they cannot be converted.
 */
export async function bringBack(database: Database, state: string | undefined, realNowMs: () => number): Promise<boolean> {
  if (!(await database.restoreState(state))) return false;
  const lease = new DatabaseLease(database);
  const clock = await WorldClock.open(lease, realNowMs);
  await clock.resume();
  await lease.write(endEpoch);
  await lease.close();
  return true;
}
