/** A source of work for the loop of a world: the jobs table, or the webhook deliveries. */
import type { Reader, Transaction } from "#storage/database";
import type { WorkSession } from "./work-session.ts";

export interface Turn {
  /** World time of the turn. */
  readonly nowMs: number;
  /**
   * Reads world time by the stored clock: another process may have set the clock back, or replaced the state of the world, and this process may not
   * know it yet.
   */
  storedNowMs(reader: Reader): Promise<number>;
  readonly session: WorkSession;
  /** Whether a caller waits until all due work has happened, so that rate limits must not delay work. */
  readonly isHurried: boolean;
  /** Whether the program ends: then results are stored, and no work starts. */
  readonly isLast: boolean;
}

export interface TurnEnd {
  /** Whether work was claimed or settled, so that another turn may find more. */
  readonly didWork: boolean;
  /** World time of the next due work, as far as this turn knows. Undefined if no work waits for its time, or if the source wakes the loop. */
  readonly nextDueMs: number | undefined;
}

export interface WorkSource {
  /** Claims due work and starts it without waiting for its end. Turns of one source never overlap. */
  turn(turn: Turn): Promise<TurnEnd>;
  /** Resolves when all started work has ended; storing the results may need another turn. The value is false if there was nothing to wait for. */
  settled(): Promise<boolean>;
  /** Whether work is due that any process on the shared database runs or will claim. Left out if callers of `runDue` do not wait for such work. */
  hasDueAnywhere?(nowMs: number): Promise<boolean>;
  /** Whether work runs, or waits for something else than its due time. */
  isBusy(nowMs: number): boolean;
  /** Gives back the work that an ended session holds under `fence`. */
  release(tx: Transaction, fence: number): Promise<void>;
}
