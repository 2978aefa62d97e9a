import { expect, test } from "bun:test";
import { Doorkeeper } from "#storage/facts";

test("a key is known when it comes again soon, and a walk through many is forgotten", () => {
  const doorkeeper = new Doorkeeper();
  for (const key of ["a", "b"]) expect({ key, isKnown: doorkeeper.knows(key) }).toEqual({ key, isKnown: false });
  for (const key of ["a", "b"]) expect({ key, isKnown: doorkeeper.knows(key) }).toEqual({ key, isKnown: true });
  expect(doorkeeper.knows("c")).toBe(false);
  const ids = Array.from({ length: 1_000_000 }, (_, index) => String(123_456_789_100_000_000n + BigInt(index) * 64n));
  const known = ids.filter((id) => doorkeeper.knows(id)).length;
  expect(known).toBeLessThan(1_000);
  // What is used all the time is known soon, whatever else goes by.
  for (let round = 0; round < 5; round++) for (const id of ids.slice(0, 1_000)) doorkeeper.knows(id);
  expect(ids.slice(0, 1_000).filter((id) => doorkeeper.knows(id)).length).toBeGreaterThan(900);
});
