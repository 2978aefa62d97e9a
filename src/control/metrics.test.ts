import { expect, test } from "bun:test";
import { openPlaza } from "#harness/plaza";
import { merged } from "#telemetry/merged-metrics";
import { RequestMetrics } from "#telemetry/request-metrics";
import { metricsText } from "./metrics.ts";

const reportOf = (...requests: Parameters<typeof metricsOf>) => metricsOf(...requests).report();

function metricsOf(...requests: [operation: string, status: number, ms: number][]): RequestMetrics {
  const metrics = new RequestMetrics();
  for (const [operation, status, ms] of requests) metrics.record(operation, status, ms);
  return metrics;
}

test("requests are shown by operation and status, with durations in seconds summed up to each edge", async () => {
  const { world } = await openPlaza();
  const text = await metricsText(reportOf(["readLabel", 200, 0.2], ["readLabel", 200, 3], ["readLabel", 400, 20_000]), [world]);
  for (const line of [
    'plaza_calls_total{operation="readLabel",status="200"} 2',
    'plaza_calls_total{operation="readLabel",status="400"} 1',
    'plaza_call_duration_seconds_bucket{operation="readLabel",le="0.00025"} 1',
    'plaza_call_duration_seconds_bucket{operation="readLabel",le="0.005"} 2',
    'plaza_call_duration_seconds_bucket{operation="readLabel",le="10"} 2',
    'plaza_call_duration_seconds_bucket{operation="readLabel",le="+Inf"} 3',
    'plaza_call_duration_seconds_count{operation="readLabel"} 3',
    `plaza_database_up{world="${world.name}"} 1`,
  ]) {
    expect(text.split("\n")).toContain(line);
  }
});

test("Prometheus can read every line", async () => {
  const { world } = await openPlaza();
  const text = await metricsText(reportOf(['a"b\\c\n', 200, 1]), [world]);
  expect(text).toEndWith("\n");
  for (const line of text.trimEnd().split("\n"))
    expect(line).toMatch(/^(?:# (?:HELP|TYPE) [a-z][a-z0-9_]+ .+|[a-z][a-z0-9_]+(?:\{(?:[a-z]+="[^"\\\n]*",?)+\})? [0-9.e+-]+)$/);
});

test("an unreachable database is reported as down, and the page is still served", async () => {
  const { world } = await openPlaza();
  await world.database.close();
  expect(await metricsText(reportOf(), [world])).toContain(`plaza_database_up{world="${world.name}"} 0`);
});

test("the metrics of several processes are added", () => {
  const one = metricsOf(["a", 200, 1], ["b", 200, 1]);
  const other = metricsOf(["a", 200, 1], ["a", 500, 100]);
  one.inFlight = 2;
  one.turnAway("1001", "bytes");
  other.turnAway("1001", "bytes");
  other.turnAway("1001", "requests");
  other.turnAway(undefined, "requests");
  other.connections.open = 4;
  const sum = merged(JSON.parse(JSON.stringify([one.report(), other.report()])));
  const whole = metricsOf(["a", 200, 1], ["b", 200, 1], ["a", 200, 1], ["a", 500, 100]);
  expect(sum.operations).toEqual(whole.report().operations);
  expect(sum).toMatchObject({ inFlight: 2, waiting: 0, connections: { open: 4, evicted: 0 } });
  expect(sum.turnedAway).toEqual([
    { app: "1001", reason: "bytes", count: 2 },
    { app: "1001", reason: "requests", count: 1 },
    { app: undefined, reason: "requests", count: 1 },
  ]);
});
