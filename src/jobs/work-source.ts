/** A source of work for the loop of a world. The jobs table is one source of work, and the webhook deliveries are another. */
import type { Reader, Transaction } from "#storage/database";
import type { WorkSession } from "./work-session.ts";

export interface Turn {
  /** The world time of the turn. */
  readonly nowMs: number;
  /**
   * Reads the world time from the stored clock. Another process may have set the clock back or replaced the world's data, and this process may not
   * have noticed the change yet.
   */
  storedNowMs(reader: Reader): Promise<number>;
  readonly session: WorkSession;
  /** Whether a caller waits until all due work is done. In a turn for such a caller, rate limits must not delay work. */
  readonly isHurried: boolean;
  /** Whether this is the last turn of the program: in the last turn the source stores results, and starts no new work. */
  readonly isLast: boolean;
}

export interface TurnEnd {
  /** Whether the turn claimed or settled work, so that another turn may find more. */
  readonly didWork: boolean;
  /**
   * The world time at which the source's next work is due, as far as this turn has found out. The time is undefined if no work waits for a time, or
   * if the source itself wakes the loop.
   */
  readonly nextDueMs: number | undefined;
}

export interface WorkSource {
  /** Claims due work and starts it without waiting until it is done. Two turns of one source never overlap. */
  turn(turn: Turn): Promise<TurnEnd>;
  /**
   * The promise resolves when all started work is done; another turn may be needed to store the results of the work. The promise resolves with false
   * if no work was running.
   */
  settled(): Promise<boolean>;
  /**
   * Whether a process on the shared database runs due work or will claim it. The function is absent if callers of `runDue` do not wait for the work
   * of other processes.
   */
  hasDueAnywhere?(nowMs: number): Promise<boolean>;
  /** Whether work is running, or waits for something other than its due time. */
  isBusy(nowMs: number): boolean;
  /** Gives back the work that an ended session claimed with `fence`. */
  release(tx: Transaction, fence: number): Promise<void>;
}
