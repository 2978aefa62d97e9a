/** D-137: tests the health of a callback after attempts at its deliveries. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Health } from "./callbacks.store.ts";
import { type AttemptResult, healthAfter, isGone, isHeld } from "./health.ts";

const HOUR_MS = 3_600_000;
const working: Health = { failing_since_ms: null, last_failure_ms: null, alerted_ms: null, paused_ms: null, probe_due_ms: null };

const after = (health: Health, ...attempts: (readonly [AttemptResult["result"], number])[]): Health =>
  attempts.reduce((known, [result, hours]) => healthAfter(known, { result, atMs: hours * HOUR_MS }), health);

describe("the health of a callback", () => {
  test("a success keeps a working callback as it is, and ends a series of failures", () => {
    expect(after(working, ["delivered", 1])).toBe(working);
    expect(after(working, ["failed", 1])).toEqual({ ...working, failing_since_ms: HOUR_MS, last_failure_ms: HOUR_MS });
    expect(after(working, ["failed", 1], ["failed", 2], ["delivered", 3])).toEqual(working);
  });

  test("a failure within 12 hours, or an hour late, continues a series; a later one begins another", () => {
    const failing = { ...after(working, ["failed", 1]), alerted_ms: 2 * HOUR_MS };
    expect(after(failing, ["failed", 14])).toMatchObject({ failing_since_ms: HOUR_MS, alerted_ms: 2 * HOUR_MS });
    expect(after(failing, ["failed", 14.001])).toMatchObject({ failing_since_ms: 14.001 * HOUR_MS, alerted_ms: null });
  });

  test("if the clock is moved back before a series, it begins again", () => {
    expect(after(working, ["failed", 100], ["failed", 1])).toMatchObject({ failing_since_ms: HOUR_MS, last_failure_ms: HOUR_MS });
  });

  test("a failure pauses it after exactly five days, and sets the time of the next attempt; an alert stays", () => {
    const since = Array.from({ length: 10 }, (_, at): [AttemptResult["result"], number] => ["failed", at * 13]);
    const failing = { ...after(working, ...since), alerted_ms: HOUR_MS };
    expect(after(failing, ["failed", 119.999])).toEqual({ ...failing, last_failure_ms: 119.999 * HOUR_MS });
    expect(after(failing, ["failed", 120])).toEqual({
      ...failing,
      last_failure_ms: 120 * HOUR_MS,
      paused_ms: 120 * HOUR_MS,
      probe_due_ms: 121 * HOUR_MS,
    });
    expect(after({ ...failing, alerted_ms: null }, ["failed", 120])).toMatchObject({ alerted_ms: 120 * HOUR_MS });
  });

  test("attempts that end in another order: the latest failure counts, and one at the beginning belongs to the same series", () => {
    const failing = after(working, ["failed", 10], ["failed", 12]);
    expect(after(failing, ["failed", 11])).toEqual({ ...failing, last_failure_ms: 12 * HOUR_MS });
    expect(after(failing, ["failed", 10])).toEqual({ ...failing, last_failure_ms: 12 * HOUR_MS });
    expect(after(failing, ["gone", 13])).toEqual({
      ...{ failing_since_ms: 10 * HOUR_MS, last_failure_ms: 13 * HOUR_MS, alerted_ms: 13 * HOUR_MS, paused_ms: 13 * HOUR_MS, probe_due_ms: null },
    });
  });

  test("a callback that a person pauses is held, one that responded 410 is gone, and no other is either", () => {
    const held = { ...working, paused_ms: 1 };
    const gone = after(working, ["gone", 2]);
    const paused = { ...gone, probe_due_ms: 5 };
    expect([working, held, gone, paused].map((health) => [isHeld(health), isGone(health)])).toEqual([
      [false, false],
      [true, false],
      [false, true],
      [false, false],
    ]);
    for (const result of ["delivered", "failed", "gone"] as const) expect(after(held, [result, 3])).toBe(held);
  });

  test("410 pauses at once, and no later attempt resumes it", () => {
    const gone = after(working, ["gone", 2]);
    expect(gone).toMatchObject({ paused_ms: 2 * HOUR_MS, alerted_ms: 2 * HOUR_MS, probe_due_ms: null });
    expect(isGone(gone)).toBe(true);
    for (const result of ["delivered", "failed", "gone"] as const) expect(after(gone, [result, 3])).toBe(gone);
  });

  test("an attempt at a paused callback: a failure changes nothing, a success resumes it, 410 ends the attempts", () => {
    const paused = { ...working, failing_since_ms: 0, last_failure_ms: 1, alerted_ms: 2, paused_ms: 3, probe_due_ms: 4 };
    expect(after(paused, ["failed", 5])).toBe(paused);
    expect(after(paused, ["delivered", 5])).toEqual(working);
    expect(after(paused, ["gone", 5])).toEqual({ ...paused, last_failure_ms: 5 * HOUR_MS, probe_due_ms: null });
  });

  test("it is paused exactly when every attempt of five days failed, without a gap of more than 13 hours", () => {
    const attempt = fc.record({ gapMinutes: fc.integer({ min: 1, max: 800 }), isTaken: fc.nat(60).map((one) => one === 0) });
    fc.assert(
      fc.property(fc.array(attempt, { minLength: 1, maxLength: 60 }), (attempts) => {
        let health = working;
        let minutes = 0;
        // The time at which the first attempt of the current series of failures began.
        let since: number | undefined;
        for (const { gapMinutes, isTaken } of attempts) {
          minutes += gapMinutes;
          if (isTaken) since = undefined;
          else if (since === undefined || gapMinutes > 13 * 60) since = minutes;
          health = after(health, [isTaken ? "delivered" : "failed", minutes / 60]);
          const isOver = since !== undefined && minutes - since >= 5 * 24 * 60;
          expect(health.paused_ms !== null).toBe(isOver);
          if (isOver) return;
        }
      }),
      { numRuns: 500 },
    );
  });
});
