import { expect, test } from "bun:test";
import fc from "fast-check";
import { RateLimit } from "./rate-limit.ts";

test("the rate is never passed, whenever and whatever is taken, and the wait is no longer than needed", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.array(fc.tuple(fc.nat(300), fc.nat(60)), { maxLength: 60 }), (perSecondMax, steps) => {
      const rate = new RateLimit(perSecondMax);
      let nowMs = 0;
      let taken = 0;
      for (const [waitMs, wanted] of steps) {
        nowMs += waitMs;
        const count = Math.min(wanted, rate.available(nowMs));
        for (let n = 0; n < count; n++) rate.take();
        taken += count;
        expect(taken).toBeLessThanOrEqual(perSecondMax + (nowMs * perSecondMax) / 1_000);
      }
      expect(rate.available(nowMs + rate.waitMs(nowMs))).toBeGreaterThanOrEqual(1);
      expect(rate.waitMs(nowMs)).toBeLessThanOrEqual(Math.ceil(1_000 / perSecondMax));
    }),
  );
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
