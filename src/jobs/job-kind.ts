/** The declaration of a kind of job. */
import type { Transaction } from "#storage/database";

/** A kind of job, as its feature declares it. `W` is the type of the world that the job works on; `graph/contract/feature.ts` says which. */
export interface JobKind<W = unknown> {
  /** A noun or a past tense that is unique in the server, e.g. `live_video_window`. */
  readonly kind: string;
  /**
   * The limits of one process for this kind: the number of jobs that run at the same time, the number that wait for another server, and the number of
   * both together that belong to one share. Without these numbers, only the limits of all jobs together apply.
   */
  readonly atOnceMax?: { readonly running: number; readonly waiting: number; readonly ofShare?: number };
  /**
   * Runs when the job is due, in one process at a time, and runs again after a throw or the death of its process. Because of the repetition `run`
   * must be repeatable, or call `job.settle` in the transaction of its effect.
   */
  run(world: W, key: string, payload: unknown, job: RunningJob): Promise<void>;
}

export interface RunningJob {
  /** The due time, on the world's clock. */
  readonly dueMs: number;
  /** The number of this run; 1 for the first run. */
  readonly attempt: number;
  /**
   * Ends the job in the transaction of its effect, so that the effect happens exactly once. Throws `JobLost`, which rolls back
   * the transaction, if the job was replaced, cancelled or taken over by another process.
   */
  settle(tx: Transaction): Promise<void>;
  /** Replaces the payload for the next runs, whichever process runs them and however this run ends. Throws `JobLost`, as `settle` does. */
  remember(tx: Transaction, payload: unknown): Promise<void>;
  /**
   * Runs `wait`. During the wait the job does not count as running, because it waits for another server, so other jobs can run. Rejects if `wait`
   * rejects.
   */
  whileWaiting<T>(wait: () => Promise<T>): Promise<T>;
}

export interface ScheduledJob {
  readonly kind: string;
  /** The key of the job. For each kind and key there is one job: scheduling a second one replaces the first. */
  readonly key: string;
  /** World time at which the job is due. A time in the past means at once. */
  readonly dueMs: number;
  /** The owner of the work, if the kind limits how many jobs one owner has at once. */
  readonly share?: string;
  /** A value that can be written as JSON, which `run` gets. */
  readonly payload?: unknown;
}

export class JobLost extends Error {
  constructor(kind: string, key: string) {
    super(`this run no longer owns the job ${kind} of ${key}`);
    this.name = "JobLost";
  }
}
