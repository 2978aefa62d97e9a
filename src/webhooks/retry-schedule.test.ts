/** D-62: the times at which a delivery is tried again, to the millisecond. */
import { expect, test } from "bun:test";
import { nextRetryMs, RETRY_OFFSETS_MS } from "./delivery/retry-schedule.ts";

const FIRST = 1_000_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Returns the times of attempts that all fail as soon as they begin. The parameter `share` is the random number that shortens each wait. */
function attempts(share: number): number[] {
  const times: number[] = [];
  for (let startedMs: number | undefined = FIRST, tries = 1; startedMs !== undefined; tries++) {
    times.push(startedMs - FIRST);
    startedMs = nextRetryMs({ firstMs: FIRST, startedMs, tries }, startedMs, share);
  }
  return times;
}

test("after 15 seconds, 1, 5 and 15 minutes, 1, 3, 6, 12, 24 and 36 hours from the first attempt, and then no more", () => {
  const wanted = [15_000, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR, 36 * HOUR];
  expect(RETRY_OFFSETS_MS).toEqual(wanted);
  expect(attempts(0)).toEqual([0, ...wanted]);
});

test("each wait is up to a tenth shorter, and never longer than its step, even after an early attempt", () => {
  const waits = (times: readonly number[]): number[] => times.slice(1).map((at, index) => at - (times[index] as number));
  const steps = waits([0, ...RETRY_OFFSETS_MS]);
  // With the last of these random numbers, no wait is a whole number of milliseconds.
  for (const share of [0, 0.25, 1, 1 / 7]) expect(waits(attempts(share))).toEqual(steps.map((wait) => Math.ceil(wait * (1 - 0.1 * share))));
});

test("a step that has passed or is due right now is skipped; none is due in the past", () => {
  const after = (tries: number, passedMs: number, startedMs = FIRST + passedMs) => {
    const next = nextRetryMs({ firstMs: FIRST, startedMs, tries }, FIRST + passedMs, 0);
    return next === undefined ? undefined : next - FIRST;
  };
  expect(after(1, 14_999)).toBe(15_000);
  expect(after(1, 15_000)).toBe(MINUTE);
  expect(after(1, MINUTE - 1)).toBe(MINUTE);
  expect(after(1, 12 * HOUR)).toBe(24 * HOUR);
  expect(after(1, 36 * HOUR - 1)).toBe(36 * HOUR);
  expect(after(1, 36 * HOUR)).toBeUndefined();
  expect(after(10, 0)).toBe(12 * HOUR);
  expect(after(11, 0)).toBeUndefined();
  // The attempt took longer than the wait that follows it.
  expect(after(2, 59_000, FIRST)).toBe(59_001);
});
