/** What the log says of background work, and how loudly. */
import { expect, test } from "bun:test";
import type { WorkObserver } from "#graph/worlds/world";
import type { Log } from "./log.ts";
import { workLog } from "./work-log.ts";

/** What is logged when the observer hears of something. */
function logged(tell: (observer: WorkObserver) => void, world = "default", shown = true) {
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const add = (level: string) => (fields: Record<string, unknown>, message: string) => lines.push({ level, fields, message });
  const log = { error: add("error"), warn: add("warn"), info: add("info"), debug: add("debug"), shows: () => shown };
  tell(workLog(log as unknown as Log, world));
  return lines;
}

const error = new Error("no");
const OF_ERROR = { error: "no", error_name: "Error", stack: expect.any(String) };
const callback = { id: "5", app: "7", url: "https://receiver/hook?key=s3cret", probe_due_ms: 1 };
const of = (value: unknown) => value as never;

test.each<[name: string, tell: (observer: WorkObserver) => void, level: string, fields: Record<string, unknown>, message: RegExp]>([
  ["a payload that breaks its contract", (on) => on.payloadBroken(of({ field: "feed" })), "error", { field: "feed" }, /breaks the contract/],
  [
    "an attempt",
    (on) =>
      on.attempted(
        of({
          row: { id: "1", app: "7", field: "feed", callback: "5", secret: "s3cret" },
          updates: 2,
          outcome: { kind: "retry", attempt: { status: 500, latency_ms: 3, error: "no" } },
        }),
      ),
    "debug",
    { delivery: "1", app: "7", field: "feed", callback: "5", updates: 2, status: 500, latency_ms: 3, error: "no", outcome: "retry" },
    /webhook attempt/,
  ],
  ["an attempt that broke", (on) => on.attemptBroke(of("1"), error), "error", { delivery: "1", ...OF_ERROR }, /failed inside the server/],
  [
    "a delivery that waited too long",
    (on) => on.deliveryOverdue(of({ queue: "5", delivery: "1", isRetry: true })),
    "error",
    { callback: "5", delivery: "1", is_retry: true },
    /half a minute though it could be sent/,
  ],
  [
    "a delivery that nobody wants any more",
    (on) => on.deliveryUnsubscribed(of({ app: "7", object: "page", field: "feed", more: 1 })),
    "debug",
    { app: "7", object: "page", field: "feed" },
    /no longer subscribed/,
  ],
  [
    "a callback that fails",
    (on) => on.callbackFails(of(callback)),
    "warn",
    { callback: "5", app: "7", url: "https://receiver/hook" },
    /failed for an hour/,
  ],
  [
    "a callback that has failed for days",
    (on) => on.callbackPaused(of(callback)),
    "error",
    { callback: "5", app: "7", url: "https://receiver/hook" },
    /five days .* one is tried each hour/,
  ],
  [
    "a callback that asked for no more",
    (on) => on.callbackPaused(of({ ...callback, url: "https://receiver/", probe_due_ms: null })),
    "error",
    { callback: "5", app: "7", url: "https://receiver/" },
    /410 .* until somebody resumes it/,
  ],
  [
    "a job that failed",
    (on) => on.jobFailed("expiry", "9", error),
    "error",
    { kind: "expiry", key: "9", ...OF_ERROR },
    /job failed and will run again/,
  ],
  ["work that failed", (on) => on.workFailed(error), "error", OF_ERROR, /will be tried again/],
])("%s", (_, tell, level, fields, message) => {
  expect(logged(tell)).toEqual([{ level, fields, message: expect.stringMatching(message) }]);
  // A line of another world says which.
  expect(logged(tell, "orders")).toEqual([{ level, fields: { world: "orders", ...fields }, message: expect.stringMatching(message) }]);
});

test("attempts, which are many, are logged only where somebody wants to see them", () => {
  const attempt = { row: { id: "1" }, updates: 1, outcome: { kind: "delivered", attempt: {} } };
  expect(logged((on) => on.attempted(of(attempt)), "default", false)).toEqual([]);
});
