/** Adds up the metrics of several processes for `/metrics`. */
import { mergedReports } from "#storage/database-health";
import type { HoldsOfWork } from "./loop-watch.ts";
import type { MetricsReport, WorldDeliveries } from "./metrics-report.ts";

export function merged(reports: readonly MetricsReport[]): MetricsReport {
  const spans = reports.flatMap((report) => report.spans ?? []);
  return {
    ...sumOf(reports.map(({ inFlight, waiting, connections, operations }) => ({ inFlight, waiting, connections, operations }))),
    turnedAway: mergedBy(
      reports.flatMap(({ turnedAway }) => turnedAway),
      ({ app, reason }) => `${reason} ${app}`,
    ),
    holds: mergedHolds(reports.flatMap(({ holds }) => holds)),
    database: mergedReports(reports.map(({ database }) => database)),
    webhooks: mergedDeliveries(reports.flatMap(({ webhooks }) => webhooks)),
    processes: reports.flatMap(({ processes }) => processes),
    spans: spans.length === 0 ? undefined : sumOf(spans),
  };
}

const mergedHolds = (all: readonly HoldsOfWork[]): HoldsOfWork[] =>
  Map.groupBy(all, ({ work }) => work)
    .values()
    .map((same) => ({ ...sumOf(same), longestMs: Math.max(...same.map(({ longestMs }) => longestMs)) }))
    .toArray();

/** Merges the metrics of deliveries by world, and within each world by callback and field. */
const mergedDeliveries = (all: readonly WorldDeliveries[]): WorldDeliveries[] =>
  [...Map.groupBy(all, ({ world }) => world)].map(([world, deliveries]) => ({
    world,
    attempts: mergedBy(
      deliveries.flatMap(({ attempts }) => attempts),
      ({ callback, object, field }) => `${callback} ${object} ${field}`,
    ),
    broken: mergedBy(
      deliveries.flatMap(({ broken }) => broken),
      ({ object, field }) => `${object} ${field}`,
    ),
    overdue: sumOf(deliveries.map(({ overdue }) => overdue)),
  }));

const mergedBy = <T>(all: readonly T[], keyOf: (one: T) => string): T[] => Map.groupBy(all, keyOf).values().map(sumOf).toArray();

/**
 * Adds up all numbers, also the numbers inside lists and objects. Values that are not numbers are equal in the reports of all processes, so the value
 * of the first report is used.
 */
const sumOf = <T>(all: readonly T[]): T => structuredClone(all).reduce((sum, one) => added(sum, one) as T);

function added(one: unknown, other: unknown): unknown {
  if (typeof one === "number" && typeof other === "number") return one + other;
  if (typeof one !== "object" || one === null) return one ?? other;
  for (const [name, value] of Object.entries(other as object))
    (one as Record<string, unknown>)[name] = added((one as Record<string, unknown>)[name], value);
  return one;
}
