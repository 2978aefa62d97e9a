/** What the loop of a world works on: a table of jobs, the deliveries of webhooks. */
import type { Transaction } from "#storage/database";
import type { WorkSession } from "./work-session.ts";

export interface Turn {
  /** World time. */
  readonly nowMs: number;
  readonly session: WorkSession;
  /** Somebody waits until whatever is due has happened: nothing is put off to spare a receiver. */
  readonly isHurried: boolean;
  /** The program ends: what has ended is stored, and nothing is begun. */
  readonly isLast: boolean;
}

export interface TurnEnd {
  /** Something was claimed or settled, so that another turn may find more. */
  readonly didWork: boolean;
  /** World time at which more falls due, as far as this turn knows; undefined: nothing, or it wakes the loop itself. */
  readonly nextDueMs: number | undefined;
}

export interface WorkSource {
  /** Claims what is due and starts it without waiting for its end. Turns of one source never overlap. */
  turn(turn: Turn): Promise<TurnEnd>;
  /**
   * Resolves when whatever has been started so far has ended; its result may need another turn to be stored. Returns whether
   * there was anything to wait for.
   */
  settled(): Promise<boolean>;
  /** What is held under `fence` waits again. */
  release(tx: Transaction, fence: number): Promise<void>;
}
