import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { nextFetchMs, readSchedule, type Schedule, scheduleWords } from "./schedule.ts";

const schedule = (words: Partial<Schedule>): Schedule => ({
  ...{
    interval: "DAILY",
    interval_count: 1,
    url: "https://a.example/f",
    hour: 0,
    minute: 0,
    day_of_week: "MONDAY",
    day_of_month: 1,
    timezone: "UTC",
  },
  ...words,
});
const next = (words: Partial<Schedule>, now: string, last?: string): string =>
  new Date(nextFetchMs(schedule(words), Date.parse(now), last === undefined ? undefined : Date.parse(last))).toISOString();

describe("D-146: the time of a fetch", () => {
  // 22 November 2026 is a Sunday.
  test.each([
    ["today", { hour: 12 }, "2026-11-22T10:00:00Z", "2026-11-22T12:00:00.000Z"],
    ["tomorrow, since the moment itself is over", { hour: 10 }, "2026-11-22T10:00:00Z", "2026-11-23T10:00:00.000Z"],
    ["tomorrow, whatever the count of the days between", { hour: 10, interval_count: 5 }, "2026-11-22T10:00:00Z", "2026-11-23T10:00:00.000Z"],
    ["this hour", { interval: "HOURLY", minute: 30 }, "2026-11-22T10:00:00Z", "2026-11-22T10:30:00.000Z"],
    ["the next hour", { interval: "HOURLY", minute: 30 }, "2026-11-22T10:31:00Z", "2026-11-22T11:30:00.000Z"],
    ["early in this hour", { interval: "HOURLY", minute: 10 }, "2026-11-22T10:00:00Z", "2026-11-22T10:10:00.000Z"],
    ["the next Monday", { interval: "WEEKLY", hour: 9 }, "2026-11-22T10:00:00Z", "2026-11-23T09:00:00.000Z"],
    ["on Sunday, today", { interval: "WEEKLY", hour: 11, day_of_week: "SUNDAY" }, "2026-11-22T10:00:00Z", "2026-11-22T11:00:00.000Z"],
    ["on Sunday in a week", { interval: "WEEKLY", day_of_week: "SUNDAY" }, "2026-11-22T10:00:00Z", "2026-11-29T00:00:00.000Z"],
    ["the last day of a short month", { interval: "MONTHLY", day_of_month: 31 }, "2027-02-01T00:00:00Z", "2027-02-28T00:00:00.000Z"],
    ["over the end of a year", { interval: "MONTHLY", day_of_month: 5 }, "2026-12-05T00:00:00Z", "2027-01-05T00:00:00.000Z"],
    ["by the clocks of a place", { hour: 9, timezone: "Europe/Berlin" }, "2026-11-22T07:00:00Z", "2026-11-22T08:00:00.000Z"],
    ["by its clocks in summer", { hour: 9, timezone: "Europe/Berlin" }, "2026-07-01T00:00:00Z", "2026-07-01T07:00:00.000Z"],
    ["at its minute", { hour: 12, minute: 34 }, "2026-11-22T10:00:00Z", "2026-11-22T12:34:00.000Z"],
    ["west of Greenwich", { hour: 9, timezone: "America/St_Johns" }, "2026-11-22T10:00:00Z", "2026-11-22T12:30:00.000Z"],
    ["before clocks are put back", { hour: 1, minute: 30, timezone: "Europe/Berlin" }, "2026-10-24T12:00:00Z", "2026-10-24T23:30:00.000Z"],
    ["at a time that clocks skip", { hour: 2, minute: 30, timezone: "Europe/Berlin" }, "2026-03-28T12:00:00Z", "2026-03-29T01:30:00.000Z"],
    ["on its day", { hour: 1, timezone: "Asia/Kolkata" }, "2026-11-22T10:00:00Z", "2026-11-22T19:30:00.000Z"],
  ] as const)("first: %s", (_title, words, now, expected) => {
    expect(next(words, now)).toBe(expected);
  });

  test.each([
    ["every second day", { interval_count: 2, hour: 5 }, "2026-11-20T05:00:00Z", "2026-11-20T05:00:01Z", "2026-11-22T05:00:00.000Z"],
    ["every third hour", { interval: "HOURLY", interval_count: 3 }, "2026-11-20T05:00:00Z", "2026-11-20T05:00:01Z", "2026-11-20T08:00:00.000Z"],
    ["every second week", { interval: "WEEKLY", interval_count: 2 }, "2026-11-02T00:00:00Z", "2026-11-02T00:10:00Z", "2026-11-16T00:00:00.000Z"],
    ["every second month", { interval: "MONTHLY", interval_count: 2 }, "2026-11-01T00:00:00Z", "2026-11-01T00:10:00Z", "2027-01-01T00:00:00.000Z"],
    ["every third month", { interval: "MONTHLY", interval_count: 3 }, "2026-11-01T00:00:00Z", "2026-11-01T00:10:00Z", "2027-02-01T00:00:00.000Z"],
    ["in step, after a jump of the clock", { interval_count: 3 }, "2026-01-01T00:00:00Z", "2026-11-22T10:00:00Z", "2026-11-24T00:00:00.000Z"],
    [
      "not once more on its day, whose hour is later by now",
      { hour: 12 },
      "2026-11-20T05:00:00Z",
      "2026-11-20T05:00:01Z",
      "2026-11-21T12:00:00.000Z",
    ],
    ["in summer time", { hour: 9, timezone: "Europe/Berlin" }, "2026-03-28T08:00:00Z", "2026-03-28T08:00:01Z", "2026-03-29T07:00:00.000Z"],
  ] as const)("after the previous one: %s", (_title, words, last, now, expected) => {
    expect(next(words, now, last)).toBe(expected);
  });

  test("it is always later than now, by at most its intervals", () => {
    const year = 366 * 86_400_000;
    fc.assert(
      fc.property(
        fc.record({
          interval: fc.constantFrom("HOURLY", "DAILY", "WEEKLY", "MONTHLY"),
          interval_count: fc.integer({ min: 1, max: 12 }),
          hour: fc.integer({ min: 0, max: 23 }),
          minute: fc.integer({ min: 0, max: 59 }),
          day_of_month: fc.integer({ min: 1, max: 31 }),
          day_of_week: fc.constantFrom("MONDAY", "THURSDAY", "SUNDAY"),
          timezone: fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Pacific/Apia", "Asia/Kathmandu"),
        }),
        fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2040, 0) }),
        fc.option(fc.integer({ min: 0, max: 40 * year }), { nil: undefined }),
        (words, now, before) => {
          const dueMs = nextFetchMs(schedule(words as Partial<Schedule>), now, before === undefined ? undefined : now - before);
          expect(dueMs).toBeGreaterThan(now);
          expect(dueMs - now).toBeLessThanOrEqual(2 * year);
        },
      ),
    );
  });
});

test("each value of a schedule accepts its bounds, and nothing beyond them", () => {
  const words = Compile(Type.Object(scheduleWords));
  const bounds = { interval_count: [1, 366], hour: [0, 23], minute: [0, 59], day_of_month: [1, 31] } as const;
  for (const [name, [min, max]] of Object.entries(bounds)) {
    const isTaken = (value: number) => words.Check({ ...schedule({}), [name]: value });
    expect({ name, taken: [min - 1, min, max, max + 1].map(isTaken) }).toEqual({ name, taken: [false, true, true, false] });
  }
  expect([0, 1, 64, 65].map((length) => words.Check(schedule({ timezone: "x".repeat(length) })))).toEqual([true, true, true, false]);
  expect(["", "x"].map((url) => words.Check(schedule({ url })))).toEqual([false, true]);
});

test("a schedule is read as it was stored, and a feed can have none", () => {
  expect(readSchedule(null)).toBeUndefined();
  expect(readSchedule(JSON.stringify(schedule({ hour: 7 })))).toEqual(schedule({ hour: 7 }));
});
