/**
 * The health of a callback: whether it works, according to the attempts at its deliveries (D-137). All times are world time.
 *
 * | state | what happens | state afterwards |
 * | --- | --- | --- |
 * | paused by 410 | any attempt | the same |
 * | paused by a person | any attempt that was under way | the same |
 * | any other | a response 410 | paused by 410: no delivery is sent |
 * | any other | a success | working |
 * | working, or failing without an attempt for 12 h and more | a failure | failing since the beginning of this attempt |
 * | failing | a failure | the same, and after five days paused: one attempt an hour |
 * | paused | a failure | the same |
 * | any | a person pauses the callback | paused by a person: no delivery is sent |
 * | any | a person resumes the callback | working |
 * | any but paused by a person | the last waiting delivery has left the queue because routes or subscriptions changed | working |
 *
 * An alert is raised about a callback that has failed for an hour, and about a callback that is paused.
 */
import type { Jobs } from "#jobs/jobs";
import type { Transaction } from "#storage/database";
import { type CallbackRow, findCallback, type Health, isWaitedFor, saveHealth } from "./callbacks.store.ts";
import type { Callbacks } from "./callbacks.ts";

const HOUR_MS = 3_600_000;
const ALERT_AFTER_MS = HOUR_MS;
const PAUSE_AFTER_MS = 5 * 24 * HOUR_MS;
/**
 * The time without an attempt after which earlier failures no longer count, because the callback may work again. The time is the longest wait of the
 * retry table (D-62), and an hour more for an attempt that comes late, for example because somebody moves the world's clock in long steps.
 */
const SILENCE_MS_MAX = 13 * HOUR_MS;
/** World time between the attempts at a callback that is paused. */
export const PROBE_EVERY_MS = HOUR_MS;

export const alertJob = "webhook_callback_alert";

/** The result of one attempt, as far as the health of the callback depends on it. */
export interface AttemptResult {
  readonly result: "delivered" | "failed" | "gone";
  /** World time at which the attempt began. */
  readonly atMs: number;
}

const WORKING: Health = { failing_since_ms: null, last_failure_ms: null, alerted_ms: null, paused_ms: null, probe_due_ms: null };

const isWorking = ({ failing_since_ms, paused_ms }: Health): boolean => failing_since_ms === null && paused_ms === null;

/** Whether a response 410 or a person paused the callback, so that Plaza makes no attempts to find out whether the callback works again. */
const isClosed = ({ paused_ms, probe_due_ms }: Health): boolean => paused_ms !== null && probe_due_ms === null;

/** Whether a response 410 paused the callback. */
export const isGone = (health: Health): boolean => isClosed(health) && health.failing_since_ms !== null;

/** D-273: whether a person paused the callback. */
export const isHeld = (health: Health): boolean => isClosed(health) && health.failing_since_ms === null;

/** Computes the health of a callback after an attempt. Returns the object `before` itself if the health does not change. */
export function healthAfter(before: Health, { result, atMs }: AttemptResult): Health {
  if (isClosed(before)) return before;
  const { failing_since_ms, last_failure_ms, alerted_ms, paused_ms } = before;
  if (result === "delivered") return isWorking(before) ? before : WORKING;
  if (result === "gone") {
    return {
      failing_since_ms: failing_since_ms ?? atMs,
      last_failure_ms: atMs,
      alerted_ms: alerted_ms ?? atMs,
      paused_ms: paused_ms ?? atMs,
      probe_due_ms: null,
    };
  }
  if (paused_ms !== null) return before;
  // If somebody moved the world's clock back, the attempt may have begun before the series of failures.
  if (failing_since_ms === null || last_failure_ms === null || atMs < failing_since_ms || atMs - last_failure_ms > SILENCE_MS_MAX)
    return { ...WORKING, failing_since_ms: atMs, last_failure_ms: atMs };
  const failing = { ...before, last_failure_ms: Math.max(last_failure_ms, atMs) };
  if (atMs - failing_since_ms < PAUSE_AFTER_MS) return failing;
  return { ...failing, alerted_ms: alerted_ms ?? atMs, paused_ms: atMs, probe_due_ms: atMs + PROBE_EVERY_MS };
}

export interface HealthDeps {
  readonly callbacks: Callbacks;
  readonly jobs: Jobs<unknown>;
}

/** A change of a callback's health that is reported: the callback has begun to fail, or was paused. */
export interface HealthChange {
  readonly callback: CallbackRow;
  readonly became: "failing" | "paused";
}

/** Stores the health of a callback after the given attempts, which are in order. Returns the callback if it began to fail or was paused. */
export async function recordAttempts(
  tx: Transaction,
  { callbacks, jobs }: HealthDeps,
  id: string,
  attemptResults: readonly AttemptResult[],
): Promise<HealthChange | undefined> {
  const known = callbacks.peek(id);
  // The health of most callbacks does not change, because most callbacks worked before and after the attempts.
  if (known !== undefined && isWorking(known) && attemptResults.every(({ result }) => result === "delivered")) return undefined;
  await tx.lock("webhook_callback", id);
  const before = await findCallback(tx, id);
  if (before === undefined) return undefined;
  const after = attemptResults.reduce<Health>(healthAfter, before);
  if (after === before) return undefined;
  await saveHealth(tx, id, after);
  await setAlert(tx, jobs, id, before, after);
  const isPausedNow = (before.paused_ms === null && after.paused_ms !== null) || (!isGone(before) && isGone(after));
  const callback = { ...before, ...after };
  if (isPausedNow) return { callback, became: "paused" };
  return before.failing_since_ms === null && after.failing_since_ms !== null ? { callback, became: "failing" } : undefined;
}

async function setAlert(tx: Transaction, jobs: Jobs<unknown>, id: string, before: Health, after: Health): Promise<void> {
  const { failing_since_ms, paused_ms } = after;
  if (failing_since_ms === null || paused_ms !== null) await jobs.cancel(tx, alertJob, id);
  else if (failing_since_ms !== before.failing_since_ms)
    await jobs.schedule(tx, { kind: alertJob, key: id, dueMs: failing_since_ms + ALERT_AFTER_MS });
}

/** Stores that a callback works, so that it no longer counts as failing or paused. */
export async function resumeCallback(tx: Transaction, jobs: Jobs<unknown>, id: string): Promise<void> {
  await saveHealth(tx, id, WORKING);
  await jobs.cancel(tx, alertJob, id);
}

/** D-273: pauses a callback. No delivery is sent to the callback until a person resumes it. */
export async function holdCallback(tx: Transaction, jobs: Jobs<unknown>, id: string, nowMs: number): Promise<void> {
  await saveHealth(tx, id, { ...WORKING, paused_ms: nowMs });
  await jobs.cancel(tx, alertJob, id);
}

/**
 * Records that deliveries left the callback's queue without an attempt. If the queue has no delivery left, earlier failures of the callback no longer
 * count.
 */
export async function recordDeparture(tx: Transaction, { callbacks, jobs }: HealthDeps, id: string): Promise<void> {
  const known = callbacks.peek(id) ?? (await findCallback(tx, id));
  if (known === undefined || isWorking(known) || isHeld(known) || (await isWaitedFor(tx, id))) return;
  await resumeCallback(tx, jobs, id);
}
