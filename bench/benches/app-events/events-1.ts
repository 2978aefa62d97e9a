import { benchEvents } from "../../harness/events-bench.ts";
import type { Bench } from "../../harness/report.ts";

/** The goal is less than the floor's speed, because Plaza also looks for duplicates, and sums and indexes the events. */
export const bench: Bench = benchEvents({ events: 1, goal: 0.65 });
