/** Merges the metrics of several processes for `/metrics`. */
import type { ConnectionMetrics, OperationMetrics, TurnedAway } from "./request-metrics.ts";

interface CurrentNumbers {
  readonly inFlight: number;
  readonly waiting: number;
  readonly connections: Readonly<ConnectionMetrics>;
}

/** What `/metrics` reads. */
export interface MetricsSource extends CurrentNumbers {
  turnedAwayByApp(): readonly TurnedAway[];
  operations(): ReadonlyMap<string, Readonly<OperationMetrics>>;
}

/** The form in which one process sends them to another. */
export interface MetricsReport extends CurrentNumbers {
  readonly turnedAway: readonly TurnedAway[];
  readonly operations: readonly (readonly [
    string,
    Omit<OperationMetrics, "byStatus"> & { readonly byStatus: readonly (readonly [number, number])[] },
  ])[];
}

export const reportOf = (metrics: MetricsSource): MetricsReport => ({
  inFlight: metrics.inFlight,
  waiting: metrics.waiting,
  connections: { ...metrics.connections },
  turnedAway: metrics.turnedAwayByApp(),
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
    waiting: sum(reports.map(({ waiting }) => waiting)),
    connections: {
      open: sum(reports.map(({ connections }) => connections.open)),
      evicted: sum(reports.map(({ connections }) => connections.evicted)),
    },
    turnedAwayByApp: () => mergedTurnedAway(reports),
    operations: () => operations,
  };
}

function mergedTurnedAway(reports: readonly MetricsReport[]): readonly TurnedAway[] {
  const counts = new Map<string, TurnedAway>();
  for (const { app, reason, count } of reports.flatMap(({ turnedAway }) => turnedAway)) {
    const key = `${reason} ${app}`;
    counts.set(key, { app, reason, count: count + (counts.get(key)?.count ?? 0) });
  }
  return [...counts.values()];
}

function add(into: OperationMetrics, from: MetricsReport["operations"][number][1]): void {
  into.requests += from.requests;
  into.errors += from.errors;
  into.durationSumMs += from.durationSumMs;
  for (const [status, count] of from.byStatus) into.byStatus.set(status, (into.byStatus.get(status) ?? 0) + count);
  for (const [edge, count] of from.durations.entries()) into.durations[edge] = (into.durations[edge] ?? 0) + count;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
