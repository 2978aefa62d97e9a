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
  expect(take(0, "2")).toBeUndefined();
  expect(take(HOUR_MS / 4)).toBeUndefined();
  // A clock that was moved back fills nothing, and takes nothing away.
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
