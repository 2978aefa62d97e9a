/** Tests the values of new tokens. */
import { expect, test } from "bun:test";
import { nodeId } from "#kernel/ids";
import { tokenValue } from "./system.ts";

const [one, other] = [nodeId("7"), nodeId("8")];

test("a token's value is random; with a seed it is derived from the seed and the token's id", () => {
  const random = Array.from({ length: 100 }, () => tokenValue(undefined, one));
  expect(new Set(random).size).toBe(100);
  expect(tokenValue(1, one)).toBe(tokenValue(1, one));
  expect(new Set([tokenValue(1, one), tokenValue(1, other), tokenValue(2, one), tokenValue(0, one), ...random]).size).toBe(104);
  for (const value of [...random, tokenValue(1, one)]) expect(value).toMatch(/^PLZ[A-Za-z0-9]{43}$/);
});
