/**
 * What the webhook engine does by the clock: a callback that fails for an hour is told of, after five days nothing more is sent
 * to it; what has ended is kept for a month.
 */
import type { JobKind } from "#jobs/job-kind";
import { deleteEnded } from "../history/retention.store.ts";
import type { Webhooks } from "../webhooks.ts";
import { findCallback, markAlerted, markPaused } from "./callbacks.store.ts";

const HOUR_MS = 3_600_000;
export const ALERT_AFTER_MS = HOUR_MS;
export const PAUSE_AFTER_MS = 5 * 24 * HOUR_MS;

export const alertJob = "webhook_callback_alert";
export const pauseJob = "webhook_callback_pause";
export const rerouteJob = "webhook_reroute";
export const retentionJob = "webhook_retention";
/** There is one of it. */
export const RETENTION_KEY = "world";

/** How long what was delivered, or has failed, can be looked at and sent again, by the world's clock. What waits is kept. */
const RETENTION_MS = 30 * 24 * HOUR_MS;
export const RETENTION_EVERY_MS = 24 * HOUR_MS;
/** POSTs in one transaction. */
const RETENTION_ROWS_MAX = 100;

interface WithWebhooks {
  readonly webhooks: Webhooks;
}

/** Declared to the world's jobs beside those of the features; a callback that works again has cancelled them. */
export const webhookJobs: readonly JobKind<WithWebhooks>[] = [
  {
    kind: alertJob,
    async run({ webhooks }, id, _payload, job) {
      const { database, clock, observer } = webhooks.parts;
      const callback = await database.write(async (tx) => {
        await job.settle(tx);
        const found = await findCallback(tx, id);
        if (found === undefined || found.failing_since_ms === null) return undefined;
        await markAlerted(tx, id, clock.nowMs());
        return found;
      });
      if (callback !== undefined) observer.callbackFails(callback);
    },
  },
  {
    kind: pauseJob,
    async run({ webhooks }, id, _payload, job) {
      const { database, clock, observer } = webhooks.parts;
      const callback = await database.write(async (tx) => {
        await job.settle(tx);
        const found = await findCallback(tx, id);
        if (found === undefined || found.failing_since_ms === null) return undefined;
        await markPaused(tx, id, clock.nowMs());
        return found;
      });
      if (callback !== undefined) observer.callbackPaused(callback);
    },
  },
  {
    kind: rerouteJob,
    // Done twice it finds nothing more to move.
    run: ({ webhooks }, app) => webhooks.reroute(app),
  },
  {
    kind: retentionJob,
    async run({ webhooks }, key) {
      const { database, clock, jobs } = webhooks.parts;
      const beforeMs = clock.nowMs() - RETENTION_MS;
      while ((await database.write((tx) => deleteEnded(tx, beforeMs, RETENTION_ROWS_MAX))) === RETENTION_ROWS_MAX);
      await database.write((tx) => jobs.schedule(tx, { kind: retentionJob, key, dueMs: clock.nowMs() + RETENTION_EVERY_MS }));
    },
  },
];
