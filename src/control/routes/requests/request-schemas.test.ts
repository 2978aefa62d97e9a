/** Each filter for the list of requests, with a request that matches and a request that does not match. */
import { expect, test } from "bun:test";
import { storyText } from "#graph/pipeline/story/story-text";
import type { RequestEntry } from "#graph/worlds/request-log";
import { isAsked, type RequestFilter } from "./request-schemas.ts";

const entry = {
  ...{ operation: "createPersona", status: 403, method: "POST", app: "1001", path: "/v26.0/2001/personas", query: "limit=5", trace_id: "Abc" },
  ...{ time: 5_000, story: storyText("", { deliveries: ["d1", "d2"] }) },
} as unknown as RequestEntry;
const asked = (filter: RequestFilter, one = entry): boolean => isAsked(one, filter);

test("an entry is shown if it matches every filter", () => {
  expect(asked({})).toBe(true);
  for (const [right, wrong] of [
    [{ operation: "createPersona" }, { operation: "create" }],
    [{ status: 403 }, { status: 404 }],
    [{ status_class: 4 }, { status_class: 3 }],
    [{ status_class: 4 }, { status_class: 5 }],
    [{ method: "POST" }, { method: "GET" }],
    [{ app: "1001" }, { app: "1" }],
    [{ delivery: "d2" }, { delivery: "d" }],
    [{ search: "2001/per" }, { search: "2002" }],
  ] as const) {
    expect([asked(right), asked(wrong)]).toEqual([true, false]);
    // If a request differs from the filter in one value, the list leaves the request out.
    expect(asked({ operation: "createPersona", method: "POST", app: "1001", ...wrong })).toBe(false);
  }
});

test("a search covers the path, the operation, the query and the trace id", () => {
  expect(["/v26.0", "Persona", "limit=", "bc"].map((search) => asked({ search }))).toEqual([true, true, true, true]);
});

test("a request without a story has no known deliveries", () => {
  const { story: _, ...without } = entry as RequestEntry & { story?: unknown };
  expect(asked({ delivery: "d1" }, without as RequestEntry)).toBe(false);
});

test("an entry at the given time is shown, and a millisecond later not; without a time all are shown", () => {
  expect([0, 4, 5, 6].map((since) => asked({ since }))).toEqual([true, true, true, false]);
});
