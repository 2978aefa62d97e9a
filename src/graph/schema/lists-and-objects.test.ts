/** Lists and objects, as requests contain them and as world files contain them. */
import { describe, expect, test } from "bun:test";
import { type TArrayOptions, type TObjectOptions, type TSchema, Type } from "typebox";
import { isNo, isYes, parametersReader, textsOf } from "../pipeline/parameters.ts";
import { JsonNumber, type Parameters } from "../pipeline/request.ts";
import { entryReader } from "../worlds/file/entry-reader.ts";
import { worldId, worldTime } from "../worlds/file/schema-words.ts";

const outcome = (read: (value: never) => unknown, value: unknown): unknown => {
  try {
    return read(value as never);
  } catch (error) {
    return (error as Error).message.replace("(#100) Param ", "");
  }
};
const request = (properties: Record<string, TSchema>, value: unknown, words: TObjectOptions = {}) =>
  outcome(parametersReader(Type.Object(properties, words)), value);
const entry = (properties: Record<string, TSchema>, value: unknown, words: TObjectOptions = {}) =>
  outcome(entryReader(Type.Object(properties, words)), value);

describe("D-161: a list of plain values in a request", () => {
  const list = (v: unknown, words: TArrayOptions = {}, items: TSchema = Type.String({ maxLength: 2 })) =>
    request({ v: Type.Array(items, words) }, { v });

  test("is JSON, a repeated name, or text with commas, whose parts are trimmed", () => {
    for (const value of [["a", "b"], '["a","b"]', ' ["a","b"]', "a,b", " a , b ", ["a,b"], ["a ", "b"]])
      expect({ value, list: list(value) }).toEqual({ value, list: { v: ["a", "b"] } });
    expect([list("a"), list(""), list([]), list("[]"), list([""])]).toEqual([{ v: ["a"] }, { v: [] }, { v: [] }, { v: [] }, { v: [""] }]);
    expect(list(["1", 2, "3,4"], {}, Type.Integer())).toEqual({ v: [1, 2, 3, 4] });
    expect(list("a]")).toEqual({ v: ["a]"] });
  });

  test("is nothing else, and malformed JSON is refused", () => {
    for (const value of [7, true, {}]) expect(list(value)).toBe("v must be a list");
    expect(list('["a"')).toBe("v is not valid JSON");
  });

  test("holds the number of items that its schema allows", () => {
    const bounded = { minItems: 2, maxItems: 3 };
    expect([list("a,b", bounded), list("a,b,c", bounded)]).toEqual([{ v: ["a", "b"] }, { v: ["a", "b", "c"] }]);
    expect([list("a", bounded), list("a,b,c,d", bounded)]).toEqual(["v must hold at least 2 items", "v must hold at most 3 items"]);
    expect([list("", { minItems: 1 }), list("", { maxItems: 0 }), list("a", { maxItems: 0 })]).toEqual([
      "v must not be empty",
      { v: [] },
      "v must hold at most 0 items",
    ]);
  });

  test("has the places that the caller wrote", () => {
    for (const value of [["a", "abc"], '["a","abc"]', ' ["a","abc"]']) expect(list(value)).toBe("v[1] must have at most 2 characters");
    expect(list("a,abc")).toBe("v must have at most 2 characters");
    expect(list("a,abc]")).toBe("v must have at most 2 characters");
  });
});

test("D-161: a list of objects in a request has no commas", () => {
  const list = (v: unknown) => request({ v: Type.Array(Type.Object({ a: Type.String() })) }, { v });
  for (const value of ['[{"a":"x,y"}]', [{ a: "x,y" }], ['{"a":"x,y"}']])
    expect({ value, list: list(value) }).toEqual({ value, list: { v: [{ a: "x,y" }] } });
  expect([list(""), list('{"a":"x"}'), list("x,y")]).toEqual(Array(3).fill("v must be a list"));
});

test("a list of a world file is a list, with any items if the schema says nothing", () => {
  const items = (v: unknown, words: object = {}) => entry({ v: Type.Unsafe({ type: "array", ...words }) }, { v });
  expect(items(["a", 1, null, [2]])).toEqual({ v: ["a", 1, null, [2]] });
  expect([items("a,b"), items({}), items([], { minItems: 1 })]).toEqual(["v must be a list", "v must be a list", "v must not be empty"]);
  expect(items([1], { items: Type.String() })).toBe("v[0] must be a text; put it in quotes");
});

test("D-161: a list of texts without a contract", () => {
  expect([textsOf("a, b", "ids"), textsOf(["a,b", 7, new JsonNumber("8")], "ids"), textsOf("[1]", "ids"), textsOf("", "ids")]).toEqual([
    ["a", "b"],
    ["a", "b", "7", "8"],
    ["1"],
    [],
  ]);
  for (const value of [[true], ["a", {}], [["a"]]]) expect(textsOf(value, "ids")).toBeUndefined();
  for (const value of [7, {}, null]) expect(textsOf(value, "ids")).toEqual([]);
  expect(() => textsOf("[", "ids")).toThrow("(#100) Param ids is not valid JSON");
});

test("a flag without a contract is true, false, or refused", () => {
  for (const yes of [true, 1, "true", "1", "True", "TRUE"]) expect([isYes(yes), isNo(yes)]).toEqual([true, false]);
  for (const no of [false, 0, "false", "0", "False", "FALSE"]) expect([isYes(no), isNo(no)]).toEqual([false, true]);
  for (const neither of [undefined, null, "", "yes", 2, "2", []]) expect([isYes(neither), isNo(neither)]).toEqual([false, false]);
});

describe("an object", () => {
  const inner = Type.Object({ a: Type.String() });

  test("is an object, or in a request its JSON text", () => {
    for (const value of [{ a: "x" }, '{"a":"x"}', ' {"a":"x"}']) expect(request({ v: inner }, { v: value })).toEqual({ v: { a: "x" } });
    expect([request({ v: inner }, { v: "{" }), request({ v: inner }, { v: "x}" })]).toEqual(["v is not valid JSON", "v must be an object"]);
    for (const value of [[], 7, "x", new JsonNumber("1"), true]) expect(request({ v: inner }, { v: value })).toBe("v must be an object");
    expect(entry({ v: Type.Array(inner) }, { v: [null] })).toBe("v[0] must be a map");
    for (const value of [[], 7, '{"a":"x"}']) expect(entry({ v: inner }, { v: value })).toBe("v must be a map");
  });

  test("names a missing key: in a request in order, in a world file after all other mistakes", () => {
    const properties = { a: Type.String(), b: Type.Integer(), c: Type.String() };
    expect([request(properties, { b: "x" }), entry(properties, { b: "x" })]).toEqual(["a is required", "b must be an integer"]);
    expect([request(properties, { a: "1" }), entry(properties, { b: 1, d: 1 })]).toEqual(["b is required", "a is required"]);
    expect([request(properties, { b: 1 }), entry(properties, { a: "1", b: 1 })]).toEqual(["a is required", "c is required"]);
    expect(entry(properties, { a: "1", b: 1, d: 1 }, { additionalProperties: false })).toBe("d is not known here");
    expect(request(properties, { d: 1 }, { additionalProperties: false })).toBe("a is required");
    expect(request({ toString: Type.String() }, {})).toBe("toString is required");
  });

  test("treats null as a missing key, unless null is a value of it", () => {
    const optional = { a: Type.Optional(Type.String()), b: Type.Optional(Type.Union([Type.String(), Type.Null()])), c: Type.Optional(Type.Null()) };
    for (const read of [request, entry]) {
      expect(read(optional, { a: null, b: null, c: null })).toEqual({ b: null, c: null });
      expect(read(optional, { a: undefined })).toEqual({});
      expect(read({ a: Type.String() }, { a: null })).toBe("a is required");
      expect(read({ a: Type.Array(Type.String(), { default: ["x"] }) }, { a: null })).toEqual({ a: ["x"] });
    }
  });

  test("has a default for a missing key, copied each time", () => {
    const read = entryReader(Type.Object({ a: Type.Array(Type.String(), { default: [] }), b: Type.Optional(Type.Integer({ default: 0 })) }));
    const first = read({}) as { a: string[] };
    first.a.push("changed");
    expect([first, read({}), read({ a: ["x"], b: 7 })]).toEqual([
      { a: ["changed"], b: 0 },
      { a: [], b: 0 },
      { a: ["x"], b: 7 },
    ]);
  });

  test("has further keys with one schema, or with one for every key", () => {
    for (const words of [{ additionalProperties: Type.Integer() }, { patternProperties: { "^.*$": Type.Integer() } }]) {
      for (const read of [request, entry]) {
        expect(read({ a: Type.String() }, { a: "1", b: 2, c: 3 }, words)).toEqual({ a: "1", b: 2, c: 3 });
        expect(read({ a: Type.String() }, { a: "1", b: 2, c: "x" }, words)).toBe("c must be an integer");
      }
    }
    expect(request({ v: Type.Record(Type.String(), Type.Integer()) }, { v: '{"__proto__":1,"toString":2}' })).toEqual({
      v: Object.defineProperty({ toString: 2 }, "__proto__", { value: 1, enumerable: true }),
    });
  });

  test("has further keys of any kind, or none, as its schema says; a missing declared key does not hide another", () => {
    const a = { a: Type.Optional(Type.String()) };
    expect([request(a, { b: { c: 1 } }), entry(a, { b: { c: 1 } })]).toEqual([{}, { b: { c: 1 } }]);
    expect([request(a, { b: 1 }, { additionalProperties: true }), entry(a, { a: "x", b: 1 })]).toEqual([{ b: 1 }, { a: "x", b: 1 }]);
    for (const read of [request, entry]) {
      expect(read(a, { a: "x" }, { additionalProperties: false })).toEqual({ a: "x" });
      expect(read(a, { zzz: "x" }, { additionalProperties: false })).toBe("zzz is not known here");
      expect(read(a, { a: undefined }, { additionalProperties: false })).toEqual({});
      expect(read({ name: Type.Optional(Type.String()) }, { nam: "x" }, { additionalProperties: false })).toBe(
        "nam is not known here; did you mean name?",
      );
    }
  });
});

test("D-21: an undescribed value nests at most 32 levels deep, including itself, and is unchanged", () => {
  const free = (v: unknown) => request({ v: Type.Unknown() } as never, { v } as Parameters);
  const nested = (depth: number) => JSON.parse(`${"[".repeat(depth)}1${"]".repeat(depth)}`);
  const maps = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);
  for (const of of [nested, maps]) {
    expect(free(of(32))).toEqual({ v: of(32) });
    expect(free(of(33))).toEndWith("nests deeper than 32 levels");
  }
  const kept = free({ a: { b: 1 } }) as { v: { a: { b: number; c?: number } } };
  kept.v.a.c = 3;
  kept.v.a.b = 2;
  expect(JSON.stringify(kept)).toBe('{"v":{"a":{"b":2,"c":3}}}');
  expect([Object.keys(kept.v.a), delete (kept.v.a as { b?: number }).b]).toEqual([["b", "c"], true]);
});

test("ids and times of a world file are read in their own way; elsewhere the words of their schemas apply", () => {
  expect(entry({ id: worldId, at: worldTime }, { id: 7, at: "1970-01-02" })).toEqual({ id: "7", at: 86_400 });
  expect(request({ id: worldId, at: worldTime }, { id: "7", at: "86400" })).toEqual({ id: "7", at: 86_400 });
  expect(entry({ id: worldId }, { id: "x" })).toStartWith("id ");
});
