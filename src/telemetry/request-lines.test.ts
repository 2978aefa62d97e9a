/** What the log says of a request, and what it does not. */
import { expect, test } from "bun:test";
import type { RequestEntry } from "#graph/worlds/request-log";
import type { Log } from "./log.ts";
import { requestLines } from "./request-lines.ts";

const entry = {
  ...{ trace_id: "A1", operation: "readPage", method: "GET", surface: "base", path: "/v26.0/1", query: "access_token=s3cret" },
  ...{ status: 200, time: 0, duration_ms: 1.2345, app: "7", request_body: "", response_body: "" },
} as RequestEntry;

/** The fields of the line, and their text. */
function lineOf(more: Partial<RequestEntry>) {
  const lines: [fields: string, message: string][] = [];
  requestLines({ line: (...line: [string, string]) => lines.push(line) } as unknown as Log)({ ...entry, ...more });
  const [[text, message]] = lines as [[string, string]];
  expect(message).toBe("request");
  return { text, fields: JSON.parse(`{${text}}`) };
}

test("a line has method, path, status, duration to a hundredth, operation, app and trace, and no query", () => {
  expect(lineOf({}).text).toBe('"method":"GET","path":"/v26.0/1","status":200,"ms":1.23,"operation":"readPage","app":"7","trace_id":"A1"');
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

test("a refusal says why, in either form of errors; what was served does not", () => {
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
