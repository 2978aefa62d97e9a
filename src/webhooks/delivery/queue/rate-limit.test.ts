import { expect, test } from "bun:test";
import fc from "fast-check";
import { RateLimit } from "./rate-limit.ts";

/** Sums of fractions may be a little above the number that they stand for. */
const ROUNDING = 1e-6;
/** Some times in a row, and now and then a quiet time in which many seconds' worth would be saved up. */
const anyWait = fc.oneof({ weight: 4, arbitrary: fc.nat(300) }, { weight: 1, arbitrary: fc.nat(60_000) });

test("in no span of time is the rate passed, whenever and whatever is taken, nor after a quiet time; the wait is no longer than needed", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.array(fc.tuple(anyWait, fc.nat(60)), { maxLength: 60 }), (perSecondMax, steps) => {
      const rate = new RateLimit(perSecondMax);
      let nowMs = 0;
      const taken: { atMs: number; count: number }[] = [];
      for (const [waitMs, wanted] of steps) {
        nowMs += waitMs;
        const count = Math.min(wanted, rate.available(nowMs));
        for (let n = 0; n < count; n++) rate.take();
        taken.push({ atMs: nowMs, count });
        // Of each span that ends now: what a second may bring at once, and what its own time adds.
        let inSpan = 0;
        for (const { atMs, count: then } of taken.toReversed()) {
          inSpan += then;
          expect(inSpan).toBeLessThanOrEqual(perSecondMax + ((nowMs - atMs) * perSecondMax) / 1_000 + ROUNDING);
        }
      }
      expect(rate.available(nowMs + rate.waitMs(nowMs))).toBeGreaterThanOrEqual(1);
      expect(rate.waitMs(nowMs)).toBeLessThanOrEqual(Math.ceil(1_000 / perSecondMax));
    }),
  );
});

test("a quiet time is not saved up: after an hour as after a second, a second's worth may be claimed, and no more", () => {
  const rate = new RateLimit(20);
  for (let n = 0; n < 20; n++) rate.take();
  expect([rate.available(0), rate.available(999), rate.available(1_000), rate.available(3_600_000)]).toEqual([0, 19, 20, 20]);
  for (let n = 0; n < 20; n++) rate.take();
  expect([rate.available(3_600_000), rate.waitMs(3_600_000), rate.available(3_600_050)]).toEqual([0, 50, 1]);
});

test("0 is no limit", () => {
  const rate = new RateLimit(0);
  for (let n = 0; n < 1_000; n++) rate.take();
  expect({ available: rate.available(0), waitMs: rate.waitMs(0) }).toEqual({ available: Number.POSITIVE_INFINITY, waitMs: 0 });
});

test("where more than one may be claimed there is nothing to wait for, and what was claimed in spite of the limit is waited for, too", () => {
  const rate = new RateLimit(2);
  expect(rate.waitMs(0)).toBe(0);
  rate.take();
  expect([rate.waitMs(0), rate.waitMs(250)]).toEqual([0, 0]);
  for (let n = 0; n < 3; n++) rate.take();
  // One and a half too many: two and a half until the next.
  expect([rate.available(250), rate.waitMs(250), rate.waitMs(1_499), rate.waitMs(1_500)]).toEqual([-2, 1_250, 1, 0]);
});
