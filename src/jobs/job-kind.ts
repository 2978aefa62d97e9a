/** The declaration of a kind of job. */
import type { Transaction } from "#storage/database";

/** `W` is the world that the job works on; `graph/contract/feature.ts` says which. */
export interface JobKind<W = unknown> {
  /** Past tense or noun, unique in the server, e.g. `live_video_window`. */
  readonly kind: string;
  /**
   * The limits of one process: how many jobs of the kind run at the same time, how many wait for another server, and how many of one share do
   * either. Without them only the limits of all jobs apply.
   */
  readonly atOnceMax?: { readonly running: number; readonly waiting: number; readonly ofShare?: number };
  /**
   * Runs when the job is due, in one process at a time, and again after a throw or the death of its process. It must be
   * repeatable, or call `job.settle` in the transaction of its effect.
   */
  run(world: W, key: string, payload: unknown, job: RunningJob): Promise<void>;
}

export interface RunningJob {
  /** The due time, on the world's clock. */
  readonly dueMs: number;
  /** 1 for the first run. */
  readonly attempt: number;
  /**
   * Ends the job in the transaction of its effect, so that the effect happens exactly once. Throws `JobLost`, which rolls back
   * the transaction, if the job was replaced, cancelled or taken over by another process.
   */
  settle(tx: Transaction): Promise<void>;
  /** Replaces the payload for the next runs, whichever process does them and however this one ends. Throws `JobLost` as `settle` does. */
  remember(tx: Transaction, payload: unknown): Promise<void>;
  /** A job that waits for another server does not count as running, so other jobs run meanwhile. Rejects if `wait` rejects. */
  whileWaiting<T>(wait: () => Promise<T>): Promise<T>;
}

export interface ScheduledJob {
  readonly kind: string;
  /** There is one job for each kind and key; a second one replaces the first. */
  readonly key: string;
  /** World time. A time in the past means at once. */
  readonly dueMs: number;
  /** The owner of the work, if the kind limits how much one owner has at once. */
  readonly share?: string;
  /** JSON. */
  readonly payload?: unknown;
}

export class JobLost extends Error {
  constructor(kind: string, key: string) {
    super(`this run no longer owns the job ${kind} of ${key}`);
    this.name = "JobLost";
  }
}
