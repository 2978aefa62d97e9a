import { defineSetting } from "#graph/contract/setting";

/** A world can have a number of its own (`app-events.jobs.ts`). */
export const appEventDays = defineSetting({
  name: "app_event_days",
  value: "DAYS",
  minimum: 0,
  // A quarter: longer than the windows of attribution look back (LIM-10, LIM-12).
  default: 90,
  summary: "days that raw app events are kept, at least the 48 hours of deduplication; 0: for good. Counts and sums stay",
});
