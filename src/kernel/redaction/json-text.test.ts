import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { endOfValue, jsonPrefixLength, startOfString } from "./json-text.ts";

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const spacing = fc.constantFrom(undefined, 1, "\t");
const json = fc.tuple(fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }), spacing).map(([value, space]) => JSON.stringify(value, null, space));

describe("how far a text is JSON", () => {
  test("valid JSON is JSON to its end, at any cut outside of a literal", () => {
    fc.assert(
      fc.property(json, fc.nat(), (text, cut) => {
        expect(jsonPrefixLength(text)).toBe(text.length);
        const part = text.slice(0, cut % (text.length + 1));
        expect(jsonPrefixLength(part)).toBeGreaterThanOrEqual(part.search(/[-+.\w]*$/));
      }),
    );
  });

  test("text that JSON.parse refuses is the beginning of JSON or malformed, and text after the mistake changes nothing", () => {
    const pieces = fc.constantFrom("{", "}", "[", "]", ":", ",", '"a"', '"', "1", "-", "true", "nul", " ", "\n", "\\", '"\\u12', '"\u0001"', "x");
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), fc.string({ unit: "binary" }), (parts, more) => {
        const text = parts.join("");
        const length = jsonPrefixLength(text);
        if (isJson(text)) expect(length).toBe(text.length);
        else if (length < text.length) {
          expect(isJson(text + more)).toBe(false);
          expect(jsonPrefixLength(text.slice(0, length))).toBe(length);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test("a value ends at its last character", () => {
    fc.assert(
      fc.property(json, fc.constantFrom("", ",1", "]", "}", " ", "\n}"), (text, after) => {
        expect(endOfValue(text + after, 0)).toBe(text.length);
      }),
    );
  });

  test.each([
    "{'a':1}",
    "{a:1}",
    '{"a" 1}',
    '{"a":1,}',
    "[1 2]",
    '["a":1]',
    '{"a","b"}',
    "{]",
    "[}",
    '"a"b',
    "01",
    "+1",
    "{}{}",
    "{},1",
    "1,2",
    '"a",1',
    '"a\nb"',
    '["\\x"]',
    "{1:2}",
    '{"a":1,2:3}',
    "{1}",
    '{"a":1,2}',
  ])("%p stops being JSON", (text) => {
    expect(jsonPrefixLength(text)).toBeLessThan(text.length);
    expect(isJson(text)).toBe(false);
  });
});

test("a string begins at the last unescaped quote, in the part of the text that is searched", () => {
  const text = String.raw`"a\"b" c`;
  expect([0, 1, 3, 4].map((at) => startOfString(text, at, 0))).toEqual([0, 0, 0, 0]);
  expect([startOfString(text, 4, 1), startOfString(text, 4, 3), startOfString(text, 7, 6), startOfString("abc", 2, 0)]).toEqual([-1, -1, -1, -1]);
});
