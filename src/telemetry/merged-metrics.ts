/** Adds up the metrics of several processes for `/metrics`. */
import { mergedReports } from "#storage/database-health";
import type { HoldsOfWork } from "./loop-watch.ts";
import type { MetricsReport, OperationMetrics, TurnedAway } from "./request-metrics.ts";

export const merged = (reports: readonly MetricsReport[]): MetricsReport => ({
  inFlight: sum(reports.map(({ inFlight }) => inFlight)),
  waiting: sum(reports.map(({ waiting }) => waiting)),
  connections: {
    open: sum(reports.map(({ connections }) => connections.open)),
    evicted: sum(reports.map(({ connections }) => connections.evicted)),
  },
  turnedAway: mergedTurnedAway(reports),
  operations: mergedOperations(reports),
  loop: { lagP99Ms: Math.max(0, ...reports.map(({ loop }) => loop.lagP99Ms)), holds: mergedHolds(reports) },
  database: mergedReports(reports.map(({ database }) => database)),
});

function mergedHolds(reports: readonly MetricsReport[]): HoldsOfWork[] {
  const byWork = Map.groupBy(
    reports.flatMap(({ loop }) => loop.holds),
    ({ work }) => work,
  );
  return [...byWork].map(([work, holds]) => ({
    work,
    count: sum(holds.map(({ count }) => count)),
    longestMs: Math.max(...holds.map(({ longestMs }) => longestMs)),
  }));
}

function mergedTurnedAway(reports: readonly MetricsReport[]): readonly TurnedAway[] {
  const counts = new Map<string, TurnedAway>();
  for (const { app, reason, count } of reports.flatMap(({ turnedAway }) => turnedAway)) {
    const key = `${reason} ${app}`;
    counts.set(key, { app, reason, count: count + (counts.get(key)?.count ?? 0) });
  }
  return [...counts.values()];
}

function mergedOperations(reports: readonly MetricsReport[]): MetricsReport["operations"] {
  const operations: Record<string, OperationMetrics> = {};
  for (const [name, metrics] of reports.flatMap((report) => Object.entries(report.operations))) {
    const known = operations[name];
    if (known === undefined) operations[name] = structuredClone(metrics);
    else add(known, metrics);
  }
  return operations;
}

function add(into: OperationMetrics, from: Readonly<OperationMetrics>): void {
  into.requests += from.requests;
  into.errors += from.errors;
  into.durationSumMs += from.durationSumMs;
  for (const [status, count] of Object.entries(from.byStatus)) into.byStatus[status] = (into.byStatus[status] ?? 0) + count;
  for (const [edge, count] of from.durations.entries()) into.durations[edge] = (into.durations[edge] ?? 0) + count;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
