import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { isHashed, normalizeUserData, personsOf, readUserData, userDataKeys } from "./parse-user-data.ts";

test.each([
  ["UD-4", "em", " Ada.Lovelace@Example.COM ", "ada.lovelace@example.com"],
  ["UD-5", "fn", " Mary-Ann ", "maryann"],
  ["UD-5", "fn", "ÅSA", "åsa"],
  ["UD-6", "ln", "O'Neill", "oneill"],
  ["UD-7", "ph", "+49 (30) 123-456", "4930123456"],
  ["UD-8", "external_id", "Customer 7 ", "Customer 7 "],
  ["UD-9", "ge", "Female", "f"],
  ["UD-9", "ge", "M", "m"],
  ["UD-9", "ge", "unknown", ""],
  ["UD-10", "db", "1990-12-31", "19901231"],
  ["UD-11", "ct", "New York", "newyork"],
  ["UD-12", "st", " CA", "ca"],
  ["UD-13", "zp", "10 115", "10115"],
  ["UD-14", "cn", "DE", "de"],
] as const)("%s: %s of %p is normalized to %p", (_clause, key, given, normal) => {
  expect(normalizeUserData(key, given)).toBe(normal);
});

test("UD-2: a normal form is its own normal form", () => {
  fc.assert(
    fc.property(fc.constantFrom(...userDataKeys), fc.string({ unit: "binary" }), (key, value) => {
      const normal = normalizeUserData(key, value);
      expect(normalizeUserData(key, normal)).toBe(normal);
    }),
  );
});

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

test("UD-3, D-73: hashed values of known keys are kept as sent, all other values are dropped and counted", () => {
  const em = sha256("ada@example.com").toUpperCase();
  const given = { em, ph: "4930123456", fn: ["a"], zz: sha256("x"), ge: "f", ct: sha256("berlin") };
  expect(readUserData(given)).toEqual({ kept: { em, ct: given.ct }, dropped: 4 });
  expect(readUserData(undefined)).toEqual({ kept: {}, dropped: 0 });
});

test("UD-3: a hash is exactly 64 hexadecimal digits", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary", maxLength: 70 }), fc.stringMatching(/^[0-9a-fA-F]{62,66}$/)), (value) => {
      expect(isHashed(value)).toBe(value.length === 64 && [...value].every((unit) => "0123456789abcdefABCDEF".includes(unit)));
    }),
  );
});

test("D-74: em, ph and external_id identify a person, in upper or lower case; a city does not", () => {
  const em = sha256("ada@example.com");
  expect(personsOf({ em: em.toUpperCase(), ct: sha256("berlin") })).toEqual([`em:${em}`]);
});
