/**
 * A world's clock, which is stored with the world. World time is real time, unless the control API has moved or frozen it
 * (docs/operating/control-api.md).
 */
import type { WorkLoop } from "#jobs/work-loop";
import { type Clock, type ClockState, worldTimeMs } from "#kernel/clock";
import type { Database, Reader, Transaction } from "#storage/database";
import { findSetting, saveSetting, settingFact } from "./settings.store.ts";

const SETTING = "clock";

export class WorldClock implements Clock {
  readonly #database: Database;
  readonly #realNowMs: () => number;
  #state: ClockState | undefined;
  #rereading: Promise<void> | undefined;
  /** The number of changes of the clock that this process has begun and not yet ended. `#settings` counts all changes of the clock so far. */
  #underWay = 0;
  #settings = 0;
  #readings = 0;
  /** The number of the latest read of the stored clock whose result was used. */
  #newestReading = 0;

  private constructor(database: Database, realNowMs: () => number, state: ClockState | undefined) {
    this.#database = database;
    this.#realNowMs = realNowMs;
    this.#state = state;
    // If another process moves the clock, that process invalidates this fact.
    database.onInvalidate((kind, key) => {
      if (kind === undefined || (kind === settingFact && key === SETTING)) this.#reload();
    });
  }

  static async open(database: Database, realNowMs: () => number): Promise<WorldClock> {
    return new WorldClock(database, realNowMs, await readState(database.reader));
  }

  /** Stores the current time before the world's data are saved, so that `resume` can continue from this time. */
  async note(): Promise<void> {
    if (this.#runsByItself) await this.set(this.nowMs(), false);
  }

  /**
   * Lets the world's time continue from the saved time; called after saved data were restored. The clock of a world on real time stays on real time.
   */
  async resume(): Promise<void> {
    if (this.#runsByItself) await this.set((this.#state as ClockState).worldMs, false);
  }

  get #runsByItself(): boolean {
    return this.#state !== undefined && !this.#state.isFrozen;
  }

  nowMs(): number {
    return worldTimeMs(this.#state, this.#realNowMs());
  }

  /** The world time that follows from the stored settings of the clock, which another process may have changed. */
  async storedNowMs(reader: Reader): Promise<number> {
    return worldTimeMs(await readState(reader), this.#realNowMs());
  }

  get isFrozen(): boolean {
    return this.#state?.isFrozen === true;
  }

  /** Sets the clock. The change of the clock is durable when the promise resolves. Other processes use the new time within 1 s. */
  async set(worldMs: number, isFrozen: boolean): Promise<void> {
    const state: ClockState = { worldMs, realMs: this.#realNowMs(), isFrozen };
    await this.#alone(async () => {
      await this.#database.write((tx) => saveSetting(tx, SETTING, JSON.stringify(state)));
      this.#state = state;
    });
  }

  /**
   * Sets the clock and runs `body` in one transaction. While `body` runs, the clock already has the new time. If `body` throws, the change of the
   * clock and all changes of `body` are rolled back.
   */
  async setWith<T>(worldMs: number, isFrozen: boolean, body: (tx: Transaction) => Promise<T>): Promise<T> {
    const before = this.#state;
    const state: ClockState = { worldMs, realMs: this.#realNowMs(), isFrozen };
    return this.#alone(async () => {
      this.#state = state;
      try {
        return await this.#database.write(async (tx) => {
          await saveSetting(tx, SETTING, JSON.stringify(state));
          return body(tx);
        });
      } catch (error) {
        this.#state = before;
        throw error;
      }
    });
  }

  /**
   * Runs a function that changes the clock. A read of the stored clock that overlaps with the change may be out of date, so the clock is read again
   * afterwards.
   */
  async #alone<T>(set: () => Promise<T>): Promise<T> {
    this.#underWay++;
    this.#settings++;
    try {
      return await set();
    } finally {
      this.#underWay--;
      this.#reload();
    }
  }

  get rereading(): Promise<void> | undefined {
    return this.#rereading;
  }

  /**
   * Reads the clock's stored settings. If several reads of the clock overlap, the result of an earlier read never replaces the result of a later one.
   * A caller that waits for the stored clock gets the result of its own read or of a later one.
   */
  #reload(): void {
    if (this.#underWay > 0) return;
    const settings = this.#settings;
    const number = ++this.#readings;
    const rereading: Promise<void> = readState(this.#database.reader)
      .then((state) => {
        if (number < this.#newestReading || settings !== this.#settings) return;
        this.#newestReading = number;
        this.#state = state;
      })
      // If the database cannot be reached, the clock continues with its last state, and reads the state again after reconnecting.
      .catch(() => {})
      .finally(() => {
        if (this.#rereading === rereading) this.#rereading = undefined;
      });
    this.#rereading = rereading;
  }
}

async function readState(reader: Reader): Promise<ClockState | undefined> {
  const text = await findSetting(reader, SETTING);
  return text === undefined ? undefined : (JSON.parse(text) as ClockState);
}

/** The moves of clocks that are running now. The key of this map is the work loop of the world. */
const moves = new WeakMap<WorkLoop, object>();

/** An object that identifies the running move of a world's clock. Undefined if the clock is not being moved. */
export const moveOf = (loop: WorkLoop): object | undefined => moves.get(loop);

/** Moves a world's clock forward in the same way as `WorkLoop.runUntil`. Two moves of the same world's clock must not overlap. */
export async function moveUntil(loop: WorkLoop, ...move: Parameters<WorkLoop["runUntil"]>): Promise<void> {
  moves.set(loop, {});
  try {
    await loop.runUntil(...move);
  } finally {
    moves.delete(loop);
  }
}
