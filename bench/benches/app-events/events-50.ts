import { benchEvents } from "../../harness/events-bench.ts";
import type { Bench } from "../../harness/report.ts";

/**
 * With 50 events in a request, most of the time is spent on the events: Plaza writes their rows, looks for duplicates, and updates names and
 * sums.
 */
export const bench: Bench = benchEvents({ events: 50, goal: 0.55 });
