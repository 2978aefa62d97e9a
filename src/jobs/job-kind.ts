/** The declaration of a kind of job. */
import type { Transaction } from "#storage/database";

/** `W` is the world that the job works on; `graph/contract/feature.ts` says which. */
export interface JobKind<W = unknown> {
  /** Past tense or noun, unique in the server, e.g. `live_video_window`. */
  readonly kind: string;
  /**
   * Of one process: jobs of the kind that run at the same time, those that wait for another server, and both together of one share. Without it the
   * limits of all jobs count.
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
  /** Waiting for another server is no work: meanwhile other jobs run. Rejects with what `wait` rejects with. */
  whileWaiting<T>(wait: () => Promise<T>): Promise<T>;
}

export interface ScheduledJob {
  readonly kind: string;
  /** There is one job for each kind and key; a second one replaces the first. */
  readonly key: string;
  /** World time. A time in the past means at once. */
  readonly dueMs: number;
  /** Whose work it is, where the kind says how much of it one may have at once. */
  readonly share?: string;
  /** JSON. */
  readonly payload?: unknown;
}

export class JobLost extends Error {
  constructor(kind: string, key: string) {
    super(`the job ${kind} of ${key} belongs to this run no more`);
    this.name = "JobLost";
  }
}
