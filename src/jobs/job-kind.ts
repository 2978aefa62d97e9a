/** The declaration of a kind of job, with which a feature defines how its jobs run. */
import type { Transaction } from "#storage/database";

/** A kind of job, as its feature declares it. `W` is the type of the world on which the job works; `graph/contract/feature.ts` sets this type. */
export interface JobKind<W = unknown> {
  /** The name of the kind: a noun or a past tense that is unique in the server, e.g. `live_video_window`. */
  readonly kind: string;
  /**
   * The limits for jobs of this kind in one process: how many jobs run at the same time, how many wait for another server, and how many of one owner
   * (`share`) run or wait. If a kind declares no limits, only the limits for all jobs together apply.
   */
  readonly atOnceMax?: { readonly running: number; readonly waiting: number; readonly ofShare?: number };
  /**
   * Does the work of the job. The server calls `run` when the job is due, in one process at a time, and calls it again if it throws or its process
   * ends. Because `run` may be called again, it must have the same effect when it is repeated, or must call `job.settle` in the transaction of its
   * effect.
   */
  run(world: W, key: string, payload: unknown, job: RunningJob): Promise<void>;
}

export interface RunningJob {
  /** The time at which the job is due, on the world's clock. */
  readonly dueMs: number;
  /** The number of this run of the job. The first run has the number 1. */
  readonly attempt: number;
  /**
   * Ends the job in the same transaction as its effect, so that the effect happens exactly once. If the job was replaced, cancelled or taken over by
   * another process, throws `JobLost`, which rolls back the transaction.
   */
  settle(tx: Transaction): Promise<void>;
  /**
   * Replaces the payload of the job for its later runs. Later runs in every process get the new payload, even if this run fails. Throws `JobLost`, as
   * `settle` does.
   */
  remember(tx: Transaction, payload: unknown): Promise<void>;
  /**
   * Runs `wait`, which waits for another server. During the wait the job does not count as running, so that other jobs can run. The returned promise
   * rejects if the promise of `wait` rejects.
   */
  whileWaiting<T>(wait: () => Promise<T>): Promise<T>;
}

export interface ScheduledJob {
  readonly kind: string;
  /** The key of the job. There is only one job for each kind and key: scheduling a second job replaces the first job. */
  readonly key: string;
  /** The world time at which the job is due. If the due time has passed, the job runs at once. */
  readonly dueMs: number;
  /** The owner of the job, for kinds that limit the number of one owner's jobs. */
  readonly share?: string;
  /** A JSON value that is passed to `run`. */
  readonly payload?: unknown;
}

export class JobLost extends Error {
  constructor(kind: string, key: string) {
    super(`this run no longer owns the job ${kind} of ${key}`);
    this.name = "JobLost";
  }
}
