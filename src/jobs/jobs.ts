/**
 * The jobs of one world. A feature schedules a job in the transaction that makes the job necessary. The job runs when it is due on the world's clock.
 */
import type { Tracing } from "#kernel/tracing/tracing";
import type { Database, Reader, Transaction } from "#storage/database";
import { type JobKind, JobLost, type RunningJob, type ScheduledJob } from "./job-kind.ts";
import {
  claimJob,
  deleteJob,
  findDueJobs,
  findDueTime,
  findNextDueTime,
  findRunningJobs,
  giveBackJob,
  hasDueJob,
  type JobRow,
  postponeJob,
  releaseJobs,
  saveJob,
  savePayload,
  settleJob,
} from "./jobs.store.ts";
import { KindLoads } from "./kind-loads.ts";
import type { WorkLoop } from "./work-loop.ts";
import type { WorkSession } from "./work-session.ts";
import type { Turn, TurnEnd, WorkSource } from "./work-source.ts";

/**
 * The greatest number of jobs that run at the same time. Several jobs run at a time because, while most jobs write a few rows, a job that ingests a
 * file takes long and must not block the others.
 */
const RUNNING_MAX = 8;
/**
 * The greatest number of jobs that wait for another server and therefore do not count as running. Each waiting job has a connection to another
 * server.
 */
const WAITING_MAX = 64;
/** The delays before the second, third, … run of a job that failed. All later runs of the job use the last delay. */
const BACKOFF_MS = [1_000, 5_000, 30_000, 120_000, 600_000, 3_600_000] as const;
/**
 * The greatest fraction by which the delay before the next run is shortened at random, so that jobs that failed together do not run again together.
 */
const JITTER = 0.1;
const ERROR_CHARACTERS_MAX = 500;
/** The delay before another attempt to store a job's result, while the database cannot be reached. */
const STORE_AGAIN_MS = 500;

export interface JobsOptions<W> {
  readonly database: Database;
  readonly loop: WorkLoop;
  readonly kinds: readonly JobKind<W>[];
  /** A function that returns the world, because a world is created together with its jobs. */
  readonly world: () => W;
  /** The tracer is absent if tracing is off. */
  readonly tracing?: Tracing | undefined;
  onStart?(kind: string, key: string): void;
  /** The server calls this function when a run of a job failed; the job will run again. */
  onFailure(kind: string, key: string, error: unknown): void;
}

export class Jobs<W = unknown> implements WorkSource {
  readonly #options: JobsOptions<W>;
  readonly #kinds: ReadonlyMap<string, JobKind<W>>;
  readonly #loads: KindLoads;
  readonly #running = new Map<string, Promise<void>>();
  /** The number of running jobs that wait for another server. */
  #waitingCount = 0;
  /** Whether a claim has failed. The database may have stored a failed claim nevertheless, if the connection broke during the commit. */
  #mayHoldMore = false;

  constructor(options: JobsOptions<W>) {
    this.#options = options;
    this.#kinds = new Map(options.kinds.map((kind) => [kind.kind, kind]));
    this.#loads = new KindLoads(options.kinds);
    if (this.#kinds.size < options.kinds.length) throw new Error("two job kinds have the same name");
    options.loop.add(this);
  }

  /** Schedules a job. The job runs after the transaction has committed and the world's clock has reached `dueMs`. */
  async schedule(tx: Transaction, { kind, key, dueMs, share = "", payload }: ScheduledJob): Promise<void> {
    if (!this.#kinds.has(kind)) throw new Error(`no feature declares a job of kind ${kind}`);
    await saveJob(tx, { kind, key, share, due_ms: Math.ceil(dueMs), payload: JSON.stringify(payload ?? null) });
    tx.afterCommit(() => this.#options.loop.wake(this));
  }

  /** Cancels a job. Returns whether the job existed. A run of the cancelled job that has begun continues, but it cannot settle the job. */
  cancel(tx: Transaction, kind: string, key: string): Promise<boolean> {
    return deleteJob(tx, kind, key);
  }

  /** The due time of a job in world time. The due time is undefined if the job does not exist. */
  dueTimeOf(reader: Reader, kind: string, key: string): Promise<number | undefined> {
    return findDueTime(reader, kind, key);
  }

  async turn({ nowMs, storedNowMs, session, isLast }: Turn): Promise<TurnEnd> {
    const { database } = this.#options;
    const capacity = RUNNING_MAX - this.#running.size + Math.min(this.#waitingCount, WAITING_MAX);
    // If the limit for running jobs is reached, the server claims no jobs in this turn. When the run of a job ends, the server requests another turn.
    if (capacity <= 0 || isLast) return { didWork: false, nextDueMs: undefined };
    const full = this.#loads.full();
    const nextDueMs = await findNextDueTime(database.reader, full);
    if (this.#mayHoldMore) await this.#giveBackUnknown(session);
    else if (nextDueMs === undefined || nextDueMs > nowMs) return { didWork: false, nextDueMs };
    let fence = 0;
    const claiming = database.write(async (tx) => {
      // The statement reads more jobs than may start, because this process may still run an earlier job that has the same key as one of the jobs that
      // the statement reads.
      const rows = await findDueJobs(tx, nowMs, RUNNING_MAX * 2, full);
      // The function reads the clock after the rows of the jobs are locked, because from then on no other process can replace the rows.
      const dueUntilMs = session.isShared && rows.length > 0 ? await storedNowMs(tx) : nowMs;
      const due = this.#loads.fitting(
        rows.filter((row) => row.due_ms <= dueUntilMs && !this.#running.has(nameOf(row))),
        capacity,
      );
      if (due.length === 0) return due;
      fence = await session.fenceFor(tx);
      for (const row of due) await claimJob(tx, row, fence);
      return due;
    });
    claiming.catch(() => {
      this.#mayHoldMore = session.isShared;
    });
    const claimed = await claiming;
    for (const row of claimed) this.#start(row, fence, nowMs);
    return { didWork: claimed.length > 0, nextDueMs: undefined };
  }

  /**
   * Gives back jobs that belong to the session in the database although this process does not run them. No other process gives the jobs back while
   * the session is alive.
   */
  async #giveBackUnknown(session: WorkSession): Promise<void> {
    await this.#options.database.write(async (tx) => {
      const fence = await session.fenceFor(tx);
      for (const row of await findRunningJobs(tx, fence)) if (!this.#running.has(nameOf(row))) await giveBackJob(tx, row, fence);
    });
    this.#mayHoldMore = false;
  }

  async settled(): Promise<boolean> {
    const hasRunning = this.#running.size > 0;
    while (this.#running.size > 0) await Promise.all(this.#running.values());
    return hasRunning;
  }

  hasDueAnywhere(nowMs: number): Promise<boolean> {
    return hasDueJob(this.#options.database.reader, nowMs);
  }

  isBusy(): boolean {
    return this.#running.size > 0 || this.#mayHoldMore;
  }

  async release(tx: Transaction, fence: number): Promise<void> {
    await releaseJobs(tx, fence);
  }

  #start(row: JobRow, fence: number, nowMs: number): void {
    const name = nameOf(row);
    this.#loads.begin(row);
    const run = this.#run(row, fence, nowMs).then(() => {
      this.#loads.end(row);
      this.#running.delete(name);
      this.#options.loop.wake(this);
    });
    this.#running.set(name, run);
  }

  async #whileWaiting<T>(kind: string, wait: () => Promise<T>): Promise<T> {
    this.#waitingCount++;
    this.#options.loop.wake(this);
    try {
      return await this.#loads.whileWaiting(kind, wait);
    } finally {
      this.#waitingCount--;
    }
  }

  /**
   * Stores the result of a run. The function retries until the result is stored, because no other process may run the job until the result is stored.
   */
  async #store(row: JobRow, body: (tx: Transaction) => Promise<unknown>): Promise<void> {
    const { database, loop, onFailure } = this.#options;
    while (!loop.isStopped) {
      try {
        await database.write(body);
        return;
      } catch (error) {
        onFailure(row.kind, row.key, error);
        await new Promise((resolve) => setTimeout(resolve, STORE_AGAIN_MS));
      }
    }
  }

  async #run(row: JobRow, fence: number, nowMs: number): Promise<void> {
    const { onFailure, world, tracing } = this.#options;
    let isSettled = false;
    const job: RunningJob = {
      dueMs: row.due_ms,
      attempt: row.attempts + 1,
      async settle(tx) {
        if (!(await settleJob(tx, row.kind, row.key, fence))) throw new JobLost(row.kind, row.key);
        tx.afterCommit(() => {
          isSettled = true;
        });
      },
      async remember(tx, payload) {
        if (!(await savePayload(tx, row, fence, JSON.stringify(payload)))) throw new JobLost(row.kind, row.key);
      },
      whileWaiting: (wait) => this.#whileWaiting(row.kind, wait),
    };
    try {
      const kind = this.#kinds.get(row.kind);
      if (kind === undefined) throw new Error(`no feature declares a job of kind ${row.kind}`);
      this.#options.onStart?.(row.kind, row.key);
      const run = () => kind.run(world(), row.key, JSON.parse(row.payload), job);
      await (tracing === undefined ? run() : tracing.run(`job ${row.kind}`, { attributes: { "plaza.attempt": job.attempt } }, run));
    } catch (error) {
      if (error instanceof JobLost || isSettled) return;
      onFailure(row.kind, row.key, error);
      const text = (error instanceof Error ? error.message : String(error)).slice(0, ERROR_CHARACTERS_MAX);
      const dueMs = nowMs + backoffMs(row.attempts);
      await this.#store(row, (tx) => postponeJob(tx, row, fence, dueMs, text));
      return;
    }
    if (!isSettled) await this.#store(row, (tx) => settleJob(tx, row.kind, row.key, fence));
  }
}

const nameOf = ({ kind, key }: Pick<JobRow, "kind" | "key">): string => `${kind} ${key}`;

function backoffMs(attempts: number): number {
  const waitMs = BACKOFF_MS[Math.min(attempts, BACKOFF_MS.length - 1)] as number;
  return Math.round(waitMs * (1 - JITTER * Math.random()));
}
