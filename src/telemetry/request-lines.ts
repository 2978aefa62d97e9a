/** Writes a line into the log for each request of the graph. The module must be fast, because it runs for every request. */
import { DEFAULT_WORLD } from "#graph/worlds/hosting/worlds.store";
import type { RequestEntry } from "#graph/worlds/request-log";
import type { WorkObserver } from "#graph/worlds/world";
import { redact } from "#kernel/redaction/redaction";
import { errorFields, type Log, levelOf } from "./log.ts";

/** The maximum number of characters that a line of the log takes from one text of the request or response. */
const CHARACTERS_MAX = 300;

const excerpt = (text: string): string => (text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX)}…` : text);

/**
 * Returns the function that logs a request. The line leaves out the query, because a query may contain tokens. Only one text of a line, the path, may
 * contain characters that JSON must escape. `pid` is the id of this process, and `client` is the address from which the request came.
 */
export const requestLines =
  (log: Log, pid: number) =>
  (entry: RequestEntry, client: string): void => {
    const { method, path, status, duration_ms, operation, app, trace_id } = entry;
    const shownPath = JSON.stringify(excerpt(redact(path)));
    const ms = Math.round(duration_ms * 100) / 100;
    const ofApp = app === undefined ? "" : `,"app":"${app}"`;
    const reason = status >= 400 ? reasonOf(entry.response_body) : "";
    log.line(
      `"method":"${method}","path":${shownPath},"status":${status},"ms":${ms},"operation":"${operation}"${ofApp},"trace_id":"${trace_id}","client":"${client}","pid":${pid}${reason}`,
      "request",
    );
  };

/**
 * Returns the code and message of an error response as further fields of the request's line. The function reads errors with and without the wrapper
 * `error`.
 */
function reasonOf(body: string): string {
  try {
    const found = JSON.parse(body) as { error?: unknown };
    const { code, message } = (typeof found.error === "object" && found.error !== null ? found.error : found) as {
      code?: unknown;
      message?: unknown;
    };
    return `,${JSON.stringify({ code, reason: excerpt(redact(String(message))) }).slice(1, -1)}`;
  } catch {
    return "";
  }
}

/** Returns the observer that logs a world's background work. Each line has the name of the world, unless it is the first world. */
export function workLog(log: Log, world: string, workBegins: WorkObserver["workBegins"]): WorkObserver {
  const about = world === DEFAULT_WORLD ? {} : { world };
  return {
    workBegins,
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
    callbackBeganToFail: ({ id, app, url }) =>
      log.warn({ ...about, callback: id, app, url: withoutQuery(url) }, "a callback did not accept a webhook, which Plaza sends again later"),
    callbackFails: ({ id, app, url }) => log.warn({ ...about, callback: id, app, url: withoutQuery(url) }, "a callback has failed for an hour"),
    callbackPaused: (callback) =>
      log.error(
        { ...about, callback: callback.id, app: callback.app, url: withoutQuery(callback.url) },
        callback.probe_due_ms === null
          ? "a callback returned 410 and is paused until somebody resumes it; its events are stored"
          : "a callback has failed for five days and is paused; its events are stored, and one is sent each hour as a test",
      ),
    jobFailed: (kind, key, error) => log.error({ ...about, kind, key, ...errorFields(error) }, "a job failed and will run again"),
    workFailed: (error) => log[levelOf(error)]({ ...about, ...errorFields(error) }, "background work failed and will be tried again"),
  };
}

/** Returns a receiver's URL without its query, because receivers put secrets into the query. */
const withoutQuery = (url: string): string => url.split("?", 1)[0] ?? url;
