/**
 * Stores the results of attempts as soon as the attempts end, many in one transaction, independently of the transaction that claims the next
 * deliveries. The sooner a result is stored, the fewer deliveries are sent twice after the process is killed.
 */
import type { Transaction } from "#storage/database";
import type { Callbacks } from "../callbacks/callbacks.ts";
import { type AttemptResult, type HealthChange, recordAttempts, recordDeparture } from "../callbacks/health.ts";
import { beginRetention } from "../callbacks/health-jobs.ts";
import type { DeliveryDeps, WebhookDeps } from "../deps.ts";
import { logDelivered } from "../history/delivery-log.store.ts";
import { type AttemptedOutcome, isAttempted, type Outcome } from "../observer.ts";
import { isGone } from "./attempt.ts";
import { type Attempt, withAttempts } from "./attempts.ts";
import type { Claimed } from "./claims.ts";
import { DELIVERED, FAILED, NO_CALLBACK, type ResultRow, saveMove, saveResults, UNSUBSCRIBED, WAITING } from "./deliveries.store.ts";

export interface Result {
  readonly claimed: Claimed;
  readonly outcome: Outcome;
  /** Whether the delivery used a slot of its queue's concurrency window. A delivery that used no slot was given back without an attempt. */
  readonly wasSent: boolean;
  /** The world time at which the attempt ended. */
  readonly atMs: number;
}

export interface StoredResult extends Result {
  /** The queue in which the delivery waits for the same attempt; undefined if the delivery has ended or waits for its next attempt. */
  readonly waitsIn: string | undefined;
}

export interface ResultWriterOptions extends Pick<DeliveryDeps, "clock" | "database" | "callbacks">, Pick<WebhookDeps, "jobs" | "hasLog"> {
  /** Called for each result after its commit. */
  onStored(result: StoredResult): void;
  /** Called after the results are committed, if they paused the callback. */
  onHealth(change: HealthChange): void;
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

  /**
   * Stores all results, also results added while this method runs. If the database cannot be reached, the promise rejects, and the results stay in
   * memory.
   */
  flush(): Promise<void> {
    this.#running ??= this.#storeAll()
      .finally(() => {
        this.#running = undefined;
      })
      // A result may have been added after this flush stored its last results but before it ended, so another flush stores that result.
      .then(() => (this.#unstored.length > 0 ? this.flush() : undefined));
    return this.#running;
  }

  async #storeAll(): Promise<void> {
    const { database, onStored } = this.#options;
    while (this.#unstored.length > 0) {
      const results: Result[] = [];
      let stored: StoredResult[];
      try {
        stored = await database.write(async (tx) => {
          // The transaction stores all results that were added before it runs. If the transaction is rolled back and runs again, it also stores the
          // results that were added meanwhile.
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
    const { callbacks } = this.#options;
    await saveResults(tx, results.flatMap(rowOf));
    const stored: StoredResult[] = [];
    const attemptResults = new Map<string, AttemptResult[]>();
    const left = new Set<string>();
    for (const result of results) {
      const { claimed, outcome } = result;
      const { callback } = claimed.row;
      // The method `saveResults` has already stored most results completely, so the code does not await a promise for these.
      const isStored = outcome.kind === "unsubscribed" || (isAttempted(outcome) && outcome.kind !== "probed");
      const waitsIn = isStored ? undefined : await saveWaiting(tx, result, callbacks);
      stored.push({ ...result, waitsIn });
      // An attempt without a callback made no request.
      if (isAttempted(outcome) && outcome.attempt.callback !== undefined) {
        const known = attemptResults.get(callback);
        if (known === undefined) attemptResults.set(callback, [attemptResultOf(outcome)]);
        else known.push(attemptResultOf(outcome));
      }
      // A delivery whose event was erased has failed without a request (D-172).
      const hasLeft =
        outcome.kind === "moved" || outcome.kind === "unsubscribed" || (outcome.kind === "failed" && outcome.attempt.callback === undefined);
      if (hasLeft && callback !== NO_CALLBACK) left.add(callback);
    }
    await this.#storeHealth(tx, attemptResults, left);
    // The transaction locks the log of delivered webhooks last, so that the log is locked for as short a time as possible.
    if (this.#options.hasLog) await logDelivered(tx, results.flatMap(deliveredIn), this.#options.clock.nowMs());
    return stored;
  }

  /** Stores the health of callbacks in the order of their ids, because two processes that lock callbacks in different orders could deadlock. */
  async #storeHealth(tx: Transaction, attemptResults: ReadonlyMap<string, readonly AttemptResult[]>, left: ReadonlySet<string>): Promise<void> {
    for (const [id, attempts] of [...attemptResults].sort(byKey)) {
      const change = await recordAttempts(tx, this.#options, id, attempts);
      if (change !== undefined) tx.afterCommit(() => this.#options.onHealth(change));
    }
    for (const id of [...left].sort()) await recordDeparture(tx, this.#options, id);
  }
}

const deliveredIn = ({ claimed, outcome }: Result): string[] => (outcome.kind === "delivered" ? [claimed.row.id] : []);

const byKey = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number => (one < other ? -1 : 1);

const attemptResultOf = ({ kind, attempt }: AttemptedOutcome): AttemptResult => ({
  result: kind === "delivered" ? "delivered" : isGone(attempt) ? "gone" : "failed",
  atMs: attempt.time_ms,
});

const attemptsIn = ({ attempt, unanswered = [] }: AttemptedOutcome): readonly Attempt[] => [...unanswered, attempt];

/**
 * Returns the row that stores a result. The database stores this row only if the delivery still has this session's fence, because another session may
 * have taken the delivery over.
 */
function rowOf({ claimed, outcome }: Result): ResultRow[] {
  const { row, fence } = claimed;
  if (outcome.kind === "unsubscribed")
    return [{ id: row.id, fence, status: UNSUBSCRIBED, attempts: row.attempts, due_ms: null, ended_ms: outcome.endedMs }];
  if (!isAttempted(outcome) || outcome.kind === "probed") return [];
  const attempts = withAttempts(row.attempts, attemptsIn(outcome));
  if (outcome.kind === "retry") return [{ id: row.id, fence, status: WAITING, attempts, due_ms: outcome.dueMs, ended_ms: null }];
  const status = outcome.kind === "delivered" ? DELIVERED : FAILED;
  return [{ id: row.id, fence, status, attempts, due_ms: null, ended_ms: outcome.endedMs }];
}

/** Stores that the delivery waits, and returns the queue in which it waits now. */
async function saveWaiting(tx: Transaction, { claimed, outcome, atMs }: Result, callbacks: Callbacks): Promise<string> {
  const { row, fence, isRetry } = claimed;
  let queue = row.callback;
  if (outcome.kind === "moved") queue = outcome.url === undefined ? NO_CALLBACK : await callbacks.idFor(tx, row.app, outcome.url);
  const attempts = outcome.kind === "probed" ? withAttempts(row.attempts, attemptsIn(outcome)) : row.attempts;
  await saveMove(tx, { id: row.id, entity: row.entity, attempts }, !isRetry, fence, queue, atMs);
  return queue;
}
