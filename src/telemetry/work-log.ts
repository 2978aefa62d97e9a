/** Logs background work: failures, and callbacks that need attention. */
import { DEFAULT_WORLD } from "#graph/worlds/hosting/worlds.store";
import type { WorkObserver } from "#graph/worlds/world";
import { errorFields, type Log } from "./log.ts";

/** `world`: lines of a world other than the first name it. */
export function workLog(log: Log, world: string): WorkObserver {
  const about = world === DEFAULT_WORLD ? {} : { world };
  return {
    payloadBroken: (broken) => log.error({ ...about, ...broken }, "a webhook's payload breaks the contract of its field"),
    attempted({ row, updates, outcome }) {
      if (!log.shows("debug")) return;
      const { status, latency_ms, error } = outcome.attempt;
      const { id: delivery, app, field, callback } = row;
      log.debug({ ...about, delivery, app, field, callback, updates, status, latency_ms, error, outcome: outcome.kind }, "webhook attempt");
    },
    attemptBroke: (delivery, error) => log.error({ ...about, delivery, ...errorFields(error) }, "the attempt of a webhook failed inside the server"),
    deliveryOverdue: ({ queue: callback, delivery, isRetry }) =>
      log.error(
        { ...about, callback, delivery, is_retry: isRetry },
        "a webhook delivery waited for half a minute though it could be sent; it is sent now",
      ),
    deliveryUnsubscribed: ({ app, object, field }) =>
      log.debug({ ...about, app, object, field }, "a webhook is not sent: its app is no longer subscribed"),
    callbackFails: ({ id, app, url }) => log.warn({ ...about, callback: id, app, url: withoutQuery(url) }, "a callback has failed for an hour"),
    callbackPaused: (callback) =>
      log.error(
        { ...about, callback: callback.id, app: callback.app, url: withoutQuery(callback.url) },
        callback.probe_due_ms === null
          ? "a callback returned 410 and is paused until somebody resumes it; its events are kept"
          : "a callback has failed for five days and is paused; its events are kept, and one is tried each hour",
      ),
    jobFailed: (kind, key, error) => log.error({ ...about, kind, key, ...errorFields(error) }, "a job failed and will run again"),
    workFailed: (error) => log.error({ ...about, ...errorFields(error) }, "background work failed and will be tried again"),
  };
}

/** Receivers put secrets into the query. */
const withoutQuery = (url: string): string => url.split("?", 1)[0] ?? url;
