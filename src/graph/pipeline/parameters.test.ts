import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type TObject, Type } from "typebox";
import { GraphError } from "#kernel/errors";
import { JSON_DEPTH_MAX, parseJson } from "../response/json.ts";
import { parametersReader } from "./parameters.ts";
import { JsonNumber, type Parameters } from "./request.ts";

const read = (schema: TObject, source: Parameters) => parametersReader(schema)(source);

function refusal(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    if (error instanceof GraphError) return error.details.data?.parameter;
    throw error;
  }
  return "was taken";
}

describe("parameters", () => {
  test("D-40: strings accept numbers, with all their digits", () => {
    const schema = Type.Object({ user: Type.String() });
    const source = parseJson('{"user": 9007199254740993}', "The body") as Parameters;
    expect(source.user).toBeInstanceOf(JsonNumber);
    expect(read(schema, source)).toEqual({ user: "9007199254740993" });
    expect(read(schema, { user: 12 })).toEqual({ user: "12" });
    for (const user of [true, [], {}, ["a"], ...["1e400", "-1e400", "9".repeat(400)].map((text) => new JsonNumber(text))])
      expect(refusal(() => read(schema, { user }))).toBe("user");
    expect(refusal(() => read(schema, {}))).toBe("user");
    expect(refusal(() => read(schema, { user: null }))).toBe("user");
  });

  test("D-21: every kind names the wrong parameter", () => {
    const schema = Type.Object({
      count: Type.Optional(Type.Integer({ minimum: 0, maximum: 9 })),
      on: Type.Optional(Type.Boolean()),
      kind: Type.Optional(Type.Union([Type.Literal("a"), Type.Literal("b")])),
      sum: Type.Optional(Type.Number()),
      list: Type.Optional(Type.Array(Type.String({ maxLength: 2 }), { maxItems: 2 })),
      deep: Type.Optional(Type.Object({ inner: Type.Object({ flag: Type.Boolean() }) })),
    });
    const taken: { source: Parameters; expected: Record<string, unknown> }[] = [
      { source: { count: "9" }, expected: { count: 9 } },
      { source: { on: "1" }, expected: { on: true } },
      { source: { on: false }, expected: { on: false } },
      { source: { on: "True" }, expected: { on: true } },
      { source: { kind: "b" }, expected: { kind: "b" } },
      { source: { sum: "1.10" }, expected: { sum: 1.1 } },
      { source: { list: "a,b" }, expected: { list: ["a", "b"] } },
      { source: { list: '["a"]' }, expected: { list: ["a"] } },
      { source: { list: ["a", "b"] }, expected: { list: ["a", "b"] } },
      { source: { list: "a" }, expected: { list: ["a"] } },
      { source: { deep: '{"inner":{"flag":"true"}}' }, expected: { deep: { inner: { flag: true } } } },
      { source: { deep: { inner: { flag: 1, more: 2 } } }, expected: { deep: { inner: { flag: true } } } },
      { source: { unknown: 1 }, expected: {} },
    ];
    for (const { source, expected } of taken) expect(read(schema, source)).toEqual(expected);
    const refused: { source: Parameters; name: string }[] = [
      { source: { count: "10" }, name: "count" },
      { source: { count: 1.5 }, name: "count" },
      { source: { count: "1e3" }, name: "count" },
      { source: { on: "yes" }, name: "on" },
      { source: { kind: "c" }, name: "kind" },
      { source: { sum: "1,1" }, name: "sum" },
      { source: { sum: true }, name: "sum" },
      { source: { list: ["abc"] }, name: "list[0]" },
      { source: { list: "abc" }, name: "list" },
      { source: { list: "a,b,c" }, name: "list" },
      { source: { list: { 0: "a" } }, name: "list" },
      { source: { deep: { inner: {} } }, name: "deep.inner.flag" },
      { source: { deep: "[]" }, name: "deep" },
    ];
    for (const { source, name } of refused) expect({ source, refused: refusal(() => read(schema, source)) }).toEqual({ source, refused: name });
  });

  test("D-21: JSON of any kind round-trips, and depth is limited", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5, stringUnit: "binary" }), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.stringify(parseJson(text, "It"))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
    const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
    expect(parseJson(nested(JSON_DEPTH_MAX), "It")).toBeArray();
    expect(() => parseJson(nested(JSON_DEPTH_MAX + 1), "It")).toThrow("deeper");
    expect(() => parseJson(nested(1_000_000), "It")).toThrow("deeper");
    expect(parseJson(JSON.stringify(`${"[{".repeat(99)}\\"`), "It")).toBeString();
  });
});
