/** Tests the comparison of two responses, and the translation of ids and addresses. */
import { describe, expect, test } from "bun:test";
import type { WireResponse } from "#conformance/http/wire";
import { bodyOf, differencesOf, learnCursors, learnIds, type Translation, translatedText } from "./differences.ts";
import type { Rule } from "./rules.ts";

const form = { address: "GET /{id}", names: ["readPage"] };
const response = (text: string, more: Partial<WireResponse> = {}): WireResponse => ({ status: 200, headers: new Map(), text, ...more });
const none: Translation = { ids: new Map(), addresses: [] };

/** Returns each difference as the text `path: first | second`. */
const between = (first: WireResponse, second: WireResponse, rules: readonly Rule[] = [], translation = none): string[] =>
  differencesOf({ form, request: "GET /1", first, second }, rules, translation).map((one) => `${one.path}: ${one.first} | ${one.second}`);
const betweenBodies = (first: unknown, second: unknown, ...more: [rules?: readonly Rule[], translation?: Translation]) =>
  between(response(JSON.stringify(first)), response(JSON.stringify(second)), ...more);

describe("two responses differ", () => {
  test("in their status, or in headers that belong to the interface, and in no others", () => {
    const headers = (value: string) =>
      new Map(
        ["content-type", "www-authenticate", "x-ad-api-version-warning", "deprecation", "retry-after", "allow", "date", "etag", "server"].map(
          (name): [string, string] => [name, value],
        ),
      );
    expect(between(response("", { headers: headers("a") }), response("", { status: 400, headers: headers("b") }))).toEqual([
      "status: 200 | 400",
      ...["content-type", "www-authenticate", "x-ad-api-version-warning", "deprecation", "retry-after", "allow"].map(
        (name) => `header.${name}: "a" | "b"`,
      ),
    ]);
  });

  test.each<[first: unknown, second: unknown, differences: string[]]>([
    [{ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 }, []],
    [{ a: 1 }, { a: 2 }, ["body.a: 1 | 2"]],
    [{ a: 1 }, {}, ["body.a: 1 | nothing"]],
    [{}, { a: null }, ["body.a: nothing | null"]],
    [{ a: [1, 2] }, { a: [1, 3, 4] }, ["body.a.1: 2 | 3", "body.a.2: nothing | 4"]],
    [{ a: [1] }, { a: { 0: 1 } }, ['body.a: [1] | {"0":1}']],
    [{ a: null }, { a: {} }, ["body.a: null | {}"]],
    [{ a: {} }, { a: null }, ["body.a: {} | null"]],
    [{ a: {} }, { a: 5 }, ["body.a: {} | 5"]],
    [{ a: "1" }, { a: 1 }, ['body.a: "1" | 1']],
  ])("%j and %j", (first, second, differences) => {
    expect(betweenBodies(first, second)).toEqual(differences);
  });

  test("not if a rule allows it: a value that must be on both sides or neither, or any difference", () => {
    const rules: Rule[] = [
      { path: "body.value", may_differ: "value" },
      { path: "body.any", may_differ: "anything" },
    ];
    expect(betweenBodies({ value: 1, any: 1 }, { value: { b: 2 } }, rules)).toEqual([]);
    expect(betweenBodies({ value: 1 }, { any: 2 }, rules)).toEqual(["body.value: 1 | nothing"]);
    expect(betweenBodies({}, { value: 2 }, rules)).toEqual(["body.value: nothing | 2"]);
  });

  test("not in ids and addresses of the second server's own, as values, as keys, or in texts", () => {
    const translation: Translation = { ids: new Map([["77", "5"]]), addresses: [["http://second", "http://first"]] };
    const first = { id: "5", 5: ["http://first/v26.0/5?after=5"], other: 77, none: null };
    const second = { id: "77", 77: ["http://second/v26.0/77?after=77"], other: 77, none: null };
    expect(betweenBodies(first, second, [], translation)).toEqual([]);
    expect(betweenBodies({ id: "77" }, { id: "77" }, [], translation)).toEqual(['body.id: "77" | "5"']);
    expect(betweenBodies({ id: "177" }, { id: "177" }, [], translation)).toEqual([]);
  });
});

test("a body is JSON, or text, or absent if it is empty; bodies in a batch are read, too", () => {
  expect(bodyOf("")).toBeUndefined();
  expect(bodyOf("text")).toBe("text");
  expect(bodyOf('{"a":1}')).toEqual({ a: 1 });
  expect(bodyOf('[{"code":200,"body":"{\\"id\\":\\"5\\"}"},null,{"body":"text"},{"body":""}]')).toEqual([
    { code: 200, body: { id: "5" } },
    null,
    { body: "text" },
    { body: undefined },
  ]);
  // These lists look like the response to a batch, but are not.
  for (const list of ['[{"body":"5"},{"id":"5"}]', '[{"body":"5"},5]']) expect(bodyOf(list)).toEqual(JSON.parse(list));
});

test("whole numbers in a text are translated if there is an id for them", () => {
  const ids = new Map([["12", "a"]]);
  expect(translatedText("12 x12y 123 0.12", ids)).toBe("a xay 123 0.a");
  expect(translatedText("12", new Map())).toBe("12");
});

describe("ids are learnt", () => {
  const learnt = (method: string, known: unknown, own: unknown) => {
    const ids = new Map<string, string>();
    learnIds(method, known, own, ids);
    return Object.fromEntries(ids);
  };

  test("only from the responses to creations, at any depth, if both sides have one", () => {
    const [known, own] = [
      { id: "1", page_id: "2", list: [{ id: "3" }], name: "4", upload: { session_id: "5" } },
      { id: "11", page_id: "12", list: [{ id: "13" }], name: "14", upload: { session_id: "15" } },
    ];
    expect(learnt("POST", known, own)).toEqual({ 1: "11", 2: "12", 3: "13", 5: "15" });
    for (const method of ["GET", "DELETE", "PATCH"]) expect(learnt(method, known, own)).toEqual({});
    expect(learnt("POST", { id: "1", more: { id: "2" } }, { id: null })).toEqual({});
    expect(learnt("POST", undefined, { id: "1" })).toEqual({});
  });

  test("if they look like ids: up to 19 digits without a leading zero", () => {
    const nineteen = "1".repeat(19);
    expect(learnt("POST", { id: nineteen }, { id: "2" })).toEqual({ [nineteen]: "2" });
    for (const none of [`${nineteen}1`, "01", "0", "", "1a", "a1", 5]) {
      expect(learnt("POST", { id: none }, { id: "2" })).toEqual({});
      expect(learnt("POST", { id: "2" }, { id: none })).toEqual({});
    }
  });
});

test("cursors are learnt from the same places in both responses", () => {
  const learnt = (known: unknown, own: unknown) => {
    const cursors = new Map<string, string>();
    learnCursors(known, own, cursors);
    return Object.fromEntries(cursors);
  };
  const paging = (after: unknown, before: unknown) => ({ data: [], paging: { cursors: { after, before }, next: "n" } });
  expect(learnt(paging("a", "b"), paging("c", "d"))).toEqual({ a: "c", b: "d" });
  expect(learnt(paging("a", 5), paging("c", "d"))).toEqual({ a: "c" });
  expect(learnt(paging("a", "b"), paging(undefined, 5))).toEqual({});
  expect(learnt({ later: "a" }, { later: "b" })).toEqual({});
});
