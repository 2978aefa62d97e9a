/** How attempts ended, written down: many in one transaction. */
import type { Jobs } from "#jobs/jobs";
import type { Transaction } from "#storage/database";
import { withAttempt } from "./attempts.ts";
import { ALERT_AFTER_MS, alertJob, PAUSE_AFTER_MS, pauseJob } from "./callback-jobs.ts";
import { type CallbackRow, findCallback, markFailing, markWorking } from "./callbacks.store.ts";
import type { Callbacks } from "./callbacks.ts";
import { DELIVERED, FAILED, NO_LANE, saveEnd, saveMove, saveRetry } from "./deliveries.store.ts";
import type { Outcome } from "./delivery-attempt.ts";
import type { Claimed } from "./delivery-claims.ts";

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

export async function storeEnds(tx: Transaction, ends: readonly End[], callbacks: Callbacks, jobs: Jobs<unknown>): Promise<EndStored[]> {
  const stored = await Promise.all(ends.map((end) => storeEnd(tx, end, callbacks)));
  await noteHealth(tx, ends, callbacks, jobs);
  return stored;
}

/** Where the fence no longer fits, another session has taken the delivery over, and what this one saw is not written. */
async function storeEnd(tx: Transaction, end: End, callbacks: Callbacks): Promise<EndStored> {
  const { row, fence, isRetry } = end.claimed;
  const { outcome } = end;
  let movedTo: string | undefined;
  switch (outcome.kind) {
    case "delivered":
    case "failed": {
      const status = outcome.kind === "delivered" ? DELIVERED : FAILED;
      await saveEnd(tx, row.id, fence, status, withAttempt(row.attempts, outcome.attempt), outcome.endedMs);
      break;
    }
    case "retry":
      await saveRetry(tx, row.id, fence, withAttempt(row.attempts, outcome.attempt), outcome.dueMs);
      break;
    case "moved":
      movedTo = outcome.url === undefined ? NO_LANE : await callbacks.idFor(tx, row.app, outcome.url);
      await saveMove(tx, row, !isRetry, fence, movedTo, end.atMs);
      break;
    case "back":
      await saveMove(tx, row, !isRetry, fence, row.lane, end.atMs);
  }
  return { end, movedTo };
}

const wasSent = ({ kind }: Outcome): boolean => kind !== "moved" && kind !== "back";

/** The first failure since a success begins the time after which somebody is told, and then the callback is paused. */
async function noteHealth(tx: Transaction, ends: readonly End[], callbacks: Callbacks, jobs: Jobs<unknown>): Promise<void> {
  const last = new Map<string, End>();
  for (const end of ends) if (wasSent(end.outcome) && end.claimed.lane.id !== NO_LANE) last.set(end.claimed.lane.id, end);
  for (const [lane, { outcome, atMs }] of last) {
    const callback: CallbackRow | undefined = callbacks.peek(lane) ?? (await findCallback(tx, lane));
    if (callback === undefined) continue;
    const isFailing = callback.failing_since_ms !== null;
    if (outcome.kind === "delivered" && (isFailing || callback.paused_ms !== null)) {
      await markWorking(tx, lane);
      await jobs.cancel(tx, alertJob, lane);
      await jobs.cancel(tx, pauseJob, lane);
    } else if (outcome.kind !== "delivered" && !isFailing && (await markFailing(tx, lane, atMs))) {
      await jobs.schedule(tx, { kind: alertJob, key: lane, dueMs: atMs + ALERT_AFTER_MS });
      await jobs.schedule(tx, { kind: pauseJob, key: lane, dueMs: atMs + PAUSE_AFTER_MS });
    }
  }
}
