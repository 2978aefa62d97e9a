import { expect, test } from "bun:test";
import fc from "fast-check";
import { DEDUP_WINDOW_SECONDS, LOG_TIME_MAX } from "../app-events.limits.ts";
import {
  type FingerprintKey,
  fingerprintKeyOf,
  fingerprintOf,
  KEY_BYTES,
  keyIn,
  keyNumber,
  keyOfApp,
  keyText,
  periodOf,
  periodsNear,
} from "./fingerprints.ts";

const all = Array.from({ length: 200_000 }, (_, at) => at);

test("a fingerprint has 53 bits, and 200,000 texts have different ones: all bits count", () => {
  const fingerprints = all.map((at) => fingerprintOf(keyText(`name ${at % 7}`, `id ${at}`)));
  expect(fingerprints.every((one) => Number.isSafeInteger(one) && one >= 0)).toBe(true);
  expect(Math.max(...fingerprints)).toBeGreaterThan(2 ** 52);
  // With only 32 bits, some five pairs of texts would have equal fingerprints.
  expect(new Set(fingerprints).size).toBe(all.length);
  expect(new Set(all.map((at) => fingerprintOf(`text ${at}`))).size).toBe(all.length);
});

/** HalfSipHash-1-3 with 64 bits, written after the reference program; its input consists of the same 32-bit words as in `fingerprintOf`. */
function halfSipHash(words: readonly number[], [low, high]: FingerprintKey): bigint {
  const mask = 0xffffffffn;
  const turned = (word: bigint, bits: bigint) => ((word << bits) | (word >> (32n - bits))) & mask;
  const [k0, k1] = [BigInt(low) & mask, BigInt(high) & mask];
  let [v0, v1, v2, v3] = [k0, k1 ^ 0xeen, 0x6c796765n ^ k0, 0x74656462n ^ k1];
  const round = () => {
    v0 = (v0 + v1) & mask;
    v1 = turned(v1, 5n) ^ v0;
    v0 = turned(v0, 16n);
    v2 = (v2 + v3) & mask;
    v3 = turned(v3, 8n) ^ v2;
    v0 = (v0 + v3) & mask;
    v3 = turned(v3, 7n) ^ v0;
    v2 = (v2 + v1) & mask;
    v1 = turned(v1, 13n) ^ v2;
    v2 = turned(v2, 16n);
  };
  for (const word of words) {
    v3 ^= BigInt(word >>> 0);
    round();
    v0 ^= BigInt(word >>> 0);
  }
  v2 ^= 0xeen;
  for (let i = 0; i < 3; i++) round();
  const first = v1 ^ v3;
  v1 ^= 0xddn;
  for (let i = 0; i < 3; i++) round();
  return ((v1 ^ v3) << 32n) | first;
}

test("a fingerprint is 53 bits of HalfSipHash-1-3, of any text and with any key", () => {
  const word = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.tuple(word, word), (text, key) => {
      const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
      const pairs = units.flatMap((unit, at) => (at % 2 === 0 ? [unit | ((units[at + 1] ?? 0) << 16)] : []));
      expect(BigInt(fingerprintOf(text, key))).toBe(halfSipHash([...pairs, text.length], key) & (2n ** 53n - 1n));
    }),
  );
});

test("event keys with equal numbers under one secret have different ones under another", () => {
  const ids = Array.from({ length: 100_000 }, (_, at) => `e-${at}`);
  const pairs = [...Map.groupBy(ids, (id) => keyNumber("buy", id, [1, 2])).values()].filter(({ length }) => length > 1);
  expect(pairs.length).toBeGreaterThan(0);
  for (const pair of pairs) expect(new Set(pair.map((id) => keyNumber("buy", id, [3, 4]))).size).toBe(pair.length);
});

test("equal event keys of two apps have different numbers, and different places", () => {
  const numbersOf = (app: string) => ["a", "order-1007-1"].map((id) => keyNumber("buy", id, keyOfApp([1, 2], app)));
  const places = ["1001", "1002"].map((app) => numbersOf(app).map((number) => Math.floor(number / 2 ** 20)));
  expect(numbersOf("1001")).toEqual(numbersOf("1001"));
  expect(new Set(places.flat()).size).toBe(4);
});

test("event ids that differ only in their last three characters are neighbours in the index, other ids are not", () => {
  const numbers = Array.from({ length: 50 }, (_, at) => keyNumber(`name ${at}`, `order-1007-${at}`.padEnd(14, "x"), [1, 2]));
  expect(new Set(numbers).size).toBe(50);
  expect(new Set(numbers.map((number) => Math.floor(number / 2 ** 20))).size).toBe(1);
  const others = Array.from({ length: 50 }, (_, at) => Math.floor(keyNumber("buy", `order-${at}-1007`, [1, 2]) / 2 ** 20));
  expect(new Set(others).size).toBeGreaterThan(45);
  for (const id of ["", "a", "ab", "\u{1f600}"]) expect(keyNumber("buy", id, [1, 2])).toBeLessThan(2 ** 34);
});

test("a key is derived from a random text", () => {
  expect(fingerprintKeyOf(Buffer.from([1, 0, 0, 0, 255, 255, 255, 255]).toString("base64url"))).toEqual([1, -1]);
  expect(KEY_BYTES).toBe(8);
});

test("a key belongs to one period: one key at two times has different numbers", () => {
  const [first, last] = [periodOf(0), periodOf(LOG_TIME_MAX)];
  for (const number of [0, 2 ** 34 - 1]) {
    const keys = [first - 1, first, first + 1, last, last + 1].map((period) => keyIn(period, number));
    expect(keys.every(Number.isSafeInteger)).toBe(true);
    expect(new Set(keys).size).toBe(keys.length);
  }
  expect(keyIn(first + 1, 0)).toBe(keyIn(first, 2 ** 34 - 1) + 1);
});

test("D-71: one or two periods cover all times that are less than 48 hours away", () => {
  const time = fc.integer({ min: 0, max: 20 * DEDUP_WINDOW_SECONDS });
  fc.assert(
    fc.property(time, fc.integer({ min: 1 - DEDUP_WINDOW_SECONDS, max: DEDUP_WINDOW_SECONDS - 1 }), (at, apart) => {
      expect(periodsNear(at)).toContain(periodOf(at));
      expect(periodsNear(at)).toContain(periodOf(at + apart));
      expect([1, 2]).toContain(periodsNear(at).length);
    }),
  );
});
