import { benchEvents } from "../../harness/events-bench.ts";
import type { Bench } from "../../harness/report.ts";

/** With 50 events in a request, most of the time is spent on the events: Plaza looks for duplicates and adds names and sums, besides the rows. */
export const bench: Bench = benchEvents({ events: 50, goal: 0.4 });
