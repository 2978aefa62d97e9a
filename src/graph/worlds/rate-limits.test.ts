import { expect, test } from "bun:test";
import { RateLimits } from "./rate-limits.ts";

const HOUR_MS = 3_600_000;

test("D-22: an app's requests run out, come back with time, and the error says when", () => {
  const limits = new RateLimits({ app_calls_per_hour: 4, page_calls_per_hour: 0 });
  const take = (nowMs: number, app = "1") => limits.take(app, "9", nowMs);
  for (let request = 0; request < 4; request++) expect(take(0)).toBeUndefined();
  expect(limits.appUsage("1")).toBe(100);
  expect(take(0)).toMatchObject({ details: { headers: { "retry-after": "900" } } });
  expect(take(450_000)?.details.headers).toEqual({ "retry-after": "450" });
  // A fraction of a second counts as a whole second.
  expect(take(450_001)?.details.headers).toEqual({ "retry-after": "450" });
  expect(take(HOUR_MS / 4 - 1)?.details.headers).toEqual({ "retry-after": "1" });
  expect(take(0, "2")).toBeUndefined();
  expect(take(HOUR_MS / 4)).toBeUndefined();
  expect(take(HOUR_MS / 4)?.details.headers).toEqual({ "retry-after": "900" });
  // A clock that is moved back neither fills nor empties the token bucket.
  expect(take(0)?.details.headers).toEqual({ "retry-after": "900" });
  expect(limits.pageUsage("9")).toBe(0);
});

test("D-22: a page's requests run out for all apps", () => {
  const limits = new RateLimits({ app_calls_per_hour: 0, page_calls_per_hour: 1 });
  expect(limits.take("1", "9", 0)).toBeUndefined();
  expect(limits.take("2", "9", 0)).toMatchObject({ details: { headers: { "retry-after": "3600" } } });
  expect(limits.take("2", "8", 0)).toBeUndefined();
  expect(limits.pageUsage("9")).toBe(100);
  expect({ used: limits.pageWaitMinutes("9"), unknown: limits.pageWaitMinutes("7") }).toEqual({ used: 60, unknown: 0 });
});

test("D-22: usage is a percentage of the hour, rounded up, for each app and page", () => {
  const limits = new RateLimits({ app_calls_per_hour: 3, page_calls_per_hour: 8 });
  limits.take("1", "9", 0);
  const usage = () => [limits.appUsage("1"), limits.appUsage("2"), limits.pageUsage("9"), limits.pageUsage("8")];
  expect(usage()).toEqual([34, 0, 13, 0]);
  limits.take("1", "8", 0);
  expect(usage()).toEqual([67, 0, 13, 13]);
  limits.clear();
  expect(usage()).toEqual([0, 0, 0, 0]);
});

test("D-22: a page without remaining requests waits for the next one, in minutes, rounded up", () => {
  const limits = new RateLimits({ app_calls_per_hour: 0, page_calls_per_hour: 4 });
  for (let request = 0; request < 3; request++) limits.take("1", "9", 0);
  expect(limits.pageWaitMinutes("9")).toBe(0);
  limits.take("1", "9", 0);
  expect(limits.pageWaitMinutes("9")).toBe(15);
  limits.take("1", "9", 450_000);
  expect(limits.pageWaitMinutes("9")).toBe(8);
});

test("D-22: one request an hour is a valid limit, and a request that the app may not make does not count for the page", () => {
  const limits = new RateLimits({ app_calls_per_hour: 1, page_calls_per_hour: 2 });
  expect(limits.take("1", "9", 0)).toBeUndefined();
  expect(limits.take("1", "9", 0)).toMatchObject({ entry: { code: 4 } });
  expect(limits.pageUsage("9")).toBe(50);
  expect(limits.take("2", "9", 0)).toBeUndefined();
  expect(limits.take("3", "9", 0)).toMatchObject({ entry: { code: 613 } });
});

test("of ten thousand apps and pages, those that sent nothing for longest start again", () => {
  const limits = new RateLimits({ app_calls_per_hour: 1, page_calls_per_hour: 0 });
  limits.take("first", "9", 0);
  for (let app = 0; app < 4_000; app++) limits.take(String(app), "9", 0);
  expect(limits.appUsage("first")).toBe(100);
  for (let app = 0; app < 10_000; app++) limits.take(String(app), "9", 0);
  expect(limits.appUsage("first")).toBe(0);
});
