/**
 * Whether a callback works, as the results of its attempts say. The first failure after a success starts two timers: after an
 * hour the operator is alerted, after five days the callback is paused. A success stops both.
 */

import type { Jobs } from "#jobs/jobs";
import type { Transaction } from "#storage/database";
import { eitherWay } from "#storage/outcomes";
import { findCallback, markFailing, markWorking } from "./callbacks.store.ts";
import type { Callbacks } from "./callbacks.ts";

const HOUR_MS = 3_600_000;
const ALERT_AFTER_MS = HOUR_MS;
const PAUSE_AFTER_MS = 5 * 24 * HOUR_MS;

export const alertJob = "webhook_callback_alert";
export const pauseJob = "webhook_callback_pause";

/** The last attempt of a callback in a transaction. */
export interface LastAttempt {
  readonly isDelivered: boolean;
  /** World time. */
  readonly atMs: number;
}

export async function saveHealth(
  tx: Transaction,
  callbacks: Callbacks,
  jobs: Jobs<unknown>,
  id: string,
  { isDelivered, atMs }: LastAttempt,
): Promise<void> {
  const callback = callbacks.peek(id) ?? (await findCallback(tx, id));
  if (callback === undefined) return;
  const isFailing = callback.failing_since_ms !== null;
  if (isDelivered && (isFailing || callback.paused_ms !== null)) await resumeCallback(tx, jobs, id);
  else if (!isDelivered && !isFailing && (await markFailing(tx, id, atMs))) {
    await jobs.schedule(tx, { kind: alertJob, key: id, dueMs: atMs + ALERT_AFTER_MS });
    await jobs.schedule(tx, { kind: pauseJob, key: id, dueMs: atMs + PAUSE_AFTER_MS });
  }
}

/** It works, or is expected to: it neither fails nor is paused any more. */
export async function resumeCallback(tx: Transaction, jobs: Jobs<unknown>, id: string): Promise<void> {
  await markWorking(tx, id);
  await eitherWay(jobs.cancel(tx, alertJob, id));
  await eitherWay(jobs.cancel(tx, pauseJob, id));
}
