import { expect, test } from "bun:test";
import fc from "fast-check";
import { suggestion } from "./suggestion.ts";

const known = ["port", "host", "control_port", "pages_messaging", "pages_manage_posts"];

test("the closest word is suggested, if one is close", () => {
  expect(suggestion("prot", known)).toBe("; did you mean port?");
  expect(suggestion("pages_mesaging", known)).toBe("; did you mean pages_messaging?");
  expect(suggestion("pages_manage_post", known)).toBe("; did you mean pages_manage_posts?");
  expect(suggestion("contrl_port", known)).toBe("; did you mean control_port?");
});

test("nothing is suggested for a word unlike all others, or for a letter", () => {
  for (const word of ["", "p", "colour", "x".repeat(1_000_000)]) expect(suggestion(word, known)).toBe("");
});

test("one mistake is always allowed: an additional letter of any script", () => {
  const letter = fc.string({ unit: "binary", minLength: 1, maxLength: 1 });
  fc.assert(
    fc.property(fc.constantFrom("control_port", "pages_manage_posts"), fc.nat({ max: 12 }), letter, (word, at, added) => {
      expect(suggestion(word.slice(0, at) + added + word.slice(at), known)).toBe(`; did you mean ${word}?`);
    }),
  );
});

test("two exchanged neighbours are one mistake, anywhere; similar cases are two", () => {
  // In a word of two letters the suggestion corrects only one typing mistake.
  for (const [word, known, isMeant] of [
    ["ba", "ab", true],
    ["ab", "xa", false],
    ["ab", "bx", false],
    ["ab", "xy", false],
    ["ax", "ab", true],
    ["abc", "ab", true],
    // In a longer word the suggestion corrects two swaps of letters, if the swaps have no letter in common.
    ["badcef", "abcdef", true],
    ["xbadcef", "abcdef", false],
    ["cabdef", "abcdef", true],
    ["bcdaef", "abcdef", true],
    ["dabcxxef", "abcdef", false],
    // In a word of up to five letters the suggestion also corrects only one typing mistake.
    ["badce", "abcde", false],
    ["bacde", "abcde", true],
  ] as const)
    expect({ word, known, meant: suggestion(word, [known]) }).toEqual({ word, known, meant: isMeant ? `; did you mean ${known}?` : "" });
});

test("the first of two equally close words is suggested, and a closer one before both", () => {
  expect(suggestion("name", ["nama", "nami"])).toBe("; did you mean nama?");
  expect(suggestion("colour", ["colxxr", "colours", "colou"])).toBe("; did you mean colours?");
  expect(suggestion("colour", ["colxxr"])).toBe("; did you mean colxxr?");
  expect(suggestion("colour", ["cxxxur", "c", "coloursxx"])).toBe("");
});
