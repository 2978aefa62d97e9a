import { benchEvents } from "../../harness/events-bench.ts";
import type { Bench } from "../../harness/report.ts";

/** Of a request with 50 events most is the events' own cost: dedup, names and sums come on top of the rows. */
export const bench: Bench = benchEvents({ events: 50, goal: 0.4 });
