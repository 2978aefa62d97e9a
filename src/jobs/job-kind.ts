/** The words of a declared job. */
import type { Transaction } from "#storage/database";

/** `W` is the world that the job works on; `graph/contract/feature.ts` says which. */
export interface JobKind<W = unknown> {
  /** Past tense or noun, unique in the server, e.g. `live_video_window`. */
  readonly kind: string;
  /**
   * Called when the job is due, in one process at a time, and again after a throw or when its process ended in the middle:
   * either it can be repeated, or it calls `job.settle` in the transaction of its effect.
   */
  run(world: W, key: string, payload: unknown, job: RunningJob): Promise<void>;
}

export interface RunningJob {
  /** When it was due, by the world's clock. */
  readonly dueMs: number;
  /** 1 for the first run. */
  readonly attempt: number;
  /**
   * Ends the job in the transaction of its effect, so that the effect happens exactly once. Throws `JobLost`, and so undoes
   * the transaction, when the job was replaced, cancelled, or taken over by another process meanwhile.
   */
  settle(tx: Transaction): Promise<void>;
}

export interface ScheduledJob {
  readonly kind: string;
  /** One job of a kind for each key; a second one replaces the first. */
  readonly key: string;
  /** World time. A time that has passed means at once. */
  readonly dueMs: number;
  /** JSON. */
  readonly payload?: unknown;
}

export class JobLost extends Error {
  constructor(kind: string, key: string) {
    super(`the job ${kind} of ${key} belongs to this run no more`);
    this.name = "JobLost";
  }
}
