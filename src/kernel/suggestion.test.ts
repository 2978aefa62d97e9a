import { expect, test } from "bun:test";
import fc from "fast-check";
import { suggestion } from "./suggestion.ts";

const known = ["port", "host", "control_port", "pages_messaging", "pages_manage_posts"];

test("the closest word is guessed, where one is close", () => {
  expect(suggestion("prot", known)).toBe("; did you mean port?");
  expect(suggestion("pages_mesaging", known)).toBe("; did you mean pages_messaging?");
  expect(suggestion("pages_manage_post", known)).toBe("; did you mean pages_manage_posts?");
  expect(suggestion("contrl_port", known)).toBe("; did you mean control_port?");
});

test("nothing is guessed for a word unlike all others, nor for a letter", () => {
  for (const word of ["", "p", "colour", "x".repeat(1_000_000)]) expect(suggestion(word, known)).toBe("");
});

test("one mistake is always forgiven: a letter of any script too much", () => {
  const letter = fc.string({ unit: "binary", minLength: 1, maxLength: 1 });
  fc.assert(
    fc.property(fc.constantFrom("control_port", "pages_manage_posts"), fc.nat({ max: 12 }), letter, (word, at, added) => {
      expect(suggestion(word.slice(0, at) + added + word.slice(at), known)).toBe(`; did you mean ${word}?`);
    }),
  );
});
