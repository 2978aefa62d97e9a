/** The metrics of a process, as JSON. Workers send their metrics to the first process, and `/metrics` shows the metrics of all processes. */
import type { OpenWorld } from "#graph/worlds/open-world";
import { type DatabaseReport, NO_REPORT } from "#storage/database-health";
import type { AttemptMetrics, BrokenMetrics } from "#webhooks/history/metrics";
import type { LoopReport } from "./loop-watch.ts";
import type { RequestMetrics, RequestsReport } from "./request-metrics.ts";

/** The webhooks that a process has sent for a world since its start. */
export interface WorldDeliveries {
  readonly world: string;
  readonly attempts: readonly Readonly<AttemptMetrics>[];
  readonly broken: readonly Readonly<BrokenMetrics>[];
  readonly overdue: number;
}

export interface ProcessFacts {
  /** The name of the process: `main`, or `worker` and its number. */
  readonly process: string;
  readonly residentBytes: number;
  readonly heapBytes: number;
  readonly cpuSeconds: number;
  readonly uptimeSeconds: number;
  /** The Unix time at which the process started, in seconds. */
  readonly startedSeconds: number;
  /** The number of open files; undefined if the system does not report it in Linux's way. */
  readonly openFiles: number | undefined;
  readonly openFilesMax: number | undefined;
}

export interface ProcessReport extends ProcessFacts {
  readonly lagP99Ms: number;
}

/** The counts of a process's trace spans since its start. */
export interface SpanCounts {
  readonly exported: number;
  /** The number of spans that the collector did not accept. */
  readonly failed: number;
  /** The number of spans that were dropped because too many spans were waiting for the collector. */
  readonly dropped: number;
}

export interface MetricsReport extends RequestsReport, Pick<LoopReport, "holds"> {
  readonly database: DatabaseReport;
  readonly webhooks: readonly WorldDeliveries[];
  readonly processes: readonly ProcessReport[];
  /** The counts of spans; undefined if traces are off. */
  readonly spans: SpanCounts | undefined;
}

export type Sender = Pick<OpenWorld, "name"> & { readonly webhooks: Pick<OpenWorld["webhooks"], "metrics"> };

export const metricsReport = (
  facts: ProcessFacts,
  requests: RequestMetrics,
  loop: LoopReport,
  worlds: Iterable<Sender>,
  database: DatabaseReport = NO_REPORT,
  spans?: SpanCounts,
): MetricsReport => ({
  ...requests.report(),
  holds: loop.holds,
  database,
  webhooks: [...worlds].map(({ name: world, webhooks: { metrics } }) => ({
    ...{ world, attempts: [...metrics.entries()], broken: [...metrics.brokenPayloads()], overdue: metrics.overdue },
  })),
  processes: [{ ...facts, lagP99Ms: loop.lagP99Ms }],
  spans: spans && { ...spans },
});
