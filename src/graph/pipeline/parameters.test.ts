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
  test("D-40: strings take numbers, with all their digits", () => {
    const schema = Type.Object({ user: Type.String() });
    const source = parseJson('{"user": 9007199254740993}', "The body") as Parameters;
    expect(source.user).toBeInstanceOf(JsonNumber);
    expect(read(schema, source)).toEqual({ user: "9007199254740993" });
    expect(read(schema, { user: 12 })).toEqual({ user: "12" });
    for (const user of [true, [], {}, ["a"]]) expect(refusal(() => read(schema, { user }))).toBe("user");
    expect(refusal(() => read(schema, {}))).toBe("user");
    expect(refusal(() => read(schema, { user: null }))).toBe("user");
  });

  test("D-21: every kind names the parameter that is wrong", () => {
    const schema = Type.Object({
      count: Type.Optional(Type.Integer({ minimum: 0, maximum: 9 })),
      on: Type.Optional(Type.Boolean()),
      kind: Type.Optional(Type.Union([Type.Literal("a"), Type.Literal("b")])),
      sum: Type.Optional(Type.Number()),
      list: Type.Optional(Type.Array(Type.String({ maxLength: 2 }), { maxItems: 2, commaSeparated: true })),
      deep: Type.Optional(Type.Object({ inner: Type.Object({ flag: Type.Boolean() }) })),
    });
    const taken: [Parameters, Record<string, unknown>][] = [
      [{ count: "9" }, { count: 9 }],
      [{ on: "1" }, { on: true }],
      [{ on: false }, { on: false }],
      [{ kind: "b" }, { kind: "b" }],
      [{ sum: "1.10" }, { sum: "1.10" }],
      [{ list: "a,b" }, { list: ["a", "b"] }],
      [{ list: '["a"]' }, { list: ["a"] }],
      [{ deep: '{"inner":{"flag":"true"}}' }, { deep: { inner: { flag: true } } }],
      [{ deep: { inner: { flag: 1, more: 2 } } }, { deep: { inner: { flag: true } } }],
      [{ unknown: 1 }, {}],
    ];
    for (const [source, expected] of taken) expect(read(schema, source)).toEqual(expected);
    const refused: [Parameters, string][] = [
      [{ count: "10" }, "count"],
      [{ count: 1.5 }, "count"],
      [{ count: "1e3" }, "count"],
      [{ on: "yes" }, "on"],
      [{ kind: "c" }, "kind"],
      [{ sum: "1,1" }, "sum"],
      [{ sum: true }, "sum"],
      [{ list: ["abc"] }, "list[0]"],
      [{ list: "abc" }, "list"],
      [{ list: "a,b,c" }, "list"],
      [{ list: { 0: "a" } }, "list"],
      [{ deep: { inner: {} } }, "deep.inner.flag"],
      [{ deep: "[]" }, "deep"],
    ];
    for (const [source, name] of refused) expect(refusal(() => read(schema, source))).toBe(name);
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
