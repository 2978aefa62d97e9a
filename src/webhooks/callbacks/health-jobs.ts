/**
 * The jobs of the webhook engine: they raise the alert about a failing callback, reroute or end waiting deliveries, and remove old deliveries.
 */
import type { JobKind } from "#jobs/job-kind";
import type { Jobs } from "#jobs/jobs";
import type { Transaction } from "#storage/database";
import type { WebhookDeps } from "../deps.ts";
import { deleteLogged } from "../history/delivery-log.store.ts";
import { deleteEnded } from "../history/retention.store.ts";
import { findCallback, markAlerted } from "./callbacks.store.ts";
import { alertJob } from "./health.ts";

export const rerouteJob = "webhook_reroute";
export const unsubscribeJob = "webhook_unsubscribe";
/** The daily job that removes deliveries which ended long ago (`RETENTION_MS`). */
export const retentionJob = "webhook_retention";

interface WorldWithWebhooks {
  readonly webhooks: { readonly deps: WebhookDeps; reroute(app: string): Promise<void>; endUnsubscribed(app: string): Promise<void> };
}

type Job = JobKind<WorldWithWebhooks>;

/** The job that raises the alert about a failing callback. If the callback works again when the job runs, the job raises no alert. */
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
    // The job may run twice, because the second run finds no more deliveries to move.
    run: ({ webhooks }, app) => webhooks.reroute(app),
  },
  { kind: unsubscribeJob, run: ({ webhooks }, app) => webhooks.endUnsubscribed(app) },
  { kind: retentionJob, run: ({ webhooks }) => deleteOldDeliveries(webhooks.deps) },
];

/** The key of the retention job: a world has one such job. */
const RETENTION_KEY = "world";
const DAY_MS = 24 * 3_600_000;
/** The world time for which an ended delivery can be read and replayed. A waiting delivery is stored for as long as it waits. */
const RETENTION_MS = 30 * DAY_MS;
const RETENTION_EVERY_MS = DAY_MS;
/** The number of deliveries, or of log entries, that one transaction removes. */
const ROWS_MAX = 100;

/** Schedules the retention job. A process calls this function for its first delivery; after its first run, the job schedules itself. */
export async function beginRetention(tx: Transaction, jobs: Jobs<unknown>, nowMs: number): Promise<void> {
  if ((await jobs.dueTimeOf(tx, retentionJob, RETENTION_KEY)) === undefined) await scheduleNext(tx, jobs, nowMs);
}

export async function deleteOldDeliveries({ database, clock, jobs }: Pick<WebhookDeps, "database" | "clock" | "jobs">): Promise<void> {
  const beforeMs = clock.nowMs() - RETENTION_MS;
  while ((await database.write((tx) => deleteEnded(tx, beforeMs, ROWS_MAX))) === ROWS_MAX);
  while ((await database.write((tx) => deleteLogged(tx, beforeMs, ROWS_MAX))) === ROWS_MAX);
  await database.write((tx) => scheduleNext(tx, jobs, clock.nowMs()));
}

const scheduleNext = (tx: Transaction, jobs: Jobs<unknown>, nowMs: number): Promise<void> =>
  jobs.schedule(tx, { kind: retentionJob, key: RETENTION_KEY, dueMs: nowMs + RETENTION_EVERY_MS });
