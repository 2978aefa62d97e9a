import { expect, test } from "bun:test";
import { type TObject, type TProperties, Type } from "typebox";
import { parametersReader } from "../pipeline/parameters.ts";
import { having, PROBLEM } from "./schema-node.ts";

const keys = { a: Type.Optional(Type.String()), b: Type.Optional(Type.String()), kind: Type.Optional(Type.String()) };
const problem = (words: Record<string, unknown>, value: Record<string, unknown>, properties: TProperties = keys): string | undefined => {
  try {
    parametersReader(Type.Object(properties, words) as TObject)(value);
    return undefined;
  } catch (error) {
    return (error as Error).message.replace("(#100) Param ", "");
  }
};

test("keys that belong together are sent together; null counts as absent", () => {
  const both = { dependentRequired: { a: ["b"], b: ["a"] } };
  expect([problem(both, {}), problem(both, { a: "1", b: "2" })]).toEqual([undefined, undefined]);
  expect([problem(both, { a: "1" }), problem(both, { a: null, b: "2" })]).toEqual(["b is required", "a is required"]);
});

test("one of several keys is required, and keys may exclude each other", () => {
  const either = { anyOf: [having("a"), having("b")] };
  expect([problem(either, { b: "1" }), problem(either, { kind: "x" })]).toEqual([undefined, "a or b is required"]);
  const apart = { not: having("a", "b") };
  expect([problem(apart, { a: "1" }), problem(apart, { a: "1", b: "2" })]).toEqual([undefined, "b cannot be combined with a"]);
  const together = { not: { required: ["a"], not: having("b"), [PROBLEM]: "needs b" } };
  expect([problem(together, {}), problem(together, { a: "1", b: "2" }), problem(together, { a: "1" })]).toEqual([undefined, undefined, "a needs b"]);
});

test("a condition decides which keys are required and allowed, and their values", () => {
  const words = {
    if: { required: ["kind"], properties: { kind: { enum: ["plan", "list"] } } },
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema.
    then: { ...having("a"), if: { properties: { kind: { const: "list" } } }, then: { properties: { a: { type: "string", maxLength: 1 } } } },
    else: { properties: { kind: {}, b: {} }, additionalProperties: false },
  };
  expect(problem(words, { kind: "plan" })).toBe("a is required");
  expect(problem(words, { kind: "plan", a: "long" })).toBeUndefined();
  expect(problem(words, { kind: "list", a: "long" })).toBe("a must have at most 1 characters");
  expect(problem(words, { kind: "other", b: "1" })).toBeUndefined();
  expect(problem(words, { kind: "other", a: "1" })).toBe("a is not known here");
  expect(problem(words, { c: "1" })).toBe("c is not known here");
});

test("rules of an inner object name its keys by their path", () => {
  const inner = { inner: Type.Object(keys, { anyOf: [having("a"), having("b")] }) };
  expect(problem({}, { inner: {} }, inner)).toBe("inner.a or b is required");
});
