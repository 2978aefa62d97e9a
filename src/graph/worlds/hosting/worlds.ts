/**
 * The worlds of a server. The first world, `default`, is open as long as the server runs, and stores the server's own data: the list of worlds, and
 * control keys. All worlds except the first are opened when they are used.
 *
 * **Invariant:** a request reads and writes only its own world, waits only for that world, and counts only against the limits of that world.
 */
import { endKeysOfWorld } from "#auth/control-keys.store";
import { isUnreachable } from "#kernel/errors";
import { type Awaitable, Turns } from "#kernel/turns";
import { type Database, type Databases, MOVED_AWAY, type Reader, type SavedState, type Transaction } from "#storage/database";
import type { ListPage, PageRequest } from "#storage/keyset";
import type { OpenWorld, WorldMemory } from "../open-world.ts";
import type { UnservedNames } from "../unserved.ts";
import type { Profile } from "../world.ts";
import { ClosedWorlds, type Outside } from "./closed-worlds.ts";
import { IdleWorlds } from "./idle-worlds.ts";
import { OpenWorlds } from "./open-worlds.ts";
import { RoomForWorlds } from "./room-for-worlds.ts";
import { WorldPlaces } from "./world-places.ts";
import { BEGINNING, bringBack, type EnteredWorld, type HeldWorld, isSnapshotName, keepWorld, WorldSlot } from "./world-slot.ts";
import { DEFAULT_WORLD, deleteWorldRow, findPlace, insertWorld, isWorldName, listWorldRows, type WorldRow } from "./worlds.store.ts";

/** The size of the random text that identifies a process: 64 bits. */
const PROCESS_BYTES = 8;

interface WorldsOptions {
  readonly databases: Pick<Databases, "open" | "look" | "remove" | "making" | "spread" | "move" | "hasMoved" | "forgetMoved">;
  /** The greatest number of worlds that may be open at the same time. The first world does not count against the limit on open worlds. */
  readonly openMax: number;
  /** Opens a world on its database, for this process. */
  openWorld(name: string, database: Database, memory: WorldMemory): Promise<OpenWorld>;
  /** Opens an empty world that is not stored on disk. Without `profile`, the world has the server's own profile. */
  openEmpty(profile: Profile | undefined): Promise<OpenWorld>;
  newMemory(): WorldMemory;
  /** Deletes the files of a world that are not in its database. */
  removeFiles(name: string): Promise<void>;
  /** Fills the first world with its initial data after a reset. */
  fillFirst(world: OpenWorld): Promise<unknown>;
  randomSecret(byteCount: number): string;
  realNowMs(): number;
  collectGarbage(): void;
  /** Called if background work on the worlds failed. The failed background work is run again. */
  onError(error: unknown): void;
}

export class Worlds {
  readonly #options: WorldsOptions;
  readonly #slots = new Map<string, WorldSlot>();
  readonly #first: WorldSlot;
  /** The names of worlds that are being created. */
  readonly #unmade = new Set<string>();
  readonly #process: string;
  readonly #idleWorlds: IdleWorlds;
  readonly #openWorlds: OpenWorlds;
  readonly #room: RoomForWorlds;
  readonly #closedWorlds: ClosedWorlds;
  readonly #places: WorldPlaces;
  /** Reads or opens only one world at a time, and lets other requests run in between. */
  readonly #turns: Turns;
  #onOpened: (world: OpenWorld) => Promise<void> = async () => {};

  private constructor(options: WorldsOptions) {
    this.#options = options;
    this.#process = options.randomSecret(PROCESS_BYTES);
    this.#room = new RoomForWorlds(options.openMax, () => this.#closeLeastUsed());
    this.#closedWorlds = new ClosedWorlds((profile) => options.openEmpty(profile));
    this.#turns = new Turns(options.realNowMs);
    const { realNowMs, onError, databases } = options;
    this.#places = new WorldPlaces({
      ...{ databases, realNowMs, first: () => this.default.database },
      close: (name) => this.#closeMoving(name),
      announce: (tx, change, name) => announce(tx, change, this.#process, name),
    });
    this.#idleWorlds = new IdleWorlds({ realNowMs, onError, look: () => this.closeUnused(), wake: (name) => this.#openWorlds.wake(name) });
    this.#openWorlds = new OpenWorlds({
      ...{ realNowMs, onError, process: this.#process },
      database: () => this.default.database,
      names: () => [...this.open()].map(({ name }) => name).filter((name) => name !== DEFAULT_WORLD),
      hold: (name) => this.hold(name),
      idleUntil: (name, wakeMs) => this.#idleWorlds.idleUntil(name, wakeMs),
      closeMoving: (name) => this.#closeMoving(name),
      resumeMove: (name) => this.#resumeMove(name),
    });
    this.#first = this.#newSlot(DEFAULT_WORLD);
    this.#slots.set(DEFAULT_WORLD, this.#first);
  }

  /** Opens the server's first world. Throws `UnknownDatabase` if a world is in a database that `--databases` does not name. */
  static async open(options: WorldsOptions): Promise<Worlds> {
    const worlds = new Worlds(options);
    await worlds.#first.hold();
    await worlds.#places.check();
    return worlds;
  }

  get default(): OpenWorld {
    if (this.#first.world === undefined) throw new Error("the first world is closed");
    return this.#first.world;
  }

  /** The worlds that are open in this process, beginning with the first world. */
  *open(): IterableIterator<OpenWorld> {
    for (const { world } of this.#slots.values()) if (world !== undefined) yield world;
  }

  /**
   * The collection of the names that programs asked for and that Plaza does not have. The collection of names exists once for each world of this
   * process, including idle worlds.
   */
  unserved(): UnservedNames[] {
    return [...this.#slots.values()].flatMap(({ memory }) => memory.unserved ?? []);
  }

  /**
   * Starts the background work of all open worlds. In each world that opens later, background work starts when `onOpened` has been called. With
   * `wakesOthers`, this process also opens idle worlds when they have work, and the worlds of ended processes. Only one of a server's processes opens
   * idle worlds and the worlds of ended processes.
   */
  async start(onOpened: (world: OpenWorld) => Promise<void>, wakesOthers: boolean): Promise<void> {
    this.#onOpened = async (world) => {
      await onOpened(world);
      world.work.start();
    };
    for (const world of this.open()) await this.#onOpened(world);
    await this.#openWorlds.start(wakesOthers);
  }

  /**
   * Closes the worlds that were not used since the last call of this method and have no work now. Returns whether any world except the first is open.
   */
  async closeUnused(): Promise<boolean> {
    let [isAnyOpen, isClosed] = [false, false];
    for (const slot of this.#slots.values()) {
      if (slot === this.#first || slot.world === undefined) continue;
      if (slot.wasUsed() || !(await this.#closeIdle(slot))) isAnyOpen = true;
      else isClosed = true;
    }
    // Without this call the runtime would not free the memory of many closed worlds for a long time.
    if (isClosed) this.#options.collectGarbage();
    return isAnyOpen;
  }

  /** Begins a request of the graph in a world, if the world is open. */
  enterOpen(name: string): Awaitable<EnteredWorld | undefined> {
    return this.#slots.get(name)?.enterOpen();
  }

  /**
   * The empty world that answers a request for a closed or missing world. The empty world answers until the request has presented a token or node id
   * that may open the world (D-333).
   */
  outside(name: string): Promise<Outside> {
    return this.#closedWorlds.outside((read) => this.#look(name, read));
  }

  /** Begins a request of the graph in a world, which is opened if it is closed. Undefined if the world does not exist. */
  enter(name: string): Promise<EnteredWorld | undefined> {
    const slot = this.#slots.get(name);
    return slot === undefined ? this.#find(name).then((found) => found?.enter()) : slot.enter();
  }

  /** Begins a request of the control API in a world. Undefined if the world does not exist. */
  async hold(name: string): Promise<HeldWorld | undefined> {
    return (await this.#find(name))?.hold();
  }

  /**
   * Begins a request without a control key in a world. A closed world is opened only if `isKnown` finds the secret of the request in the world's
   * stored data (D-333). Undefined if the world does not exist, or does not have the request's secret.
   */
  async holdIf(name: string, isKnown?: (reader: Reader) => Promise<boolean>): Promise<HeldWorld | undefined> {
    const slot = await this.#find(name);
    if (slot === undefined) return undefined;
    if (slot.world !== undefined) return slot.hold();
    // If the world's stored data cannot be read, they may be of an earlier version. A world whose data cannot be read is opened, because opening
    // migrates the data. Requests of the graph open the world for the same reason.
    const mayOpen = isKnown !== undefined && (await this.#look(name, isKnown).catch(() => true)) === true;
    return mayOpen ? slot.hold() : undefined;
  }

  list(page: PageRequest): Promise<ListPage<WorldRow>> {
    return listWorldRows(this.default.database.reader, page);
  }

  /**
   * The databases that `--databases` names. `isUp` says whether this process is connected to the database. The list of databases is empty if the
   * server has a single database.
   */
  databases(): readonly { readonly name: string; readonly isUp: boolean }[] {
    return this.#options.databases.spread.map(({ name, isUp }) => ({ name, isUp }));
  }

  /**
   * Rejects if none of the server's databases responds. The worlds of one database are served even if the other databases cannot be reached (D-420).
   */
  async ping(): Promise<void> {
    const { spread } = this.#options.databases;
    await (spread.length === 0 ? this.default.database.ping() : Promise.any(spread.map((one) => one.ping())));
  }

  /** The name of a world's database, from its row in the list of worlds. Undefined if the server has a single database. */
  databaseOf(database: string | null): string | undefined {
    return this.#places.shown(database);
  }

  /**
   * Moves a world to another of the server's databases (D-421). Resolves with false if the world does not exist, and with undefined if another
   * process is creating or moving it. Rejects with `StillOpen` or `databaseUnreachable` if the world could not be moved.
   */
  async move(name: string, to: string): Promise<boolean | undefined> {
    if (!isWorldName(name) || name === DEFAULT_WORLD) return false;
    return this.#options.databases.making(name, () => this.#places.move(name, to));
  }

  /** The name and the database of a world, as the list of worlds has them. */
  async place(name: string): Promise<Pick<WorldRow, "name" | "database">> {
    return (await findPlace(this.default.database.reader, name)) ?? { name, database: null };
  }

  /** Whether the server has worlds besides the first one, or snapshots. The secrets in other worlds or snapshots may be sealed with older keys. */
  async hasMore(): Promise<boolean> {
    if ((await this.list({ limit: 1 })).rows.length > 0) return true;
    return (await this.default.database.listStates()).length > 0;
  }

  /**
   * Creates a world in the database `at`, which `--databases` names. Returns false if another world has the name. If `fill` throws, the new world is
   * deleted.
   */
  async make(name: string, fill?: (world: OpenWorld) => Promise<void>, at?: string): Promise<boolean> {
    if (!isWorldName(name)) throw new RangeError(`not a valid world name: ${name}`);
    return (await this.#options.databases.making(name, () => this.#make(name, fill, at))) ?? false;
  }

  async #make(name: string, fill?: (world: OpenWorld) => Promise<void>, at?: string): Promise<boolean> {
    // If two requests could create the same world at once, both would write to one database, and the one that failed would delete the data of the
    // other.
    if ((await this.#find(name)) !== undefined || this.#slots.has(name) || this.#unmade.has(name)) return false;
    this.#unmade.add(name);
    const slot = this.#newSlot(name);
    let database: string | null = null;
    try {
      if (this.#places.areMany) {
        database = await this.#places.choose(at);
        // The database may still have data of an earlier world with the same name, which was deleted or moved away.
        await this.#options.databases.remove(name, this.#places.shown(database));
        this.#places.note(name, database);
      }
      // The new world is added to the list only after it is filled, so that requests do not find it earlier. An empty world is stored in its database
      // when it is first used.
      if (fill !== undefined) await slot.fill(fill);
      const isFree = await this.default.database.write(async (tx) => {
        const isNew = await insertWorld(tx, name, this.#options.realNowMs(), database);
        if (isNew && fill !== undefined) await this.#openWorlds.note(tx, name);
        return isNew;
      });
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

  /** Deletes a world. Returns whether the world existed. The first world cannot be deleted. */
  async delete(name: string): Promise<boolean> {
    const slot = name === DEFAULT_WORLD ? undefined : await this.#find(name);
    if (slot === undefined) return false;
    // If the database of the world cannot be reached, the world is not deleted, because its data would stay in that database. If the world is being
    // moved, the deletion waits for the end of the move.
    if (this.#places.areMany) this.#places.requireUp(await this.#places.find(name));
    let wasThere = false;
    await slot.delete(async () => {
      wasThere = await this.default.database.write(async (tx) => {
        await endKeysOfWorld(tx, name, this.#options.realNowMs());
        announce(tx, "deleted", this.#process, name);
        return deleteWorldRow(tx, name);
      });
      await this.#remove(name);
    });
    if (this.#slots.get(name) === slot) this.#slots.delete(name);
    this.#idleWorlds.forget(name);
    this.#places.forget(name);
    return wasThere;
  }

  /** Saves the world's data as a snapshot. An older snapshot with the same name is replaced. Undefined if the world does not exist. */
  async saveSnapshot(name: string, snapshot: string): Promise<true | undefined> {
    if (!isSnapshotName(snapshot)) throw new RangeError(`not a valid snapshot name: ${snapshot}`);
    return this.#with<true>(name, async (world) => {
      await keepWorld(world, snapshot);
      return true;
    });
  }

  listSnapshots(name: string): Promise<readonly SavedState[] | undefined> {
    return this.#with(name, async ({ database }) => (await database.listStates()).filter((state) => state.name !== BEGINNING));
  }

  /** Deletes a snapshot. Returns whether the snapshot existed, or undefined if the world does not exist. */
  deleteSnapshot(name: string, snapshot: string): Promise<boolean | undefined> {
    return this.#with(name, async ({ database }) => isSnapshotName(snapshot) && database.deleteState(snapshot));
  }

  /**
   * Restores a snapshot. Resolves with false if there is no snapshot of that name, and with undefined if the world does not exist. Rejects with
   * `StateOutdated`.
   */
  async restoreSnapshot(name: string, snapshot: string): Promise<boolean | undefined> {
    const known = await this.listSnapshots(name);
    if (known?.some((one) => one.name === snapshot) !== true) return known && false;
    return (await this.#find(name))?.renew((database) => this.#restore(name, database, snapshot));
  }

  /**
   * Resets a world to the data with which it was created. The first world is reset to the data of a new server. Undefined if the world does not
   * exist.
   */
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

  /** Stops background work, and closes all databases. */
  async close(): Promise<void> {
    this.#idleWorlds.stop();
    await this.#openWorlds.stop();
    const others = [...this.#slots.values()].filter((slot) => slot !== this.#first);
    // If a world has work when it is closed, the server opens it again at its next start.
    await Promise.all(others.map(async (slot) => (await this.#closeIdle(slot)) || (await slot.close())));
    await this.#openWorlds.leave();
    await this.#closedWorlds.close();
    await this.#first.close();
  }

  /** Closes a world if it is not in use and has no work. Returns whether the world is idle now. */
  async #closeIdle(slot: WorldSlot): Promise<boolean> {
    const { name } = slot;
    const isClosed = await slot.closeIdle(async (dueInMs) => {
      const wakeMs = dueInMs === undefined ? null : this.#options.realNowMs() + dueInMs;
      await this.#openWorlds.closed(name, wakeMs);
      if (wakeMs !== null) this.#idleWorlds.idleUntil(name, wakeMs);
    });
    return isClosed || slot.world === undefined;
  }

  /** Closes the least recently used of all worlds that are not in use and have no work. Returns whether the function has closed a world. */
  async #closeLeastUsed(): Promise<boolean> {
    const others = [...this.#slots.values()].filter((slot) => slot !== this.#first && slot.canClose);
    const [oldest] = others.sort((one, other) => one.lastUse - other.lastUse);
    return oldest !== undefined && (await this.#closeIdle(oldest));
  }

  async #look<T>(name: string, read: (reader: Reader) => Promise<T>): Promise<T | undefined> {
    if ((await this.#find(name)) === undefined) return undefined;
    await this.#turns.next();
    return this.#options.databases.look(name, read, this.#places.shown(this.#places.known(name) ?? null));
  }

  async #find(name: string): Promise<WorldSlot | undefined> {
    const known = this.#slots.get(name);
    if (known !== undefined) return known;
    const place = isWorldName(name) ? await findPlace(this.default.database.reader, name) : undefined;
    if (place === undefined) return undefined;
    this.#places.note(name, place.database);
    const slot = this.#slots.get(name) ?? this.#newSlot(name);
    this.#slots.set(name, slot);
    return slot;
  }

  #newSlot(name: string): WorldSlot {
    const { databases, newMemory } = this.#options;
    return new WorldSlot({
      ...{ name, memory: newMemory() },
      openDatabase: async () => {
        if (name === DEFAULT_WORLD) return databases.open(name);
        const at = this.#places.areMany && !this.#unmade.has(name) ? await this.#places.find(name) : this.#places.known(name);
        await this.#room.take();
        await this.#turns.next();
        return databases.open(name, this.#places.shown(at ?? null)).catch((error: unknown) => {
          this.#room.leave();
          throw error;
        });
      },
      databaseClosed: () => {
        if (name !== DEFAULT_WORLD) this.#room.leave();
      },
      openWorld: async (database, memory, isRenewed) => {
        const world = await this.#options.openWorld(name, database, memory);
        if (name === DEFAULT_WORLD) this.#follow(world);
        else {
          // A world that is being created is not in the list of worlds yet. A replaced world is already stored as open, and storing it again would
          // cost a write to the disk.
          if (!isRenewed && !this.#unmade.has(name)) await this.#noteOpened(name);
          this.#idleWorlds.opened(name);
          database.onInvalidate((kind) => {
            if (kind === MOVED_AWAY) this.#closeMoving(name).catch(this.#options.onError);
          });
        }
        await this.#onOpened(world);
        return world;
      },
    });
  }

  /**
   * Stores that this process has opened the world. If the list of worlds cannot be reached and the world is in another database, the world is opened
   * anyway, and the next renewal of leases records it.
   */
  async #noteOpened(name: string): Promise<void> {
    const at = this.#places.areMany ? (this.#places.known(name) ?? null) : undefined;
    try {
      await this.#openWorlds.opened(name, at);
    } catch (error) {
      if (at == null || !isUnreachable(error) || this.#options.databases.spread[0]?.isUp === true) throw error;
    }
  }

  /** Closes a world that is being moved to another database. After the move, the world can be opened only in its new database. */
  async #closeMoving(name: string): Promise<void> {
    await this.#slots.get(name)?.closeMoving();
    await this.#openWorlds.closed(name, null);
    this.#idleWorlds.forget(name);
  }

  async #resumeMove(name: string): Promise<void> {
    await this.#options.databases.making(name, () => this.#places.resume(name));
  }

  /** Reacts when other processes change worlds that are open in this process. */
  #follow({ database }: OpenWorld): void {
    followChanges(database, this.#process, (change, name) => {
      const slot = this.#slots.get(name);
      if (change === "moving") this.#closeMoving(name).catch(this.#options.onError);
      if (change === "moving" || change === "moved") return this.#places.forget(name);
      if (change === "deleted") this.#slots.delete(name);
      (change === "deleted" ? slot?.delete(async () => {}) : slot?.replaced())?.catch(this.#options.onError);
    });
  }

  async #with<T>(name: string, use: (world: OpenWorld) => Promise<T>): Promise<T | undefined> {
    const held = await this.hold(name);
    if (held === undefined) return undefined;
    return use(held.world).finally(() => held.leave());
  }

  async #restore(name: string, database: Database, state: string | undefined): Promise<boolean> {
    if (!(await bringBack(database, state, this.#options.realNowMs))) return false;
    // Only on PostgreSQL can a server have several processes.
    if (database.dialect === "postgres")
      await (name === DEFAULT_WORLD ? database : this.default.database).write(async (tx) => announce(tx, "replaced", this.#process, name));
    return true;
  }

  async #remove(name: string): Promise<void> {
    await this.#options.databases.remove(name, this.#places.shown(this.#places.known(name) ?? null));
    await this.#options.removeFiles(name);
  }
}

/**
 * A change of a whole world, such as its deletion. The process that changes a whole world announces the change to all processes that have the world
 * open.
 */
type WorldChange = "deleted" | "replaced" | "moving" | "moved";

const factOf: Readonly<Record<WorldChange, string>> = {
  ...{ deleted: "world", replaced: "world_replaced", moving: "world_moving", moved: "world_moved" },
};
const changeOf = new Map(Object.entries(factOf).map(([change, fact]) => [fact, change as WorldChange]));

/** Announces a change. `process` identifies the process that makes the change. */
export const announce = (tx: Transaction, change: WorldChange, process: string, name: string): void =>
  tx.invalidate(factOf[change], `${process} ${name}`);

/** Calls `on` for each change that a process other than `own` announces. */
export function followChanges(database: Database, own: string, on: (change: WorldChange, name: string) => void): void {
  database.onInvalidate((kind, key) => {
    const change = changeOf.get(kind ?? "");
    const [process, name] = key?.split(" ") ?? [];
    if (change !== undefined && name !== undefined && process !== own) on(change, name);
  });
}
