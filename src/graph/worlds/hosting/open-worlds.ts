/**
 * Records which process has which worlds open. For each open world the process has a lease, which ends after some seconds unless the process renews
 * it. If a process is killed, another process opens the killed process's worlds, so that their deliveries and deadlines go on. The process that opens
 * worlds of killed processes also opens idle worlds when they have work.
 *
 * Leases run on real time, like the leases of work (`jobs/work-session.ts`). On SQLite the server has one process, which opens at its start the
 * worlds that were left open.
 */
import { databaseUnreachable, isUnreachable } from "#kernel/errors";
import type { Database, Transaction } from "#storage/database";
import type { EnteredWorld } from "./world-slot.ts";
import {
  deleteEndedOpenings,
  deleteOpening,
  endOpenings,
  findDueWorlds,
  findEndedOpenings,
  findPlace,
  findWakeTimes,
  listMoving,
  lockPlace,
  renewOpenings,
  saveOpening,
  setWakeTime,
} from "./worlds.store.ts";

/** The time for which a lease is valid without renewal. A running process stalls for less time. The worlds of a killed process wait this long. */
const LEASE_MS = 10_000;
/** The time between two renewals of a lease. Four renewals can fail before the lease ends. */
const BEAT_MS = 2_000;

export interface OpenWorldsOptions {
  /** Returns the database of the first world. */
  database(): Database;
  /** A text that identifies this process. */
  readonly process: string;
  realNowMs(): number;
  /** Returns the names of the worlds that this process has open, without the first world. */
  names(): string[];
  /** Opens a world. Undefined if the world does not exist. */
  hold(name: string): Promise<EnteredWorld | undefined>;
  /** Closes a world that another process moves (D-421). */
  closeMoving(name: string): Promise<void>;
  /** Ends the move of a world whose mover has ended (D-421). */
  resumeMove(name: string): Promise<unknown>;
  /** Records that the world is idle until `wakeMs` in real time, when it has work. */
  idleUntil(name: string, wakeMs: number): void;
  onError(error: unknown): void;
}

export class OpenWorlds {
  readonly #options: OpenWorldsOptions;
  #wakesOthers = false;
  #timer: ReturnType<typeof setInterval> | undefined;
  #beating: Promise<void> | undefined;
  /** The closed worlds whose closing could not be stored yet, with the time at which each has work again. */
  readonly #unsaved = new Map<string, number | null>();
  /** The names of worlds that are being opened. */
  readonly #waking = new Set<string>();
  /** The names of worlds whose moves are being ended. */
  readonly #resuming = new Set<string>();
  /** The promise of the last opening of a world. Worlds are opened one after the other, so that many worlds do not delay a start. */
  #lastWoken: Promise<unknown> = Promise.resolve();

  constructor(options: OpenWorldsOptions) {
    this.#options = options;
  }

  /**
   * Stores that this process has the world open, and deletes what ended processes have stored about the world. `at` is the database of `--databases`
   * in which the process has opened the world. Rejects with `databaseUnreachable` if the world moves, or has moved to another one.
   */
  async opened(name: string, at?: string | null): Promise<void> {
    await this.#options.database().write(async (tx) => {
      if (at !== undefined) {
        await lockPlace(tx, name);
        const place = await findPlace(tx, name);
        if (place !== undefined && (place.moving_to !== null || place.database !== at)) throw databaseUnreachable();
      }
      await setWakeTime(tx, name, null);
      await deleteEndedOpenings(tx, name, this.#options.process, this.#endedBeforeMs);
      await this.note(tx, name);
    });
  }

  /** Stores that this process has the world open, if the world is in the list of worlds. */
  note(tx: Transaction, name: string): Promise<void> {
    return saveOpening(tx, name, this.#options.process, this.#options.realNowMs() + LEASE_MS);
  }

  /**
   * Stores that this process has closed the world. `wakeMs` is the real time at which the world has work again. The time is null if the world has no
   * work. If the list of worlds cannot be reached, this is stored later.
   */
  async closed(name: string, wakeMs: number | null): Promise<void> {
    try {
      await this.#options.database().write(async (tx) => {
        await setWakeTime(tx, name, wakeMs);
        await deleteOpening(tx, name, this.#options.process);
      });
      this.#unsaved.delete(name);
    } catch (error) {
      if (!this.#isShared || !isUnreachable(error)) throw error;
      this.#unsaved.set(name, wakeMs);
    }
  }

  /** Starts to renew the leases of this process. If `wakesOthers`, this process opens the worlds that other processes have left. */
  async start(wakesOthers: boolean): Promise<void> {
    this.#wakesOthers = wakesOthers;
    if (this.#isShared) {
      // The renewal needs a timer, because only time shows that another process has ended. The timer does not keep the program running.
      this.#timer = setInterval(() => this.#beat(), BEAT_MS);
      this.#timer.unref();
      await this.#look();
    } else if (wakesOthers) {
      for (const { name, wake_ms } of await findWakeTimes(this.#options.database().reader)) this.#options.idleUntil(name, wake_ms);
      await this.#look();
    }
  }

  /** Opens the world. The world may be open here already, and another process may have left it. */
  wake(name: string): void {
    if (this.#waking.has(name)) return;
    this.#waking.add(name);
    const open = async (): Promise<void> => {
      const held = await this.#options.hold(name);
      await this.opened(name);
      held?.leave();
    };
    this.#lastWoken = this.#lastWoken
      .then(open)
      .catch((error: unknown) => {
        this.#options.onError(error);
        // The work of the world stays due. An example of a failure: every world that may be open was in use.
        this.#options.idleUntil(name, this.#options.realNowMs() + LEASE_MS);
      })
      .finally(() => this.#waking.delete(name));
  }

  /** From now on this process opens no more worlds. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#wakesOthers = false;
    await this.#beating;
    await this.#lastWoken;
  }

  /** Leaves the worlds that are still open to other processes. Called while the first world is open, or has failed to open. */
  async leave(): Promise<void> {
    const { database, process, onError } = this.#options;
    try {
      if (this.#isShared) await database().write((tx) => endOpenings(tx, process));
    } catch (error) {
      onError(error);
    }
  }

  get #isShared(): boolean {
    return this.#options.database().dialect === "postgres";
  }

  /** Leases that ended before this time belong to ended processes. On SQLite the lock of the folder proves that all other processes have ended. */
  get #endedBeforeMs(): number {
    return this.#isShared ? this.#options.realNowMs() : Number.MAX_SAFE_INTEGER;
  }

  #beat(): void {
    this.#beating ??= this.#renew()
      .then(() => this.#look())
      .catch(this.#options.onError)
      .finally(() => {
        this.#beating = undefined;
      });
  }

  async #renew(): Promise<void> {
    const { database, process, realNowMs, names } = this.#options;
    const open = names();
    for (const [name, wakeMs] of this.#unsaved) {
      if (open.includes(name)) this.#unsaved.delete(name);
      else await this.closed(name, wakeMs);
    }
    if (open.length === 0) return;
    // The announcement of a move is lost if this process was not connected.
    for (const { name } of await listMoving(database().reader)) if (open.includes(name)) await this.#options.closeMoving(name);
    const renewed = await database().write((tx) => renewOpenings(tx, process, realNowMs() + LEASE_MS));
    // This process stalled for longer than its leases are valid, and another process has taken over.
    if (renewed < open.length) for (const name of open) await database().write((tx) => this.note(tx, name));
  }

  /** Does not wait for the move, so that the leases of this process are renewed meanwhile. */
  #resume(name: string): void {
    if (this.#resuming.has(name)) return;
    this.#resuming.add(name);
    this.#options
      .resumeMove(name)
      .catch(this.#options.onError)
      .finally(() => this.#resuming.delete(name));
  }

  async #look(): Promise<void> {
    if (!this.#wakesOthers) return;
    const { database, process, realNowMs } = this.#options;
    const { reader } = database();
    const left = await findEndedOpenings(reader, process, this.#endedBeforeMs);
    for (const { name } of [...left, ...(await findDueWorlds(reader, realNowMs()))]) this.wake(name);
    for (const { name } of await listMoving(reader)) this.#resume(name);
  }
}
