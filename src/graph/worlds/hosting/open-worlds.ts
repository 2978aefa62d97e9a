/**
 * Which process has which worlds open, for all processes of a database. A process says so again as long as it runs. The worlds of one that
 * was killed are opened by another one, so that their deliveries and deadlines go on; so are worlds that rest and have work by now.
 *
 * Leases run on real time, as those of work do (`jobs/work-session.ts`). On SQLite there is one process, which opens at its start what was
 * left open.
 */
import type { Database, Transaction } from "#storage/database";
import type { EnteredWorld } from "./world-slot.ts";
import {
  deleteEndedOpenings,
  deleteOpening,
  endOpenings,
  findDueWorlds,
  findEndedOpenings,
  findWakeTimes,
  renewOpenings,
  saveOpening,
  setWakeTime,
} from "./worlds.store.ts";

/** Longer than a living process stalls. The worlds of a killed process wait as long. */
const LEASE_MS = 10_000;
/** Four times can fail before the lease ends. */
const BEAT_MS = 2_000;

export interface OpenWorldsOptions {
  /** That of the first world. */
  database(): Database;
  /** Of this process: no other one has it. */
  readonly process: string;
  realNowMs(): number;
  /** That this process has open, without the first one. */
  names(): string[];
  /** Opens the world; undefined: there is none. */
  hold(name: string): Promise<EnteredWorld | undefined>;
  /** A world rests until then, in real time. */
  rests(name: string, wakeMs: number): void;
  onError(error: unknown): void;
}

export class OpenWorlds {
  readonly #options: OpenWorldsOptions;
  #wakesOthers = false;
  #timer: ReturnType<typeof setInterval> | undefined;
  #beating: Promise<void> | undefined;
  /** Those that are to be opened. */
  readonly #waking = new Set<string>();
  /** One after the other, so that a start is not held up by many. */
  #lastWoken: Promise<unknown> = Promise.resolve();

  constructor(options: OpenWorldsOptions) {
    this.#options = options;
  }

  /** The process has the world open, and takes it over from those that ended. */
  async opened(name: string): Promise<void> {
    await this.#options.database().write(async (tx) => {
      await setWakeTime(tx, name, null);
      await deleteEndedOpenings(tx, name, this.#options.process, this.#endedBeforeMs);
      await this.note(tx, name);
    });
  }

  /** The process has the world open. Nothing is stored of one that is not in the list of worlds. */
  note(tx: Transaction, name: string): Promise<void> {
    return saveOpening(tx, name, this.#options.process, this.#options.realNowMs() + LEASE_MS);
  }

  /** The process has closed it. `wakeMs`: when it has work again, in real time; null: it has none. */
  async closed(name: string, wakeMs: number | null): Promise<void> {
    await this.#options.database().write(async (tx) => {
      await setWakeTime(tx, name, wakeMs);
      await deleteOpening(tx, name, this.#options.process);
    });
  }

  /** `wakesOthers`: this process opens the worlds that others have left. */
  async start(wakesOthers: boolean): Promise<void> {
    this.#wakesOthers = wakesOthers;
    if (this.#isShared) {
      // A timer, because only time shows that another process has ended. It does not keep the program running.
      this.#timer = setInterval(() => this.#beat(), BEAT_MS);
      this.#timer.unref();
      await this.#look();
    } else if (wakesOthers) {
      for (const { name, wake_ms } of await findWakeTimes(this.#options.database().reader)) this.#options.rests(name, wake_ms);
      await this.#look();
    }
  }

  /** The world is to be opened. Also where it is open here, because another process may have left it. */
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
      .catch(this.#options.onError)
      .finally(() => this.#waking.delete(name));
  }

  /** Opens no further worlds. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#wakesOthers = false;
    await this.#beating;
    await this.#lastWoken;
  }

  /** What the process has not closed goes to others. Called while the first world is open, or has failed to open. */
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

  /** On SQLite the lock of the folder proves that all other processes have ended. */
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
    if (open.length === 0) return;
    const renewed = await database().write((tx) => renewOpenings(tx, process, realNowMs() + LEASE_MS));
    // It stalled for longer than its lease, and another process has taken over.
    if (renewed < open.length) for (const name of open) await database().write((tx) => this.note(tx, name));
  }

  async #look(): Promise<void> {
    if (!this.#wakesOthers) return;
    const { database, process, realNowMs } = this.#options;
    const { reader } = database();
    const left = await findEndedOpenings(reader, process, this.#endedBeforeMs);
    for (const { name } of [...left, ...(await findDueWorlds(reader, realNowMs()))]) this.wake(name);
  }
}
