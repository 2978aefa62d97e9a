import { benchEvents } from "../../harness/events-bench.ts";
import type { Bench } from "../../harness/report.ts";

/** In a request with 50 events, most of the cost is the cost of the events: duplicates, names and sums, in addition to the rows. */
export const bench: Bench = benchEvents({ events: 50, goal: 0.4 });
