/** Tests the lines of the log for requests and for background work. */
import { expect, test } from "bun:test";
import type { RequestEntry } from "#graph/worlds/request-log";
import type { WorkObserver } from "#graph/worlds/world";
import { databaseUnreachable } from "#kernel/errors";
import type { Log } from "./log.ts";
import { requestLines, workLog } from "./request-lines.ts";

const entry = {
  ...{ trace_id: "A1", operation: "readPage", method: "GET", surface: "base", path: "/v26.0/1", query: "access_token=s3cret" },
  ...{ status: 200, time: 0, duration_ms: 1.2345, app: "7", request_body: "", response_body: "" },
} as RequestEntry;

/** Logs a request, and returns the fields of the request's line and the JSON text of these fields. */
function lineOf(more: Partial<RequestEntry>) {
  const lines: [fields: string, message: string][] = [];
  requestLines({ line: (...line: [string, string]) => lines.push(line) } as unknown as Log, 4711)({ ...entry, ...more }, "203.0.113.7");
  const [[text, message]] = lines as [[string, string]];
  expect(message).toBe("request");
  return { text, fields: JSON.parse(`{${text}}`) };
}

test("a line has method, path, status, duration to a hundredth, operation, app, trace, client and process, and no query", () => {
  expect(lineOf({}).text).toBe(
    '"method":"GET","path":"/v26.0/1","status":200,"ms":1.23,"operation":"readPage","app":"7","trace_id":"A1","client":"203.0.113.7","pid":4711',
  );
  expect(lineOf({ app: undefined }).fields).not.toHaveProperty("app");
  expect(lineOf({ duration_ms: 0.005 }).fields.ms).toBe(0.01);
  expect(lineOf({ duration_ms: 1_500 }).fields.ms).toBe(1_500);
});

test("a path is escaped, has no secret, and is cut after 300 characters", () => {
  expect(lineOf({ path: '/"\\\n' }).fields.path).toBe('/"\\\n');
  expect(lineOf({ path: "/access_token=s3cret/x" }).text).not.toContain("s3cret");
  const long = `/${"a".repeat(299)}`;
  expect(lineOf({ path: long }).fields.path).toBe(long);
  expect(lineOf({ path: `${long}a` }).fields.path).toBe(`${long}…`);
});

test("a refused request says why, in either error form; a served one does not", () => {
  const body = (error: object) => JSON.stringify(error);
  const message = "no access_token=s3cret here";
  for (const [status, response_body, reason] of [
    [399, body({ error: { code: 1, message: "no" } }), {}],
    [400, body({ error: { code: 1, message: "no" } }), { code: 1, reason: "no" }],
    [503, body({ code: 4, message: "busy" }), { code: 4, reason: "busy" }],
    [400, body({ error: "invalid_grant", code: 2, message: "of a text" }), { code: 2, reason: "of a text" }],
    [400, body({ error: null, code: 3, message: "of nothing" }), { code: 3, reason: "of nothing" }],
    [400, body({ error: { message: "without a code" } }), { reason: "without a code" }],
    [400, body({ error: { code: 1, message: "a".repeat(300) } }), { code: 1, reason: "a".repeat(300) }],
    [400, body({ error: { code: 1, message: "a".repeat(301) } }), { code: 1, reason: `${"a".repeat(300)}…` }],
    [400, body({ error: { code: 1, message } }), { code: 1, reason: "no access_token=…" }],
    [400, "no JSON", {}],
    [400, "null", {}],
  ] as const) {
    const { code, reason: said } = lineOf({ status, response_body }).fields;
    expect({ status, response_body, code, reason: said }).toEqual({ status, response_body, code: undefined, reason: undefined, ...reason });
  }
});

/** Calls the observer of a world's background work, and returns the lines that it logs. */
function logged(tell: (observer: WorkObserver) => void, world = "default", shown = true) {
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const add = (level: string) => (fields: Record<string, unknown>, message: string) => lines.push({ level, fields, message });
  const log = { error: add("error"), warn: add("warn"), info: add("info"), debug: add("debug"), shows: () => shown };
  tell(workLog(log as unknown as Log, world, () => {}));
  return lines;
}

const error = new Error("no");
const away = databaseUnreachable();
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
    "a callback that begins to fail",
    (on) => on.callbackBeganToFail(of(callback)),
    "warn",
    { callback: "5", app: "7", url: "https://receiver/hook" },
    /did not accept a webhook/,
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
    /five days .* one is sent each hour/,
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
  ["work while the database is away", (on) => on.workFailed(away), "debug", { ...OF_ERROR, error: away.message, error_name: "GraphError" }, /again/],
])("%s", (_, tell, level, fields, message) => {
  expect(logged(tell)).toEqual([{ level, fields, message: expect.stringMatching(message) }]);
  // A line about a world other than the first has the name of that world.
  expect(logged(tell, "orders")).toEqual([{ level, fields: { world: "orders", ...fields }, message: expect.stringMatching(message) }]);
});

test("attempts, which are many, are logged only at the level that shows them", () => {
  const attempt = { row: { id: "1" }, updates: 1, outcome: { kind: "delivered", attempt: {} } };
  expect(logged((on) => on.attempted(of(attempt)), "default", false)).toEqual([]);
});
