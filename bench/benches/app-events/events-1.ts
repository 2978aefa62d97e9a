import { benchEvents } from "../../harness/events-bench.ts";
import type { Bench } from "../../harness/report.ts";

/** Events are counted once, summed and searchable on top of the rows that the floor writes. */
export const bench: Bench = benchEvents({ events: 1, goal: 0.5 });
