/**
 * How attempts ended, written down: as soon as they have, many in one transaction, beside the one that claims the next. The
 * sooner an end is stored, the less a killed process sends twice.
 */
import type { Jobs } from "#jobs/jobs";
import type { Clock } from "#kernel/clock";
import type { Database, Transaction } from "#storage/database";
import type { Callbacks } from "../callbacks/callbacks.ts";
import { saveHealth } from "../callbacks/health.ts";
import { beginRetention } from "../history/retention.ts";
import type { Outcome } from "./attempt.ts";
import { withAttempt } from "./attempts.ts";
import type { Claimed } from "./claims.ts";
import { DELIVERED, type EndRow, FAILED, NO_LANE, saveEnds, saveMove, WAITING } from "./deliveries.store.ts";

export interface End {
  readonly claimed: Claimed;
  readonly outcome: Outcome;
  /** World time. */
  readonly atMs: number;
}

export interface EndStored {
  readonly end: End;
  /** Where it waits now, other than its own lane. */
  readonly movedTo: string | undefined;
}

export interface EndsOptions {
  readonly clock: Clock;
  readonly database: Database;
  readonly callbacks: Callbacks;
  readonly jobs: Jobs<unknown>;
  onStored(stored: EndStored): void;
}

export class Ends {
  readonly #options: EndsOptions;
  #waiting: End[] = [];
  #running: Promise<void> | undefined;
  /** Stored since the start. */
  count = 0;
  #hasRetention = false;

  constructor(options: EndsOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#running === undefined;
  }

  add(end: End): void {
    this.#waiting.push(end);
  }

  /** Stores what waits and what comes meanwhile. Rejects when the database is away; then all of it waits on. */
  flush(): Promise<void> {
    this.#running ??= this.#storeAll().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #storeAll(): Promise<void> {
    const { database, callbacks, jobs, onStored } = this.#options;
    while (this.#waiting.length > 0) {
      const ends: End[] = [];
      let stored: EndStored[];
      try {
        stored = await database.write(async (tx) => {
          // Taken when the transaction runs, with all that came until then; run again, it takes the same and what came since.
          ends.push(...this.#waiting.splice(0));
          if (!this.#hasRetention) await this.#beginRetention(tx);
          return storeEnds(tx, ends, callbacks, jobs);
        });
      } catch (error) {
        this.#waiting.unshift(...ends);
        throw error;
      }
      this.count += stored.length;
      for (const one of stored) onStored(one);
    }
  }

  async #beginRetention(tx: Transaction): Promise<void> {
    await beginRetention(tx, this.#options.jobs, this.#options.clock.nowMs());
    tx.afterCommit(() => {
      this.#hasRetention = true;
    });
  }
}

async function storeEnds(tx: Transaction, ends: readonly End[], callbacks: Callbacks, jobs: Jobs<unknown>): Promise<EndStored[]> {
  await saveEnds(tx, ends.flatMap(rowOf));
  const stored: EndStored[] = [];
  for (const end of ends) {
    // Without a promise for most.
    stored.push({ end, movedTo: wasSent(end.outcome) ? undefined : await storeMove(tx, end, callbacks) });
  }
  await noteHealth(tx, ends, callbacks, jobs);
  return stored;
}

/** Where the fence no longer fits, another session has taken the delivery over, and what this one saw is not written. */
function rowOf({ claimed, outcome }: End): EndRow[] {
  const { row, fence } = claimed;
  if (outcome.kind === "moved" || outcome.kind === "back") return [];
  const attempts = withAttempt(row.attempts, outcome.attempt);
  if (outcome.kind === "retry") return [{ id: row.id, fence, status: WAITING, attempts, due_ms: outcome.dueMs, ended_ms: null }];
  const status = outcome.kind === "delivered" ? DELIVERED : FAILED;
  return [{ id: row.id, fence, status, attempts, due_ms: null, ended_ms: outcome.endedMs }];
}

async function storeMove(tx: Transaction, { claimed, outcome, atMs }: End, callbacks: Callbacks): Promise<string | undefined> {
  const { row, fence, isRetry } = claimed;
  if (outcome.kind !== "moved" && outcome.kind !== "back") return undefined;
  const lane = outcome.kind === "back" ? row.lane : outcome.url === undefined ? NO_LANE : await callbacks.idFor(tx, row.app, outcome.url);
  await saveMove(tx, row, !isRetry, fence, lane, atMs);
  return lane;
}

const wasSent = ({ kind }: Outcome): boolean => kind !== "moved" && kind !== "back";

async function noteHealth(tx: Transaction, ends: readonly End[], callbacks: Callbacks, jobs: Jobs<unknown>): Promise<void> {
  const last = new Map<string, End>();
  for (const end of ends) if (wasSent(end.outcome) && end.claimed.lane.id !== NO_LANE) last.set(end.claimed.lane.id, end);
  for (const [lane, { outcome, atMs }] of last) {
    await saveHealth(tx, callbacks, jobs, lane, { isDelivered: outcome.kind === "delivered", atMs });
  }
}
