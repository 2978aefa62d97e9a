import { describe, expect, test } from "bun:test";
import type { ListPage } from "#storage/keyset";
import type { GraphRequest } from "../pipeline/request.ts";
import { parsePairs } from "../request-text/pairs.ts";
import { Cursors } from "./cursors.ts";
import { parseJson } from "./json.ts";
import { type ListAddress, pagingOf, readPageRequest } from "./paging.ts";

const cursors = new Cursors(new Uint8Array(32).fill(1));
const LIST = "labels 1";
const sign = (key: string) => cursors.sign(LIST, [key]);
const read = (params: Record<string, unknown>) => readPageRequest(params, LIST, cursors, 1);

describe("D-31: the requested page", () => {
  test("LIST-3: has 25 entries by default, and never more than 100", () => {
    expect(read({})).toEqual({ limit: 25 });
    expect(read({ limit: "1" })).toEqual({ limit: 1 });
    expect(read({ limit: 100 })).toEqual({ limit: 100 });
    expect(read({ limit: "101" })).toEqual({ limit: 100 });
    expect(read({ limit: "9".repeat(40) })).toEqual({ limit: 100 });
    expect(read(parseJson(`{"limit":${"9".repeat(40)}}`, "The body") as Record<string, unknown>)).toEqual({ limit: 100 });
  });

  test.each([[0], ["0"], ["00"], [-1], ["-1"], ["1.5"], [""], ["x"], [true], [["1"]]])("a limit of %p is refused", (limit) => {
    expect(() => read({ limit })).toThrow("limit");
  });

  test("begins after or before a row, not both", () => {
    expect(read({ after: sign("7") })).toEqual({ limit: 25, after: ["7"] });
    expect(read({ before: sign("7"), limit: 3 })).toEqual({ limit: 3, before: ["7"] });
    expect(() => read({ after: sign("7"), before: sign("8") })).toThrow("before");
  });

  test("a cursor of another list is refused with the parameter's own name", () => {
    expect(() => read({ after: "x" })).toThrow("after");
    expect(() => read({ before: cursors.sign("labels 2", ["7"]) })).toThrow("before");
    expect(() => read({ after: 7 })).toThrow("after");
  });
});

describe("the links of a page", () => {
  const request = (queryText: string, body: Record<string, unknown> = {}): GraphRequest => ({
    surface: "base",
    method: "GET",
    path: "/v26.0/1/labels",
    queryText,
    query: {},
    body,
    files: new Map(),
    header: () => undefined,
    baseUrl: "http://plaza.test",
    batchDepth: 0,
  });
  const page = (words: Partial<ListPage<unknown>> = {}): ListPage<unknown> => ({
    ...{ rows: [1, 2], hasPrevious: false, hasNext: false, firstKey: ["1"], lastKey: ["2"] },
    ...words,
  });
  const paging = (found: ListPage<unknown>, words: Partial<ListAddress> = {}) =>
    pagingOf(found, { list: LIST, cursors, page: { limit: 2 }, request: request(""), isCursorsOnly: false, ...words });
  const BASE = "http://plaza.test/v26.0/1/labels?";

  test("exist if more rows follow or precede", () => {
    const own = { before: sign("1"), after: sign("2") };
    expect(paging(page())).toEqual({ cursors: own });
    expect(paging(page({ hasNext: true }))).toEqual({ cursors: own, next: `${BASE}after=${sign("2")}` });
    expect(paging(page({ hasPrevious: true }))).toEqual({ cursors: own, previous: `${BASE}before=${sign("1")}` });
    expect(paging(page({ hasPrevious: true, hasNext: true }), { isCursorsOnly: true })).toEqual({ cursors: own });
  });

  test("a page of one row has one cursor for both sides", () => {
    expect(paging(page({ rows: [1], lastKey: ["1"] })).cursors).toEqual({ before: sign("1"), after: sign("1") });
  });

  test("an empty page beyond an end links back to the row at that end, inclusive", () => {
    const { firstKey: _, lastKey: __, ...none } = page({ rows: [] });
    const back = paging({ ...none, hasPrevious: true }, { page: { limit: 2, after: ["9"] } });
    expect(back).toEqual({ cursors: {}, previous: expect.stringContaining(`${BASE}before=`) });
    const cursor = (back.previous ?? "").slice(`${BASE}before=`.length);
    expect(read({ before: cursor })).toEqual({ limit: 25, before: ["9"], isInclusive: true });
    const on = paging({ ...none, hasNext: true }, { page: { limit: 2, before: ["1"] } });
    expect(on).toEqual({ cursors: {}, next: expect.stringContaining(`${BASE}after=`) });
    expect(paging({ ...none, hasPrevious: true })).toEqual({ cursors: {} });
    expect(paging({ ...none, hasPrevious: true }, { page: { limit: 2, after: ["9"] }, isCursorsOnly: true })).toEqual({ cursors: {} });
  });

  const next = (queryText: string, body?: Record<string, unknown>): string =>
    (paging(page({ hasNext: true }), { request: request(queryText, body) }).next ?? "").slice(BASE.length).replace(`after=${sign("2")}`, "@");

  test.each([
    ["limit=2", "limit=2&@"],
    ["limit=2&after=x&fields=id", "limit=2&fields=id&@"],
    ["before=x", "@"],
    ["after", "@"],
    ["%61fter=x&a=1", "a=1&@"],
    ["after_all=1", "after_all=1&@"],
    ["&&a=1&&b=2&", "a=1&b=2&@"],
    ["&a=1", "a=1&@"],
    ["a=1&", "a=1&@"],
    ["a=%zz&%zz=1", "a=%zz&%zz=1&@"],
    ["a=after", "a=after&@"],
  ])("D-32: the query %s becomes %s", (queryText, expected) => {
    expect(next(queryText)).toBe(expected);
  });

  test("D-41: parameters of the body are in the links too, but no credential, cursor or parameter of a batch", () => {
    expect(next("limit=2", { limit: 5, fields: "id" })).toBe("limit=5&fields=id&@");
    expect(next("limit=2", { limit: null })).toBe("limit=2&@");
    const { parameters } = parsePairs("filter[b][]=1&filter[b][]=%26&filter[c d]=x", "The body");
    expect(next("filter[b]=0&filters=1", parameters)).toBe("filters=1&filter[b][]=1&filter[b][]=%26&filter[c%20d]=x&@");
    expect(next("a=1", { filter: { b: 2 } })).toBe(`a=1&filter=${encodeURIComponent('{"b":2}')}&@`);
    const own = ["access_token", "oauth_token", "appsecret_proof", "before", "after", "method", "ids", "batch", "include_headers"];
    expect(next("a=1", Object.fromEntries(own.map((name) => [name, "x"])))).toBe("a=1&@");
  });
});
