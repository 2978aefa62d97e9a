/** Adds up the metrics of several processes for `/metrics`. */
import { mergedReports } from "#storage/database-health";
import type { HoldsOfWork } from "./loop-watch.ts";
import type { MetricsReport, SpanCounts, WorldDeliveries } from "./metrics-report.ts";
import type { OperationMetrics, TurnedAway } from "./request-metrics.ts";

export const merged = (reports: readonly MetricsReport[]): MetricsReport => ({
  inFlight: sum(reports.map(({ inFlight }) => inFlight)),
  waiting: sum(reports.map(({ waiting }) => waiting)),
  connections: {
    open: sum(reports.map(({ connections }) => connections.open)),
    evicted: sum(reports.map(({ connections }) => connections.evicted)),
  },
  turnedAway: mergedTurnedAway(reports),
  operations: mergedOperations(reports),
  holds: mergedHolds(reports),
  database: mergedReports(reports.map(({ database }) => database)),
  webhooks: mergedDeliveries(reports),
  processes: reports.flatMap(({ processes }) => processes),
  spans: mergedSpans(reports.flatMap(({ spans }) => spans ?? [])),
});

function mergedHolds(reports: readonly MetricsReport[]): HoldsOfWork[] {
  const byWork = Map.groupBy(
    reports.flatMap(({ holds }) => holds),
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
  addTo(into.durations, from.durations);
}

const addTo = (into: number[], from: readonly number[]): void => {
  for (const [edge, count] of from.entries()) into[edge] = (into[edge] ?? 0) + count;
};

/** Merges the metrics of deliveries by world, and within each world by callback and field. */
function mergedDeliveries(reports: readonly MetricsReport[]): WorldDeliveries[] {
  const byWorld = Map.groupBy(
    reports.flatMap(({ webhooks }) => webhooks),
    ({ world }) => world,
  );
  return [...byWorld].map(([world, deliveries]) => ({
    world,
    attempts: mergedBy(
      deliveries.flatMap(({ attempts }) => attempts),
      ({ callback, object, field }) => `${callback} ${object} ${field}`,
    ),
    broken: mergedBy(
      deliveries.flatMap(({ broken }) => broken),
      ({ object, field }) => `${object} ${field}`,
    ),
    overdue: sum(deliveries.map(({ overdue }) => overdue)),
  }));
}

/** Merges the entries with the same key: numbers and lists of numbers are added up, and texts are the same in all. */
function mergedBy<T extends object>(all: readonly T[], keyOf: (one: T) => string): T[] {
  const merged = new Map<string, Record<string, unknown>>();
  for (const one of all) {
    const known = merged.get(keyOf(one));
    if (known === undefined) {
      merged.set(keyOf(one), structuredClone(one) as Record<string, unknown>);
      continue;
    }
    for (const [name, value] of Object.entries(one)) {
      if (Array.isArray(value)) addTo(known[name] as number[], value);
      else if (typeof value === "number") known[name] = (known[name] as number) + value;
    }
  }
  return [...merged.values()] as T[];
}

const mergedSpans = (counts: readonly SpanCounts[]): SpanCounts | undefined =>
  counts.length === 0
    ? undefined
    : {
        exported: sum(counts.map(({ exported }) => exported)),
        failed: sum(counts.map(({ failed }) => failed)),
        dropped: sum(counts.map(({ dropped }) => dropped)),
      };

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
