import { expect, test } from "bun:test";
import fc from "fast-check";
import { InexactNumber, parseExactJson } from "./exact-json.ts";

test("a number that keeps its digits is read in any form", () => {
  for (const text of [
    "9007199254740992",
    "1795000000.1234567",
    "0.30000000000000004",
    "1e100",
    "1.0E+22",
    "0.000000000000000000001",
    "-0",
    "10000000000000000000000",
  ])
    expect({ text, value: parseExactJson(`[${text}]`) }).toEqual({ text, value: [Number(text)] });
  fc.assert(fc.property(fc.json(), (text) => expect(parseExactJson(text)).toEqual(JSON.parse(text))));
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => expect(parseExactJson(JSON.stringify([value]))).toEqual([value + 0])),
  );
});

test("a number that would lose digits is refused with its key; inside a text it is not a number", () => {
  for (const text of ["9007199254740993", "-12345678901234567890", "0.12345678901234567890", "1e400", "1e-400"])
    expect(() => parseExactJson(`{"a":{"amount":${text}}}`)).toThrow(expect.objectContaining({ name: "InexactNumber", key: "amount", source: text }));
  expect(parseExactJson('["9007199254740993"]')).toEqual(["9007199254740993"]);
  expect(new InexactNumber("1".repeat(1_000), "a").message.length).toBeLessThan(200);
});
