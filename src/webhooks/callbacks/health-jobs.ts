/** The jobs of the webhook engine: alerting about a callback that fails, rerouting, unsubscribing, retention. */
import type { JobKind } from "#jobs/job-kind";
import type { WebhookDeps } from "../deps.ts";
import { deleteOldDeliveries, retentionJob } from "../history/retention.ts";
import { findCallback, markAlerted } from "./callbacks.store.ts";
import { alertJob } from "./health.ts";

export const rerouteJob = "webhook_reroute";
export const unsubscribeJob = "webhook_unsubscribe";

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
