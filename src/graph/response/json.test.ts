import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { JsonNumber } from "../pipeline/request.ts";
import { JSON_NAMES_MAX, JSON_VALUES_MAX, parseJson, parseJsonOr, parseJsonParameter } from "./json.ts";

const read = (text: string): unknown => parseJson(text, "It");

describe("D-02, D-70: a number of JSON", () => {
  test.each(["0", "123456789012345", "-123456789012345", "1234567890.12345", "-1.5e-7", "999999999999999", "1e300", "0e-400"])(
    "%s is a number, at any place",
    (text) => {
      const number = Number(text);
      expect(read(text)).toBe(number);
      expect(read(`[${text}]`)).toEqual([number]);
      expect(read(`[0,${text}]`)).toEqual([0, number]);
      expect(read(`{"a":${text},"b":"x"}`)).toEqual({ a: number, b: "x" });
      expect(read(`[12345678,"123456789",{},[87654321],${text}, ${text}]`)).toEqual([12_345_678, "123456789", {}, [87_654_321], number, number]);
    },
  );

  test.each([
    "1234567890123456",
    "9999999999999999",
    "1000000000000000000",
    "9007199254740993",
    "-9223372036854775808",
    "12345678.123456789",
    "0.1234567890123456",
    "1e400",
    "-1.5E+400",
    "1e-400",
  ])("%s keeps its digits, at any place", (text) => {
    const kept = new JsonNumber(text);
    expect(read(text)).toEqual(kept);
    expect(read(`[${text}]`)).toEqual([kept]);
    expect(read(`{"a":{"b":${text}}}`)).toEqual({ a: { b: kept } });
    expect(JSON.stringify(read(`{"a":[${text}]}`))).toBe(`{"a":[${text}]}`);
    expect(read(`["\\"${text}",${text}]`)).toEqual([`"${text}`, kept]);
  });

  test("is also a number beside another that keeps its digits, and text stays text", () => {
    const kept = new JsonNumber("1234567890123456");
    expect(read('[123456789012345,1234567890123456,"1234567890123456","a text of many characters",null,true]')).toEqual([
      ...[123_456_789_012_345, kept, "1234567890123456", "a text of many characters", null, true],
    ]);
  });
});

describe("JSON nests 32 levels deep at most", () => {
  const lists = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const maps = (depth: number) => `${'{"a":'.repeat(depth - 1)}{${"}".repeat(depth)}`;

  test("of lists, of maps and of both", () => {
    for (const of of [lists, maps]) {
      expect(() => read(of(32))).not.toThrow();
      expect(() => read(of(33))).toThrow("It nests deeper than 32 levels");
    }
    expect(() => read(`${'[{"a":'.repeat(16)}[1]${"}]".repeat(16)}`)).toThrow("deeper");
    expect(() => read(`${'[{"a":'.repeat(15)}[[1]]${"}]".repeat(15)}`)).not.toThrow();
  });

  test("with any number of values side by side, and any text", () => {
    expect(read(`[${Array(99).fill("[]").join()}]`)).toHaveLength(99);
    expect(read(`[${Array(99).fill("{}").join()}]`)).toHaveLength(99);
    expect(read(JSON.stringify("[{".repeat(99)))).toBe("[{".repeat(99));
  });
});

test("text that is not JSON is refused in the parser's words", () => {
  for (const text of ["", "[", "{'a':1}", "01", '"a', "1 2", "undefined"]) {
    expect(() => parseJson(text, "The request body")).toThrow("The request body is not valid JSON");
    expect(() => parseJsonParameter(text, "fields")).toThrow("(#100) Param fields is not valid JSON");
    expect(() => parseJsonOr(text, (problem) => new RangeError(problem))).toThrow(RangeError);
  }
});

describe("D-337: what JSON costs is bounded before it is parsed", () => {
  const names = (count: number) => `{"list":[${Array.from({ length: count - 1 }, (_, at) => `{"name ${at}":1}`).join()}]}`;

  test("by the number of values, however they stand", () => {
    const numbers = (count: number) => `[${"1,".repeat(count - 1)}1]`;
    expect(read(numbers(JSON_VALUES_MAX))).toHaveLength(JSON_VALUES_MAX);
    expect(() => read(numbers(JSON_VALUES_MAX + 1))).toThrow(`It has more than ${JSON_VALUES_MAX} values`);
    expect(() => read(`[${"[],".repeat(JSON_VALUES_MAX / 2)}1]`)).toThrow("values");
    expect(() => read(`[${`${"[".repeat(20)}${"]".repeat(20)},`.repeat(JSON_VALUES_MAX / 20)}1]`)).toThrow("values");
    expect(read(JSON.stringify(",[".repeat(JSON_VALUES_MAX)))).toBeString();
  });

  test("by the digits of a number", () => {
    expect(JSON.stringify(read(`[${"7".repeat(10_000)}]`))).toContain("777");
    for (const text of ["7".repeat(10_001), `[1,-${"7".repeat(5_001)}.${"7".repeat(5_001)}]`])
      expect(() => read(text)).toThrow("It has a number of more than 10000 digits");
    expect(() => read(`["${"7".repeat(20_000)}"]`)).not.toThrow();
  });

  test("by the number of values, of which a number with many digits is five", () => {
    const long = (count: number) => `[${"12345678901234567,".repeat(count)}1]`;
    expect(read(long(29_990))).toHaveLength(29_991);
    expect(() => read(long(30_000))).toThrow(`It has more than ${JSON_VALUES_MAX} values`);
  });

  test("by the number of different names, and one that is repeated counts once", () => {
    expect(read(names(JSON_NAMES_MAX))).toHaveProperty("list");
    // The reader counts names by a hash, and some names share one hash.
    expect(() => read(names(2 * JSON_NAMES_MAX))).toThrow(`It has more than ${JSON_NAMES_MAX} different names`);
    const long = (count: number) => `{"list":[${Array.from({ length: count }, (_, at) => `{"${"x".repeat(20)}${at}${"y".repeat(8)}":1}`).join()}]}`;
    expect(() => read(long(2 * JSON_NAMES_MAX))).toThrow("different names");
    expect(read(`[${'{"a":1,"b":2},'.repeat(40_000)}1]`)).toHaveLength(40_001);
  });
});

test("D-337: digits are kept without looking at each value, whatever the others are", () => {
  const of = fc.oneof(fc.constantFrom("12345678901234567", "-0.12345678901234567", "1e400", "0.1", "7", '"12345678901234567"', "null", "true"));
  const { json } = fc.letrec<{ json: string }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      of,
      fc.array(tie("json"), { maxLength: 4 }).map((items) => `[ ${items.join(" ,")}]`),
      fc
        .array(fc.tuple(fc.constantFrom("a", "b", "__proto__", "0", '\\"', "\\u0061", "e1"), tie("json")), { maxLength: 4 })
        .map((members) => `{${members.map(([name, value]) => `"${name}" :${value}`).join(", ")}}`),
    ),
  }));
  const keptByReviver = (text: string): unknown =>
    JSON.parse(text, (_, value, context?: { source?: string }) =>
      typeof value === "number" && !["0.1", "7"].includes(context?.source ?? "") ? new JsonNumber(context?.source ?? "") : value,
    );
  fc.assert(
    fc.property(json, (text) => expect(read(text)).toEqual(keptByReviver(text))),
    { numRuns: 2_000 },
  );
});
