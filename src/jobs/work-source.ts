/** A source of work for the loop of a world: the jobs table, or the webhook deliveries. */
import type { Reader, Transaction } from "#storage/database";
import type { WorkSession } from "./work-session.ts";

export interface Turn {
  /** World time. */
  readonly nowMs: number;
  /** World time by the clock that is stored: another process may have set it back, or replaced the state of the world, and this one may not know it yet. */
  storedNowMs(reader: Reader): Promise<number>;
  readonly session: WorkSession;
  /** A caller waits until all due work has happened, so rate limits do not delay work. */
  readonly isHurried: boolean;
  /** The program ends: results are stored, and no work starts. */
  readonly isLast: boolean;
}

export interface TurnEnd {
  /** Work was claimed or settled, so another turn may find more. */
  readonly didWork: boolean;
  /** World time of the next due work, as far as this turn knows; undefined if there is none, or if the source wakes the loop. */
  readonly nextDueMs: number | undefined;
}

export interface WorkSource {
  /** Claims due work and starts it without waiting for its end. Turns of one source never overlap. */
  turn(turn: Turn): Promise<TurnEnd>;
  /**
   * Resolves when all started work has ended; storing the results may need another turn. Returns whether there was anything to
   * wait for.
   */
  settled(): Promise<boolean>;
  /** Whether work is due that any process that shares the database runs or will claim; left out: nobody who waits for due work waits for that. */
  hasDueAnywhere?(nowMs: number): Promise<boolean>;
  /** Work runs, or waits for something else than its time. */
  isBusy(nowMs: number): boolean;
  /** Gives back the work held under `fence`. */
  release(tx: Transaction, fence: number): Promise<void>;
}
