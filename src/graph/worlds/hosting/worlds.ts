/**
 * The worlds of a server. The first, `default`, is open as long as the server runs, and keeps what belongs to the server: the list of the
 * others, and control keys. The others open when they are first used.
 *
 * **Invariant:** what a request of one world reads, writes, waits for or counts against is that world's alone.
 */
import type { Database, SavedState, Transaction } from "#storage/database";
import { DatabaseLease } from "#storage/database-lease";
import type { Databases } from "#storage/databases";
import type { ListPage, PageRequest } from "#storage/keyset";
import { WorldClock } from "../clock.ts";
import type { OpenWorld } from "../open-world.ts";
import type { WorldMemory } from "./world-memory.ts";
import { type EnteredWorld, WorldSlot } from "./world-slot.ts";
import { deleteWorldRow, hasWorld, insertWorld, listWorldRows, type WorldRow } from "./worlds.store.ts";

export const DEFAULT_WORLD = "default";

/** A label of a host name, a file and, behind `plaza_`, a schema; in lower case, since file systems and hosts do not tell cases apart. */
export const WORLD_NAME = "^[a-z0-9]([a-z0-9_-]{0,55}[a-z0-9])?$";
const NAME = new RegExp(WORLD_NAME);

/** A world was deleted or replaced: other processes that have it open close it. Its key is the process that did so, a blank, and the name. */
const worldFact = "world";
/** 64 bits. */
const PROCESS_BYTES = 8;

/** The state in which a world was made, for its reset. No snapshot can have the name. */
const BEGINNING = "_beginning";
/** A file's name on every system; it begins with a letter or digit. */
export const SNAPSHOT_NAME = "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$";
const SNAPSHOT = new RegExp(SNAPSHOT_NAME);

export interface WorldsOptions {
  readonly databases: Databases;
  /** Opens a world on its database, for this process. */
  openWorld(name: string, database: Database, memory: WorldMemory): Promise<OpenWorld>;
  newMemory(): WorldMemory;
  /** What a world keeps outside of its database. */
  removeFiles(name: string): Promise<void>;
  /** What the first world holds at the beginning. */
  fillFirst(world: OpenWorld): Promise<unknown>;
  randomSecret(byteCount: number): string;
  realNowMs(): number;
  sleepMs(ms: number): Promise<void>;
}

export class Worlds {
  readonly #options: WorldsOptions;
  readonly #slots = new Map<string, WorldSlot>();
  readonly #first: WorldSlot;
  /** Names of worlds that are being made. */
  readonly #unmade = new Set<string>();
  readonly #process: string;
  #onOpened: (world: OpenWorld) => void = () => {};

  private constructor(options: WorldsOptions) {
    this.#options = options;
    this.#process = options.randomSecret(PROCESS_BYTES);
    this.#first = this.#newSlot(DEFAULT_WORLD);
    this.#slots.set(DEFAULT_WORLD, this.#first);
  }

  /** Opens the first world. */
  static async open(options: WorldsOptions): Promise<Worlds> {
    const worlds = new Worlds(options);
    await worlds.#first.hold();
    return worlds;
  }

  get default(): OpenWorld {
    const { world } = this.#first;
    if (world === undefined) throw new Error("the first world is closed");
    return world;
  }

  /** Those that are open in this process, the first one first. */
  *open(): IterableIterator<OpenWorld> {
    for (const { world } of this.#slots.values()) if (world !== undefined) yield world;
  }

  /** The worlds do their background work from now on; `onOpened` is called with those that are open, and with each that opens. */
  start(onOpened: (world: OpenWorld) => void): void {
    this.#onOpened = (world) => {
      onOpened(world);
      world.work.start();
    };
    for (const world of this.open()) this.#onOpened(world);
  }

  /** For a request of the graph to the first world. A promise while that one is being replaced. */
  enterDefault(): EnteredWorld | Promise<EnteredWorld> {
    // It is never deleted.
    return this.#first.enter() as EnteredWorld | Promise<EnteredWorld>;
  }

  /** For a request of the graph; undefined: there is no such world. */
  enter(name: string): EnteredWorld | Promise<EnteredWorld | undefined> | undefined {
    const slot = this.#slots.get(name);
    if (slot !== undefined) return slot.enter();
    return NAME.test(name) ? this.#find(name).then((found) => found?.enter()) : undefined;
  }

  /** For a request of the control API. */
  async hold(name: string): Promise<EnteredWorld | undefined> {
    return (await this.#find(name))?.hold();
  }

  list(page: PageRequest): Promise<ListPage<WorldRow>> {
    return listWorldRows(this.default.database.reader, page);
  }

  /** Returns whether the name was free. What `fill` throws undoes it. */
  async make(name: string, fill?: (world: OpenWorld) => Promise<void>): Promise<boolean> {
    if (!NAME.test(name)) throw new RangeError(`not a world's name: ${name}`);
    if (this.#unmade.has(name) || (await this.#find(name)) !== undefined) return false;
    this.#unmade.add(name);
    const slot = this.#newSlot(name);
    try {
      // Nobody finds it before it is filled. One that is empty is stored when it is first used.
      if (fill !== undefined) await filled(slot, fill);
      const isFree = await this.default.database.write((tx) => insertWorld(tx, name, this.#options.realNowMs()));
      if (isFree) this.#slots.set(name, slot);
      else await slot.close();
      return isFree;
    } catch (error) {
      await slot.delete(() => this.#remove(name));
      throw error;
    } finally {
      this.#unmade.delete(name);
    }
  }

  /** Returns whether it was there. The first world cannot be deleted. */
  async delete(name: string): Promise<boolean> {
    const slot = name === DEFAULT_WORLD ? undefined : await this.#find(name);
    if (slot === undefined) return false;
    let wasThere = false;
    await slot.delete(async () => {
      wasThere = await this.default.database.write(async (tx) => {
        this.#announce(tx, name);
        return deleteWorldRow(tx, name);
      });
      await this.#remove(name);
    });
    if (this.#slots.get(name) === slot) this.#slots.delete(name);
    return wasThere;
  }

  /** Keeps the world as it is under a name, in place of what was kept under it. Undefined: there is no such world. */
  async saveSnapshot(name: string, snapshot: string): Promise<true | undefined> {
    if (!SNAPSHOT.test(snapshot)) throw new RangeError(`not a snapshot's name: ${snapshot}`);
    return this.#with<true>(name, async ({ clock, database }) => {
      await clock.note();
      await database.saveState(snapshot);
      return true;
    });
  }

  listSnapshots(name: string): Promise<readonly SavedState[] | undefined> {
    return this.#with(name, async ({ database }) => (await database.listStates()).filter((state) => state.name !== BEGINNING));
  }

  /** Returns whether it was there. */
  deleteSnapshot(name: string, snapshot: string): Promise<boolean | undefined> {
    return this.#with(name, async ({ database }) => SNAPSHOT.test(snapshot) && database.deleteState(snapshot));
  }

  /** The world is as it was when the snapshot was taken. False: there is none of that name. Rejects with `StateOutdated`. */
  async restoreSnapshot(name: string, snapshot: string): Promise<boolean | undefined> {
    const known = await this.listSnapshots(name);
    if (known?.some((one) => one.name === snapshot) !== true) return known && false;
    return (await this.#find(name))?.renew((database) => this.#restore(name, database, snapshot));
  }

  /** The world is as it was when it was made; the first one is as a server begins on empty data. */
  async reset(name: string): Promise<true | undefined> {
    const slot = await this.#find(name);
    await slot?.renew(
      async (database) => {
        await this.#options.removeFiles(name);
        return (await this.#restore(name, database, BEGINNING)) || this.#restore(name, database, undefined);
      },
      slot === this.#first ? async (world) => void (await this.#options.fillFirst(world)) : undefined,
    );
    return slot === undefined ? undefined : true;
  }

  /** Background work ends, and all databases are closed. */
  async close(): Promise<void> {
    const others = [...this.#slots.values()].filter((slot) => slot !== this.#first);
    await Promise.all(others.map((slot) => slot.close()));
    await this.#first.close();
  }

  async #find(name: string): Promise<WorldSlot | undefined> {
    const known = this.#slots.get(name);
    if (known !== undefined) return known;
    if (!NAME.test(name) || !(await hasWorld(this.default.database.reader, name))) return undefined;
    const slot = this.#slots.get(name) ?? this.#newSlot(name);
    this.#slots.set(name, slot);
    return slot;
  }

  #newSlot(name: string): WorldSlot {
    const { databases, newMemory, sleepMs } = this.#options;
    return new WorldSlot({
      ...{ name, sleepMs, memory: newMemory() },
      openDatabase: () => databases.open(name),
      openWorld: async (database, memory) => {
        const world = await this.#options.openWorld(name, database, memory);
        if (name === DEFAULT_WORLD) this.#follow(world);
        this.#onOpened(world);
        return world;
      },
    });
  }

  /** What other processes do with worlds that this one has open. */
  #follow({ database }: OpenWorld): void {
    database.onInvalidate((kind, key) => {
      const [process, name = ""] = kind === worldFact && key !== undefined ? key.split(" ") : [];
      const slot = process === this.#process ? undefined : this.#slots.get(name);
      if (slot === undefined) return;
      if (slot === this.#first) void slot.renew(async () => true);
      else {
        this.#slots.delete(name);
        void slot.delete(async () => {});
      }
    });
  }

  async #with<T>(name: string, use: (world: OpenWorld) => Promise<T>): Promise<T | undefined> {
    const held = await this.hold(name);
    if (held === undefined) return undefined;
    return use(held.world).finally(() => held.leave());
  }

  async #restore(name: string, database: Database, state: string | undefined): Promise<boolean> {
    if (!(await database.restoreState(state))) return false;
    const lease = new DatabaseLease(database);
    await (await WorldClock.open(lease, this.#options.realNowMs)).resume();
    await lease.close();
    // On SQLite there are no other processes.
    if (database.dialect === "postgres")
      await (name === DEFAULT_WORLD ? database : this.default.database).write(async (tx) => this.#announce(tx, name));
    return true;
  }

  #announce(tx: Transaction, name: string): void {
    tx.invalidate(worldFact, `${this.#process} ${name}`);
  }

  async #remove(name: string): Promise<void> {
    await this.#options.databases.remove(name);
    await this.#options.removeFiles(name);
  }
}

async function filled(slot: WorldSlot, fill: (world: OpenWorld) => Promise<void>): Promise<void> {
  const held = await slot.hold();
  if (held === undefined) throw new Error(`the world ${slot.name} was deleted while it was made`);
  const { world, leave } = held;
  try {
    await fill(world);
    await world.clock.note();
    await world.database.saveState(BEGINNING);
  } finally {
    leave();
  }
}
