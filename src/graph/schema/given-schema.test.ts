/** Schemas that callers write: their supported keywords, and the limits on their size. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { givenSchema } from "./given-schema.ts";
import { patternProblem } from "./linear-pattern.ts";
import { ValueProblem } from "./scalars.ts";

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const level = object({ level: { type: "integer", minimum: 1, maximum: 9 } }, { required: ["level"] });

/** A schema, a value that matches it, and values that do not match it, each with the problem. */
const cases: readonly (readonly [schema: object, right: unknown, ...wrong: (readonly [unknown, string])[]])[] = [
  [
    level,
    { level: 3, other: "x" },
    [{}, "level is required"],
    [{ level: 0 }, "level must be at least 1"],
    [{ level: 10 }, "level must be at most 9"],
    [{ level: 1.5 }, "level must be an integer"],
    [{ level: "3" }, "level must be an integer"],
    [[], "must be an object"],
  ],
  [object({ a: {} }, { additionalProperties: false }), { a: [1] }, [{ b: 1 }, "b is not known here"]],
  [{ type: "object", additionalProperties: { type: "number" } }, { x: 1.5 }, [{ x: "1" }, "x must be a number"]],
  [{ type: "object", required: ["x"] }, { x: 1 }, [{}, "x is required"]],
  [object({ plan: { enum: ["free", 1, null] } }), { plan: 1 }, [{ plan: "1" }, 'plan must be one of "free", 1, null']],
  [{ type: "string", const: "a" }, "a", ["b", 'must be "a"']],
  [{ type: ["string", "integer"], maxLength: 2 }, "ab", ["abc", "must have at most 2 characters"]],
  [{ type: ["string", "integer"] }, 1, [1.5, "must be string or integer"]],
  [{ anyOf: [{ type: "boolean" }, { type: "null" }] }, true, ["true", "must be true or false"]],
  [
    { type: "array", items: { type: "string", minLength: 2 }, minItems: 1, maxItems: 2 },
    ["ab"],
    [[], "must not be empty"],
    [["ab", "a"], "[1] must have at least 2 characters"],
    [["ab", "ab", "ab"], "must hold at most 2 items"],
  ],
  [
    { type: "string", pattern: "^[A-Z]{3}-\\d{4}$", title: "sku" },
    "ABC-1234",
    ["abc-1234", "must match ^[A-Z]{3}-\\d{4}$"],
    ["A".repeat(101), "must have at most 100 characters"],
  ],
];

test.each(cases)("%j takes %j, and says how other values break it", (schema, right, ...wrong) => {
  const check = givenSchema(schema);
  expect(check(right)).toBeUndefined();
  for (const [value, problem] of wrong) expect({ value, problem: check(value) }).toEqual({ value, problem });
});

const problemOf = (schema: unknown): string | undefined => {
  try {
    givenSchema(schema);
    return undefined;
  } catch (error) {
    if (error instanceof ValueProblem) return error.message;
    throw error;
  }
};

const nested = (levels: number): object => (levels === 1 ? { type: "string" } : object({ a: nested(levels - 1) }));

test.each([
  ["x", "must be a JSON Schema, an object"],
  [{ type: "text" }, "type must be one of string, integer, number, boolean, null, array, object"],
  [{ $ref: "https://example.com/s.json" }, "$ref is not supported here; the keywords are enum, const, anyOf, type"],
  [
    object({ a: { type: "string", minimum: 1 } }),
    "properties.a.minimum is not supported here; the keywords are enum, const, anyOf, type, minLength, maxLength, pattern",
  ],
  [
    { type: "object", require: ["a"] },
    "require is not supported here; did you mean required?; the keywords are enum, const, anyOf, type, properties, required, additionalProperties",
  ],
  [
    { type: "string", "x-plaza-raw": true },
    "x-plaza-raw is not supported here; the keywords are enum, const, anyOf, type, minLength, maxLength, pattern",
  ],
  [{ properties: {} }, "properties is not supported here; the keywords are enum, const, anyOf, type"],
  [{ type: "string", maxLength: -1 }, "maxLength must be an integer from 0"],
  [{ type: "number", minimum: "1" }, "minimum must be a number"],
  [{ enum: [{}] }, "enum must be a list of texts, numbers, true, false or null"],
  [{ anyOf: [] }, "anyOf must be a list of schemas"],
  [{ type: "object", required: "a" }, "required must be a list of keys"],
  [{ type: "array", items: [] }, "items must be a JSON Schema, an object"],
  [nested(9), `${Array.from({ length: 8 }, () => "properties.a").join(".")} is too deep: a schema has 8 levels at most`],
  [
    object(Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`a${i}`, {}]))),
    "properties.a199 is too large: a schema holds 200 schemas at most",
  ],
  [{ type: "string", pattern: "^(a+)+$" }, "pattern repeats a group; only ? may follow a group"],
])("%j is refused", (schema, problem) => expect(problemOf(schema)).toBe(problem));

test("a schema of eight levels with 200 schemas is taken", () => {
  expect(problemOf(nested(8))).toBeUndefined();
  expect(problemOf(object(Object.fromEntries(Array.from({ length: 199 }, (_, i) => [`a${i}`, {}]))))).toBeUndefined();
});

test("patterns with few choices are taken, others are refused with the reason", () => {
  for (const taken of ["^[a-z_]+$", "\\d{1,3}", "^\\d+(\\.\\d+)?$", "^(?:gold|silver|bronze)$", "^[^\\]]*$", "^a.c$", "", "^x{100}$"])
    expect({ taken, problem: patternProblem(taken) }).toEqual({ taken, problem: undefined });
  const many = "has too many of ?, *, +, {n,m} and |: three are allowed, or two without ^ in front";
  for (const [pattern, problem] of [
    ["a*b*c*", many],
    ["^a*b*c*d*", many],
    ["^(a|b|c|d|e)$", many],
    ["^(a|a){20}$", "repeats a group; only ? may follow a group"],
    ["(?=a)", "has a group other than ( ) and (?: )"],
    ["(a)\\1", "has a part that is not supported: \\1"],
    ["a{101}", "repeats a character more than 100 times"],
    ["^a{1,101}", "repeats a character more than 100 times"],
    ["(a", "is not a valid regular expression"],
    ["a)", "is not a valid regular expression"],
    ["^[b-a]$", "is not a valid regular expression"],
    ["x".repeat(201), "must have at most 200 characters"],
  ] as const)
    expect({ pattern, problem: patternProblem(pattern) }).toEqual({ pattern, problem });
});

test("any text is a pattern that runs, or is refused with a reason", () => {
  const piece = fc.constantFrom("a", "b", "[ab]", "\\d", ".", "*", "+", "?", "{2}", "{1,3}", "(", ")", "|", "^", "$", "(?:");
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(piece).map((pieces) => pieces.join("")),
        fc.string({ unit: "binary" }),
      ),
      (pattern) => {
        const problem = patternProblem(pattern);
        if (problem === undefined) expect(new RegExp(pattern, "u").source).toBeString();
        else expect(problem).not.toBe("");
      },
    ),
  );
});
