import { describe, expect, test } from "bun:test";
import { type Expected, expectEntries, isExpected, isOfKind, nearestOf } from "#control-contract/expectation";
import type { RequestEntry } from "#graph/worlds/request-log";
import { isAsked } from "../requests/request-schemas.ts";

const entry = {
  operation: "createLabel",
  status: 200,
  request_body: '{"user":{"id":"7"},"list":[1,"2"]}',
  query: "limit=5&a=%20",
  response_body: "ok",
};
const matches = (match: Expected["match"], kind: Expected["kind"] = {}) => isExpected(entry, { kind, match });

describe("an entry matches", () => {
  test("if each key has its value, in the kind and elsewhere", () => {
    expect(matches({ status: 200 }, { operation: "createLabel" })).toBe(true);
    expect(matches({ status: 201 }, { operation: "createLabel" })).toBe(false);
    expect(matches({ status: 200 }, { operation: "listLabels" })).toBe(false);
    expect(matches({ app: "1" })).toBe(false);
    expect(matches({ constructor: undefined })).toBe(true);
    expect(matches({})).toBe(true);
  });

  test("if a text contains the named part, and a body or query has the named keys", () => {
    expect([matches({ request_body: '"id":"7"' }), matches({ query: "limit=5" }), matches({ response_body: "k" })]).toEqual([true, true, true]);
    expect([matches({ request_body: "8" }), matches({ operation: "create" })]).toEqual([false, false]);
    expect(matches({ request_body: { user: { id: 7 } } })).toBe(true);
    expect(matches({ query: { limit: 5, a: " " } })).toBe(true);
    expect(matches({ query: { limit: 6 } })).toBe(false);
  });

  test("if lists have the same length and items", () => {
    expect(matches({ request_body: { list: [1, 2] } })).toBe(true);
    for (const list of [[1], [1, 2, 3], [2, 1], []]) expect(matches({ request_body: { list } })).toBe(false);
    expect(matches({ request_body: { user: [] } })).toBe(false);
    expect(matches({ request_body: { user: { id: { x: 1 } } } })).toBe(false);
    expect(matches({ request_body: { list: { 0: 1 } } })).toBe(true);
  });

  test("if a number is given as text, but not if a text is given as a number", () => {
    expect(isExpected({ a: "5" }, { kind: {}, match: { a: 5 } })).toBe(true);
    expect(isExpected({ a: 5 }, { kind: {}, match: { a: "5" } })).toBe(false);
    expect(isExpected({ a: "null" }, { kind: {}, match: { a: null } })).toBe(true);
    expect(isExpected({ a: null }, { kind: {}, match: { a: {} } })).toBe(false);
  });

  test("the kind is compared by itself", () => {
    expect(isOfKind(entry, { kind: { operation: "createLabel" }, match: { status: 500 } })).toBe(true);
    expect(isOfKind(entry, { kind: { operation: "listLabels" }, match: {} })).toBe(false);
  });
});

describe("the nearest miss", () => {
  const expected = { kind: { operation: "b" }, match: { x: 1, y: 1, z: 1 } };

  test("has the expected kind, then the fewest differences, then is the newest", () => {
    const far = { operation: "b", n: 1 };
    const near = { operation: "b", n: 2, x: 1, y: 1 };
    const asNear = { operation: "b", n: 3, x: 1, z: 1 };
    const other = { operation: "a", n: 4, x: 1, y: 1, z: 1 };
    for (const entries of [
      [far, near, asNear, other],
      [other, near, far, asNear],
    ])
      expect(nearestOf(entries, expected)?.entry).toBe(near);
    expect(nearestOf([other, far], expected)?.entry).toBe(far);
    expect(nearestOf([far, other], expected)?.entry).toBe(far);
    expect(nearestOf([{ operation: "b", x: 1, y: 1, z: 1 }, other], expected)?.entry).toBe(other);
    expect(nearestOf([{ operation: "b", x: 1, y: 1, z: 1 }], expected)).toBeUndefined();
  });

  test("shows the differences and their places, twenty at most", () => {
    const wanted = { kind: {}, match: { request_body: { user: { id: "8" }, list: [1, 3] }, query: "after", status: 500 } };
    expect(nearestOf([entry], wanted)?.differences).toEqual([
      { at: "request_body.user.id", expected: "8", actual: "7" },
      { at: "request_body.list[1]", expected: 3, actual: "2" },
      { at: "query", expected: "after", actual: "limit=5&a=%20" },
      { at: "status", expected: 500, actual: 200 },
    ]);
    const nested = { kind: { status: 500 }, match: { request_body: { user: { id: { x: 1 } } } } };
    expect(nearestOf([entry], nested)?.differences.map(({ at }) => at)).toEqual(["status", "request_body.user.id"]);
    const shorter = { kind: { status: 500 }, match: { request_body: { list: [1] } } };
    expect(nearestOf([entry], shorter)?.differences.map(({ at }) => at)).toEqual(["status", "request_body.list"]);
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`k${at}`, 1]));
    expect(nearestOf([entry], { kind: {}, match: many })?.differences).toHaveLength(20);
  });
});

describe("waiting for entries", () => {
  /** In this test, time passes only while the code sleeps; `arrivals` has the times at which the entries arrive. */
  function wait(arrivals: readonly number[], count: number, within_ms: number) {
    let now = 0;
    const sleepMs = async (ms: number): Promise<void> => {
      now += ms;
    };
    const read = async () => arrivals.filter((at) => at <= now).map((at) => ({ operation: "a", at }));
    const entries = { what: "request", read, show: ({ at }: { at: number }) => at };
    return expectEntries(
      entries,
      { kind: { operation: "a" }, match: {} },
      { count, within_ms },
      { nowMs: () => now, monotonicMs: () => now, sleepMs },
    );
  }

  test("ends with the last required entry, even at the last moment", async () => {
    expect(await wait([0, 50], 2, 100)).toEqual({ count: 2, data: [0, 50] });
    expect(await wait([100], 1, 100)).toEqual({ count: 1, data: [100] });
    await expect(wait([101], 1, 100)).rejects.toThrow("expected 1 request, saw 0");
    await expect(wait([0], 2, 0)).rejects.toThrow("expected 2 requests, saw 1");
    expect(await wait([0, 0], 1, 0)).toEqual({ count: 2, data: [0, 0] });
  });

  test("for none ends when the whole time has passed", async () => {
    expect(await wait([101], 0, 100)).toEqual({ count: 0, data: [] });
    await expect(wait([100], 0, 100)).rejects.toThrow("expected no request, saw 1");
    await expect(wait([0], 0, 100)).rejects.toMatchObject({ beside: { count: 1, data: [0] } });
  });
});

test("a failed expectation names the nearest entry, and one of none the entry that arrived", async () => {
  const seen = [
    { operation: "a", status: 400 },
    { operation: "b", status: 200 },
  ];
  const failure = (count: number, match: object) => {
    const entries = { what: "request", read: async () => seen, show: ({ status }: { status: number }) => status };
    const time = { nowMs: () => 0, monotonicMs: () => 0, sleepMs: async () => {} };
    return expectEntries(entries, { kind: { operation: "a" }, match: { ...match } }, { count, within_ms: 0 }, time).catch((error: unknown) => error);
  };
  expect(await failure(1, { status: 200 })).toMatchObject({
    message: "expected 1 request, saw 0; the nearest differs in status",
    beside: { count: 0, data: [400], nearest: { request: 400, differences: [{ at: "status", expected: 200, actual: 400 }] } },
  });
  const none = (await failure(0, { status: 400 })) as { message: string; beside: object };
  expect({ message: none.message, beside: none.beside }).toEqual({ message: "expected no request, saw 1", beside: { count: 1, data: [400] } });
});

describe("the last relevant requests", () => {
  const logged = {
    ...{ trace_id: "A1", operation: "createLabel", method: "POST", path: "/v26.0/2001", query: "limit=5", status: 404, time: 5_000, app: "1001" },
    story: '\n{"deliveries":["7"]}',
  } as unknown as RequestEntry;

  test.each([
    [{ operation: "createLabel" }, { operation: "create" }],
    [{ status: 404 }, { status: 400 }],
    [{ status_class: 4 }, { status_class: 5 }],
    [{ method: "POST" }, { method: "GET" }],
    [{ app: "1001" }, { app: "1002" }],
    [{ search: "2001" }, { search: "2002" }],
    [{ search: "eLab" }, { search: "elab" }],
    [{ search: "limit" }, { search: "after" }],
    [{ search: "A1" }, { search: "A2" }],
    [{ delivery: "7" }, { delivery: "8" }],
  ])("by %p, not by %p", (asked, other) => {
    expect({ asked: isAsked(logged, asked), other: isAsked(logged, other) }).toEqual({ asked: true, other: false });
    expect(isAsked(logged, { ...asked, ...other })).toBe(false);
  });

  test("from a given time, inclusive", () => {
    expect([4, 5, 6].map((since) => isAsked(logged, { since }))).toEqual([true, true, false]);
    expect(isAsked({ ...logged, story: undefined }, { delivery: "7" })).toBe(false);
  });
});
