import { expect, test } from "bun:test";
import fc from "fast-check";
import { mentionsOf } from "./mentions.ts";

const id = fc.string({ unit: "binary", minLength: 1, maxLength: 20 });
const ascii = (text: string): string => text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

test("an id is found in any JSON that holds it, as it is or escaped", () => {
  fc.assert(
    fc.property(id, fc.jsonValue(), (own, value) => {
      const json = JSON.stringify({ a: [value, { from: own }] });
      expect(mentionsOf([own])(json)).toBe(true);
      expect(mentionsOf(["another", own])(ascii(json))).toBe(true);
    }),
  );
});

test("a number is not found in a longer one, nor a word in a longer word", () => {
  const isNamed = mentionsOf(["9001", "ada"]);
  for (const text of ['{"id":"9001"}', '{"id":9001}', "9001", "user:9001,", "https://x/9001?y", "(ada)"]) expect(isNamed(text)).toBe(true);
  for (const text of ['{"id":"19001"}', '{"id":90011}', "a9001", "", "canada", "ada1", "Ada"]) expect(isNamed(text)).toBe(false);
});

test("a word ends before everything that is neither a letter nor a digit", () => {
  const isNamed = mentionsOf(["7"]);
  for (const unit of "09AZaz") expect({ unit, isNamed: [isNamed(`${unit}7`), isNamed(`7${unit}`)] }).toEqual({ unit, isNamed: [false, false] });
  // What stands next to them in ASCII.
  for (const unit of "/:@[`{") expect({ unit, isNamed: [isNamed(`${unit}7`), isNamed(`7${unit}`)] }).toEqual({ unit, isNamed: [true, true] });
  // Behind a place where it is part of a longer word it may stand once more.
  expect([isNamed("77 7"), isNamed("777")]).toEqual([true, false]);
});

test("an id of other signs is found whole, also where JSON escapes it within a longer text", () => {
  const isNamed = mentionsOf(["-7-"]);
  expect(["-7-", "(-7-)", "-7", "7-", "7", "a 7 b"].map(isNamed)).toEqual([true, true, false, false, false, false]);
  for (const text of [{ x: 'by é" now' }].map((value) => JSON.stringify(value)))
    expect([mentionsOf(['é"'])(text), mentionsOf(['é"'])(ascii(text)), mentionsOf(['è"'])(text), mentionsOf(['è"'])(ascii(text))]).toEqual([
      ...[true, true, false, false],
    ]);
});
