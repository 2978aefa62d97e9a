/**
 * Stores how attempts ended: as soon as they have, many in one transaction, beside the transaction that claims the next ones.
 * The sooner a result is stored, the less a killed process sends twice.
 */
import type { Jobs } from "#jobs/jobs";
import type { Clock } from "#kernel/clock";
import type { Database, Transaction } from "#storage/database";
import type { Callbacks } from "../callbacks/callbacks.ts";
import { saveHealth } from "../callbacks/health.ts";
import { beginRetention } from "../history/retention.ts";
import { withAttempt } from "./attempts.ts";
import type { Claimed } from "./claims.ts";
import { DELIVERED, FAILED, NO_CALLBACK, type ResultRow, saveMove, saveResults, WAITING } from "./deliveries.store.ts";
import { isAttempted, type Outcome } from "./outcome.ts";

export interface Result {
  readonly claimed: Claimed;
  readonly outcome: Outcome;
  /** It took a slot of its queue, whatever came of it; otherwise it was claimed ahead and given back. */
  readonly wasSent: boolean;
  /** World time. */
  readonly atMs: number;
}

export interface StoredResult extends Result {
  /** The queue in which the delivery waits for the same attempt; undefined: the attempt was made. */
  readonly waitsIn: string | undefined;
}

export interface ResultWriterOptions {
  readonly clock: Clock;
  readonly database: Database;
  readonly callbacks: Callbacks;
  readonly jobs: Jobs<unknown>;
  /** After the commit. */
  onStored(result: StoredResult): void;
}

export class ResultWriter {
  readonly #options: ResultWriterOptions;
  #unstored: Result[] = [];
  #running: Promise<void> | undefined;
  #hasRetention = false;

  constructor(options: ResultWriterOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#unstored.length === 0 && this.#running === undefined;
  }

  add(result: Result): void {
    this.#unstored.push(result);
  }

  /** Stores all results, those that are added meanwhile too. Rejects when the database cannot be reached; then none is lost. */
  flush(): Promise<void> {
    this.#running ??= this.#storeAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #storeAll(): Promise<void> {
    const { database, onStored } = this.#options;
    while (this.#unstored.length > 0) {
      const results: Result[] = [];
      let stored: StoredResult[];
      try {
        stored = await database.write(async (tx) => {
          // Taken when the transaction runs, with all that were added until then. If it runs again, it adds what came since.
          results.push(...this.#unstored.splice(0));
          await this.#beginRetention(tx);
          return this.#store(tx, results);
        });
      } catch (error) {
        this.#unstored.unshift(...results);
        throw error;
      }
      for (const result of stored) onStored(result);
    }
  }

  async #beginRetention(tx: Transaction): Promise<void> {
    if (this.#hasRetention) return;
    await beginRetention(tx, this.#options.jobs, this.#options.clock.nowMs());
    tx.afterCommit(() => {
      this.#hasRetention = true;
    });
  }

  async #store(tx: Transaction, results: readonly Result[]): Promise<StoredResult[]> {
    const { callbacks, jobs } = this.#options;
    await saveResults(tx, results.flatMap(rowOf));
    const stored: StoredResult[] = [];
    const lastOf = new Map<string, { isDelivered: boolean; atMs: number }>();
    for (const result of results) {
      const { claimed, outcome, atMs } = result;
      // Most results are attempts, which need no promise here.
      const isMade = isAttempted(outcome);
      stored.push({ ...result, waitsIn: isMade ? undefined : await saveUnsent(tx, result, callbacks) });
      if (isMade && claimed.row.lane !== NO_CALLBACK) lastOf.set(claimed.row.lane, { isDelivered: outcome.kind === "delivered", atMs });
    }
    for (const [callback, last] of lastOf) await saveHealth(tx, callbacks, jobs, callback, last);
    return stored;
  }
}

/** The fence says whether the delivery is still this session's: if another one has taken it over, the row is left alone. */
function rowOf({ claimed, outcome }: Result): ResultRow[] {
  if (!isAttempted(outcome)) return [];
  const { row, fence } = claimed;
  const attempts = withAttempt(row.attempts, outcome.attempt);
  if (outcome.kind === "retry") return [{ id: row.id, fence, status: WAITING, attempts, due_ms: outcome.dueMs, ended_ms: null }];
  const status = outcome.kind === "delivered" ? DELIVERED : FAILED;
  return [{ id: row.id, fence, status, attempts, due_ms: null, ended_ms: outcome.endedMs }];
}

/** Returns the queue in which the delivery waits now. */
async function saveUnsent(tx: Transaction, { claimed, outcome, atMs }: Result, callbacks: Callbacks): Promise<string> {
  const { row, fence, isRetry } = claimed;
  let queue = row.lane;
  if (outcome.kind === "moved") queue = outcome.url === undefined ? NO_CALLBACK : await callbacks.idFor(tx, row.app, outcome.url);
  await saveMove(tx, row, !isRetry, fence, queue, atMs);
  return queue;
}
