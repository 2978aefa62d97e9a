import { expect, test } from "bun:test";
import { appEventDays } from "./app-events.jobs.ts";
import * as limits from "./app-events.limits.ts";

const HOUR = 3_600;
const DAY = 24 * HOUR;

test("LIM-10, LIM-12, D-70, D-71, D-74: windows and sizes are those of the document and the decisions", () => {
  const { LOG_TIME_MAX, ...others } = limits;
  const all: Readonly<Record<string, unknown>> = others;
  expect(all).toEqual({
    ...{ DAY_SECONDS: DAY, PARAMETERS_MAX: 25, VALUE_CHARACTERS_MAX: 100, PARAMETER_NAME_CHARACTERS_MAX: 100, LIST_ITEMS_MAX: 1_000 },
    ...{ EXTINFO_VALUES: 16, DEVICE_ID_CHARACTERS_MAX: 100, DEVICE_IDS_MAX: 100, EVENTS_PER_REQUEST_MAX: 10_000, DEDUP_WINDOW_SECONDS: 48 * HOUR },
    ...{ CLICK_WINDOW_SECONDS: 30 * DAY, VIEW_WINDOW_SECONDS: DAY, REPORT_CLICK_WINDOW_SECONDS: 28 * DAY, REPORT_VIEW_WINDOW_SECONDS: DAY },
    ATTRIBUTED_AT_ONCE: 100,
  });
  // The latest allowed time of an event is the last second whose year has four digits.
  expect(LOG_TIME_MAX).toBe(Date.UTC(9999, 11, 31, 23, 59, 59) / 1_000);
});

test("raw events are kept for 90 days by default, or forever", () => {
  expect({ days: appEventDays.default, minimum: appEventDays.minimum }).toEqual({ days: 90, minimum: 0 });
});
