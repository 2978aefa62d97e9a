/**
 * Records which process has which worlds open. For each open world the process has a lease, which expires after some seconds unless the process
 * renews it. If a process is killed, another process opens its worlds, so that deliveries and deadlines continue. The process that opens the worlds
 * of killed processes also opens idle worlds when they have work.
 *
 * Leases run on real time, like the leases of work (`jobs/work-session.ts`). On SQLite the server has only one process, which at its start opens the
 * worlds that were open when the last process ended.
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

/**
 * The time for which a process's lease of a world is valid without renewal. A running process rarely stalls for longer than this time. If a process
 * is killed, its worlds stay without a process for this time.
 */
const LEASE_MS = 10_000;
/** The time between two renewals of a lease. Four renewals can fail before the lease expires. */
const BEAT_MS = 2_000;

export interface OpenWorldsOptions {
  /** Returns the database of the server's first world. */
  database(): Database;
  /** A text that identifies this process. */
  readonly process: string;
  realNowMs(): number;
  /** Returns the names of the worlds that this process has open, without the first world. */
  names(): string[];
  /** Opens a world. Resolves with undefined if the world does not exist. */
  hold(name: string): Promise<EnteredWorld | undefined>;
  /** Closes a world because another process moves it (D-421). */
  closeMoving(name: string): Promise<void>;
  /** Completes the move of a world after the process that moved it has ended (D-421). */
  resumeMove(name: string): Promise<unknown>;
  /** Records that the world is idle. The next work of the idle world is due at `wakeMs`, in real time. */
  idleUntil(name: string, wakeMs: number): void;
  onError(error: unknown): void;
}

export class OpenWorlds {
  readonly #options: OpenWorldsOptions;
  #wakesOthers = false;
  #timer: ReturnType<typeof setInterval> | undefined;
  #beating: Promise<void> | undefined;
  /**
   * The worlds that this process has closed, although it could not store that they are closed. The value in this map is the time at which the world's
   * next work is due.
   */
  readonly #unsaved = new Map<string, number | null>();
  /** The names of worlds that this process is opening because they have work. */
  readonly #waking = new Set<string>();
  /** The names of worlds whose moves this process is completing. */
  readonly #resuming = new Set<string>();
  /**
   * A promise that resolves when the last opening of a world has ended. Worlds are opened one after the other, so that a server with many worlds
   * starts quickly.
   */
  #lastWoken: Promise<unknown> = Promise.resolve();

  constructor(options: OpenWorldsOptions) {
    this.#options = options;
  }

  /**
   * Stores that this process has the world open, and deletes what ended processes have stored about that world. `at` is the database of `--databases`
   * in which the process has opened the world. Rejects with `databaseUnreachable` if the world is being moved, or has been moved to another database.
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
   * Stores that this process has closed the world. `wakeMs` is the real time at which the world's next work is due, or null if the world has no work.
   * If the list of worlds cannot be reached, the closing is stored later.
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

  /** Starts renewing the leases of this process. With `wakesOthers`, this process also opens the worlds of processes that have ended. */
  async start(wakesOthers: boolean): Promise<void> {
    this.#wakesOthers = wakesOthers;
    if (this.#isShared) {
      // Renewing leases needs a timer, because no event says that a lease will expire. A process that was killed sends no message, so other processes
      // notice its end only because its leases expire. The timer that renews leases does not keep the program running.
      this.#timer = setInterval(() => this.#beat(), BEAT_MS);
      this.#timer.unref();
      await this.#look();
    } else if (wakesOthers) {
      for (const { name, wake_ms } of await findWakeTimes(this.#options.database().reader)) this.#options.idleUntil(name, wake_ms);
      await this.#look();
    }
  }

  /** Opens the world in this process, because the world has work. The world may be open in this process already. */
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
        // If the world could not be opened, for example because all open worlds were in use, its work stays due and the process tries again later.
        this.#options.idleUntil(name, this.#options.realNowMs() + LEASE_MS);
      })
      .finally(() => this.#waking.delete(name));
  }

  /** Stops opening worlds in this process. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#wakesOthers = false;
    await this.#beating;
    await this.#lastWoken;
  }

  /**
   * Gives the worlds that are still open in this process to other processes. Called while the first world is open, or after the first world could not
   * be opened.
   */
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

  /**
   * If a lease expired before this time, the process that had the lease has ended. On SQLite all other processes have ended, because this process has
   * the lock of the folder.
   */
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
    // If this process had no connection to the database, it has missed the announcement of a move.
    for (const { name } of await listMoving(database().reader)) if (open.includes(name)) await this.#options.closeMoving(name);
    const renewed = await database().write((tx) => renewOpenings(tx, process, realNowMs() + LEASE_MS));
    // If this process stalled for longer than its leases are valid, another process has taken over some worlds.
    if (renewed < open.length) for (const name of open) await database().write((tx) => this.note(tx, name));
  }

  /** Completes the move of a world in the background, so that this process can renew its leases meanwhile. */
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
