import { expect, test } from "bun:test";
import fc from "fast-check";
import { DEDUP_WINDOW_SECONDS, LOG_TIME_MAX } from "../app-events.limits.ts";
import { fingerprintOf, keyIn, keyText, periodOf, periodsNear } from "./fingerprints.ts";

const all = Array.from({ length: 200_000 }, (_, at) => at);

test("a fingerprint is a number of 53 bits, and of 200,000 texts no two have one: all bits tell them apart", () => {
  const fingerprints = all.map((at) => fingerprintOf(keyText(`name ${at % 7}`, `id ${at}`)));
  expect(fingerprints.every((one) => Number.isSafeInteger(one) && one >= 0)).toBe(true);
  expect(Math.max(...fingerprints)).toBeGreaterThan(2 ** 52);
  // Of 32 bits, some five pairs would be equal.
  expect(new Set(fingerprints).size).toBe(all.length);
  expect(new Set(all.map((at) => fingerprintOf(`text ${at}`))).size).toBe(all.length);
});

test("fingerprints are those of the first release: with others, nothing that is stored would be found", () => {
  expect(["", "device:a", "cookie:äöü", `em:${"1".repeat(64)}`].map(fingerprintOf)).toEqual([
    3338908027751811, 2602727758100457, 4468512173482735, 4233858621581716,
  ]);
  expect(keyIn(periodOf(1_795_000_000), fingerprintOf(keyText("buy", "e-1")))).toBe(11153773588286);
});

test("a key is that of one period: of two keys with a fingerprint and of one key at two times the numbers differ, up to the last time", () => {
  const [first, last] = [periodOf(0), periodOf(LOG_TIME_MAX)];
  for (const fingerprint of [0, 2 ** 32 - 1]) {
    const keys = [first - 1, first, first + 1, last, last + 1].map((period) => keyIn(period, fingerprint));
    expect(keys.every(Number.isSafeInteger)).toBe(true);
    expect(new Set(keys).size).toBe(keys.length);
  }
  expect(keyIn(first + 1, 0)).toBe(keyIn(first, 2 ** 32 - 1) + 1);
});

test("D-71: the periods near a time hold all times that are less than 48 hours away, and are one or two", () => {
  const time = fc.integer({ min: 0, max: 20 * DEDUP_WINDOW_SECONDS });
  fc.assert(
    fc.property(time, fc.integer({ min: 1 - DEDUP_WINDOW_SECONDS, max: DEDUP_WINDOW_SECONDS - 1 }), (at, apart) => {
      expect(periodsNear(at)).toContain(periodOf(at));
      expect(periodsNear(at)).toContain(periodOf(at + apart));
      expect([1, 2]).toContain(periodsNear(at).length);
    }),
  );
});
