/** The jobs of the webhook engine: alerting about a callback that fails, rerouting, unsubscribing, retention. */
import type { JobKind } from "#jobs/job-kind";
import type { Jobs } from "#jobs/jobs";
import type { Transaction } from "#storage/database";
import type { WebhookDeps } from "../deps.ts";
import { deleteEnded } from "../history/retention.store.ts";
import { findCallback, markAlerted } from "./callbacks.store.ts";
import { alertJob } from "./health.ts";

export const rerouteJob = "webhook_reroute";
export const unsubscribeJob = "webhook_unsubscribe";
/** How long deliveries that have ended are kept: a daily job removes older ones. */
export const retentionJob = "webhook_retention";

interface WorldWithWebhooks {
  readonly webhooks: { readonly deps: WebhookDeps; reroute(app: string): Promise<void>; endUnsubscribed(app: string): Promise<void> };
}

type Job = JobKind<WorldWithWebhooks>;

/** Nothing is left to do once the callback works again. */
const alert: Job = {
  kind: alertJob,
  async run({ webhooks }, id, _payload, job) {
    const { database, clock, observer } = webhooks.deps;
    const failing = await database.write(async (tx) => {
      await job.settle(tx);
      const callback = await findCallback(tx, id);
      if (callback === undefined || callback.failing_since_ms === null) return undefined;
      await markAlerted(tx, id, clock.nowMs());
      return callback;
    });
    if (failing !== undefined) observer.callbackFails(failing);
  },
};

export const webhookJobs: readonly Job[] = [
  alert,
  {
    kind: rerouteJob,
    // A second run finds nothing more to move.
    run: ({ webhooks }, app) => webhooks.reroute(app),
  },
  { kind: unsubscribeJob, run: ({ webhooks }, app) => webhooks.endUnsubscribed(app) },
  { kind: retentionJob, run: ({ webhooks }) => deleteOldDeliveries(webhooks.deps) },
];

/** A world has one such job. */
const RETENTION_KEY = "world";
const DAY_MS = 24 * 3_600_000;
/** World time in which an ended delivery can be read and replayed. One that waits is kept for as long as it waits. */
const RETENTION_MS = 30 * DAY_MS;
const RETENTION_EVERY_MS = DAY_MS;
/** POSTs that one transaction removes. */
const ROWS_MAX = 100;

/** Called with the first delivery of a process; the job then schedules itself. */
export async function beginRetention(tx: Transaction, jobs: Jobs<unknown>, nowMs: number): Promise<void> {
  if ((await jobs.dueTimeOf(tx, retentionJob, RETENTION_KEY)) === undefined) await scheduleNext(tx, jobs, nowMs);
}

export async function deleteOldDeliveries({ database, clock, jobs }: Pick<WebhookDeps, "database" | "clock" | "jobs">): Promise<void> {
  const beforeMs = clock.nowMs() - RETENTION_MS;
  while ((await database.write((tx) => deleteEnded(tx, beforeMs, ROWS_MAX))) === ROWS_MAX);
  await database.write((tx) => scheduleNext(tx, jobs, clock.nowMs()));
}

const scheduleNext = (tx: Transaction, jobs: Jobs<unknown>, nowMs: number): Promise<void> =>
  jobs.schedule(tx, { kind: retentionJob, key: RETENTION_KEY, dueMs: nowMs + RETENTION_EVERY_MS });
