/** A world's clock: real time, or moved, or frozen by the control API; kept with the world (operating.md: Control API). */
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
  /** Settings of this process that are under way, and how many there have been. */
  #underWay = 0;
  #settings = 0;
  #readings = 0;
  /** The last one whose result counts. */
  #newestReading = 0;

  private constructor(database: Database, realNowMs: () => number, state: ClockState | undefined) {
    this.#database = database;
    this.#realNowMs = realNowMs;
    this.#state = state;
    // Another process may move the clock: then it invalidates the setting's fact.
    database.onInvalidate((kind, key) => {
      if (kind === undefined || (kind === settingFact && key === SETTING)) this.#reload();
    });
  }

  static async open(database: Database, realNowMs: () => number): Promise<WorldClock> {
    return new WorldClock(database, realNowMs, await readState(database.reader));
  }

  /** Before the world's state is saved, so that `resume` finds the time of this moment. */
  async note(): Promise<void> {
    if (this.#runsByItself) await this.set(this.nowMs(), false);
  }

  /** After a saved state was brought back: time goes on from where it stood. A world that is on real time stays on it. */
  async resume(): Promise<void> {
    if (this.#runsByItself) await this.set((this.#state as ClockState).worldMs, false);
  }

  get #runsByItself(): boolean {
    return this.#state !== undefined && !this.#state.isFrozen;
  }

  nowMs(): number {
    return worldTimeMs(this.#state, this.#realNowMs());
  }

  /** By the state that is stored. */
  async storedNowMs(reader: Reader): Promise<number> {
    return worldTimeMs(await readState(reader), this.#realNowMs());
  }

  get isFrozen(): boolean {
    return this.#state?.isFrozen === true;
  }

  /** Durable when it resolves; other processes follow within 1 s. */
  async set(worldMs: number, isFrozen: boolean): Promise<void> {
    const state: ClockState = { worldMs, realMs: this.#realNowMs(), isFrozen };
    await this.#alone(async () => {
      await this.#database.write((tx) => saveSetting(tx, SETTING, JSON.stringify(state)));
      this.#state = state;
    });
  }

  /** Runs `body` in one transaction with the setting of the clock; `body` sees the new time already. If it throws, both are undone. */
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

  /** What is read meanwhile may be older than what is set, so it is read again afterwards. */
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

  /** Of several that run at once none undoes what a later one has read. Who waits for one of them sees what that one has read, or later. */
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
      // The database is unreachable: the clock runs on as it was, and is read again after the next reconnection.
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

/** Moves of clocks that are under way. */
const moves = new WeakMap<WorkLoop, object>();

/** An object of the move that is under way, if one is: what is remembered by it counts until the move ends. */
export const moveOf = (loop: WorkLoop): object | undefined => moves.get(loop);

/** As `WorkLoop.runUntil`. Moves of one world must come one after another. */
export async function moveUntil(loop: WorkLoop, ...move: Parameters<WorkLoop["runUntil"]>): Promise<void> {
  moves.set(loop, {});
  try {
    await loop.runUntil(...move);
  } finally {
    moves.delete(loop);
  }
}
