/** The jobs of the webhook engine: alerting about and pausing a callback that fails, rerouting, retention. */
import type { JobKind } from "#jobs/job-kind";
import type { Transaction } from "#storage/database";
import type { WebhookDeps } from "../deps.ts";
import { deleteOldDeliveries, retentionJob } from "../history/retention.ts";
import { type CallbackRow, findCallback, markAlerted, markPaused } from "./callbacks.store.ts";
import { alertJob, pauseJob } from "./health.ts";

export const rerouteJob = "webhook_reroute";

interface WorldWithWebhooks {
  readonly webhooks: { readonly deps: WebhookDeps; reroute(app: string): Promise<void> };
}

type Job = JobKind<WorldWithWebhooks>;

/** A job about one callback: nothing is left to do once the callback works again. */
const callbackJob = (
  kind: string,
  mark: (tx: Transaction, id: string, nowMs: number) => Promise<void>,
  report: (observer: WebhookDeps["observer"], callback: CallbackRow) => void,
): Job => ({
  kind,
  async run({ webhooks }, id, _payload, job) {
    const { database, clock, observer } = webhooks.deps;
    const failing = await database.write(async (tx) => {
      await job.settle(tx);
      const callback = await findCallback(tx, id);
      if (callback === undefined || callback.failing_since_ms === null) return undefined;
      await mark(tx, id, clock.nowMs());
      return callback;
    });
    if (failing !== undefined) report(observer, failing);
  },
});

export const webhookJobs: readonly Job[] = [
  callbackJob(alertJob, markAlerted, (observer, callback) => observer.callbackFails(callback)),
  callbackJob(pauseJob, markPaused, (observer, callback) => observer.callbackPaused(callback)),
  {
    kind: rerouteJob,
    // A second run finds nothing more to move.
    run: ({ webhooks }, app) => webhooks.reroute(app),
  },
  { kind: retentionJob, run: ({ webhooks }) => deleteOldDeliveries(webhooks.deps) },
];
