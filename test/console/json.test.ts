/** D-324: the console shows every digit of a number in JSON, and refuses a number that would lose digits. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { losesDigits, parseExact, pretty } from "#console/parts/json";

test("property: JSON is formatted as by JSON.stringify, and read as by JSON.parse", () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(undefined, 3, "\t"), (json, space) => {
      const text = JSON.stringify(JSON.parse(json), undefined, space);
      expect(pretty(text)).toBe(JSON.stringify(JSON.parse(text), undefined, 2));
      expect(parseExact(text)).toEqual(JSON.parse(text));
    }),
  );
});

test("D-324: every digit is shown", () => {
  expect(pretty('{"a":9007199254740993,"b":[-0.12345678901234567890,1e400,"9007199254740993"]}')).toBe(
    '{\n  "a": 9007199254740993,\n  "b": [\n    -0.12345678901234567890,\n    1e400,\n    "9007199254740993"\n  ]\n}',
  );
  for (const text of ["", "no JSON", "{", "[".repeat(1_000)]) expect(pretty(text)).toBe(text);
  const deep = `${"[".repeat(200)}${"]".repeat(200)}`;
  expect(pretty(deep)).toBe(deep);
});

test("D-324: a number that would lose digits is refused with a sentence; in a text it is taken", () => {
  for (const number of ["9007199254740993", "-12345678901234567890", "0.12345678901234567890", "1e400", "1E-400"]) {
    expect(losesDigits(number)).toBe(true);
    expect(() => parseExact(`{"a":[${number}]}`)).toThrow(`the number ${number} has more digits than can be kept: write it in quotes`);
    expect(parseExact(`{"a":"${number}"}`)).toEqual({ a: number });
  }
  for (const number of ["9007199254740992", "0.30000000000000004", "1e22"]) expect(losesDigits(number)).toBe(false);
  expect(() => parseExact("{")).toThrow(SyntaxError);
});
