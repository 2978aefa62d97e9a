/** Tests the counters of requests, with durations at the edges of the intervals and with as many apps as are counted separately. */
import { expect, test } from "bun:test";
import { DURATION_EDGES_MS, RequestMetrics } from "./request-metrics.ts";

test("a new server has nothing to count", () => {
  const { inFlight, waiting, connections, turnedAway } = new RequestMetrics();
  expect({ inFlight, waiting, connections, turnedAway }).toEqual({ inFlight: 0, waiting: 0, connections: { open: 0, evicted: 0 }, turnedAway: 0 });
});

test("requests count by operation and status; from 400 on they are errors; durations add up", () => {
  const metrics = new RequestMetrics();
  for (const status of [200, 200, 399, 400, 500]) metrics.record("read", status, 2);
  metrics.record("write", 200, 7);
  expect(metrics.operations().get("read")).toMatchObject({ requests: 5, errors: 2, durationSumMs: 10 });
  expect(metrics.operations().get("read")?.byStatus).toEqual({ 200: 2, 399: 1, 400: 1, 500: 1 });
  expect(metrics.operations().get("write")).toMatchObject({ requests: 1, errors: 0, durationSumMs: 7 });
});

test("a duration at an edge counts below it, one above it in the next, and one above all edges last", () => {
  expect(DURATION_EDGES_MS).toEqual([0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000]);
  const placesOf = (ms: number): number[] => {
    const metrics = new RequestMetrics();
    metrics.record("read", 200, ms);
    return [...(metrics.operations().get("read")?.durations ?? [])];
  };
  for (const [at, edge] of DURATION_EDGES_MS.entries())
    for (const [ms, place] of [
      [edge, at],
      [edge + 0.01, at + 1],
    ] as const)
      expect(placesOf(ms)).toEqual(Array.from({ length: 16 }, (_, each) => (each === place ? 1 : 0)));
});

test("refused requests count by app and reason, and together", () => {
  const metrics = new RequestMetrics();
  for (const app of ["1", "2", undefined, "1"]) metrics.turnAway(app, "requests");
  metrics.turnAway("1", "bytes");
  expect(metrics.turnedAwayByApp()).toEqual([
    { app: "1", reason: "requests", count: 2 },
    { app: "2", reason: "requests", count: 1 },
    { app: undefined, reason: "requests", count: 1 },
    { app: "1", reason: "bytes", count: 1 },
  ]);
  expect(metrics.turnedAway).toBe(5);
});

test("a thousand apps count one by one; further ones count as others, and requests without a token as before", () => {
  const metrics = new RequestMetrics();
  for (let app = 1; app <= 1_002; app++) metrics.turnAway(String(app), "requests");
  metrics.turnAway("1000", "requests");
  metrics.turnAway("1002", "requests");
  metrics.turnAway(undefined, "stopping");
  const counts = new Map(metrics.turnedAwayByApp().map(({ app, reason, count }) => [`${app} ${reason}`, count]));
  expect(counts.size).toBe(1_002);
  expect(["1000 requests", "1001 requests", "others requests", "undefined stopping"].map((name) => counts.get(name))).toEqual([2, undefined, 3, 1]);
  expect(metrics.turnedAway).toBe(1_005);
});
