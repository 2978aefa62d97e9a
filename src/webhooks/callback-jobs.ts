/** A callback that fails for long: somebody is told after an hour, and after five days nothing more is sent to it. */
import type { JobKind } from "#jobs/job-kind";
import { findCallback, markAlerted, markPaused } from "./callbacks.store.ts";
import type { Webhooks } from "./webhooks.ts";

const HOUR_MS = 3_600_000;
export const ALERT_AFTER_MS = HOUR_MS;
export const PAUSE_AFTER_MS = 5 * 24 * HOUR_MS;

export const alertJob = "webhook_callback_alert";
export const pauseJob = "webhook_callback_pause";
export const rerouteJob = "webhook_reroute";

interface WithWebhooks {
  readonly webhooks: Webhooks;
}

/** Declared to the world's jobs beside those of the rooms; a callback that works again has cancelled them. */
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
];
