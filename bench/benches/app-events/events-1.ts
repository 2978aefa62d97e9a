import { benchEvents } from "../../harness/events-bench.ts";
import type { Bench } from "../../harness/report.ts";

/**
 * The goal is half of the floor's speed: Plaza also looks for duplicates, and sums and indexes the events, while the floor only writes the
 * rows.
 */
export const bench: Bench = benchEvents({ events: 1, goal: 0.5 });
