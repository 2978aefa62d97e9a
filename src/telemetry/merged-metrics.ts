/** Merges the metrics of several processes for `/metrics`. */
import type { OperationMetrics } from "./request-metrics.ts";

/** What `/metrics` reads. */
export interface MetricsSource {
  readonly inFlight: number;
  readonly turnedAway: number;
  operations(): ReadonlyMap<string, Readonly<OperationMetrics>>;
}

/** The form in which one process sends them to another. */
export interface MetricsReport {
  readonly inFlight: number;
  readonly turnedAway: number;
  readonly operations: readonly (readonly [
    string,
    Omit<OperationMetrics, "byStatus"> & { readonly byStatus: readonly (readonly [number, number])[] },
  ])[];
}

export const reportOf = (metrics: MetricsSource): MetricsReport => ({
  inFlight: metrics.inFlight,
  turnedAway: metrics.turnedAway,
  operations: [...metrics.operations()].map(([operation, { byStatus, ...rest }]) => [operation, { ...rest, byStatus: [...byStatus] }]),
});

export function merged(reports: readonly MetricsReport[]): MetricsSource {
  const operations = new Map<string, OperationMetrics>();
  for (const [operation, metrics] of reports.flatMap((report) => report.operations)) {
    const known = operations.get(operation);
    if (known === undefined) operations.set(operation, { ...metrics, durations: [...metrics.durations], byStatus: new Map(metrics.byStatus) });
    else add(known, metrics);
  }
  return {
    inFlight: sum(reports.map(({ inFlight }) => inFlight)),
    turnedAway: sum(reports.map(({ turnedAway }) => turnedAway)),
    operations: () => operations,
  };
}

function add(into: OperationMetrics, from: MetricsReport["operations"][number][1]): void {
  into.requests += from.requests;
  into.errors += from.errors;
  into.durationSumMs += from.durationSumMs;
  for (const [status, count] of from.byStatus) into.byStatus.set(status, (into.byStatus.get(status) ?? 0) + count);
  for (const [edge, count] of from.durations.entries()) into.durations[edge] = (into.durations[edge] ?? 0) + count;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
