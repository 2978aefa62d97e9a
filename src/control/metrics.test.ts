import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { openPlaza } from "#harness/plaza";
import { saveJob } from "#jobs/jobs.store";
import { sql } from "#storage/sql";
import { processFacts } from "#system";
import { merged } from "#telemetry/merged-metrics";
import { metricsReport } from "#telemetry/metrics-report";
import { RequestMetrics } from "#telemetry/request-metrics";
import { insertDelivery, insertEvent } from "#webhooks/delivery/deliveries.store";
import { metricsText } from "./metrics.ts";

const full = (metrics: RequestMetrics) => metricsReport(processFacts("main"), metrics, { lagP99Ms: 0, holds: [] }, []);
const reportOf = (...requests: Parameters<typeof metricsOf>) => full(metricsOf(...requests));

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

onEachDatabase("D-351: work that waits in the database", (database) => {
  test("is counted by state, with the age of the oldest by the world's clock; what leads nowhere is left out", async () => {
    const { world } = await openPlaza({ database });
    const now = world.clock.nowMs();
    await world.database.write(async (tx) => {
      for (const [n, queue] of ["0", "7", "7", "8"].entries()) {
        const event = {
          id: `${100 + n}`,
          object: "page",
          field: "feed",
          entity: "2001",
          phone: null,
          time_ms: now - 1_000 * (90 - n),
          payload: "{}",
          traceparent: null,
          tracestate: null,
        };
        await insertEvent(tx, event, 1);
        await insertDelivery(tx, `${200 + n}`, event, "1001", queue);
      }
      await tx.run(sql`UPDATE webhook_deliveries SET first_callback = NULL, retry_due_ms = ${now + 5_000} WHERE id = 203`);
      for (const [key, due_ms] of [
        ["a", now - 7_000],
        ["b", now - 3_000],
        ["c", now + 9_000],
      ] as const)
        await saveJob(tx, { kind: "of nobody", key, share: "", due_ms, payload: "{}" });
      await tx.run(sql`UPDATE jobs SET fence = 5 WHERE kind = 'of nobody' AND key = 'b'`);
    });
    const text = await metricsText(reportOf(), [world]);
    const of = (name: string) =>
      [...text.matchAll(new RegExp(`^${name}\\{world="[^"]*"(.*?)\\} (.*)$`, "gm"))].map(([, labels, value]) => `${labels} ${value}`);
    expect(of("plaza_webhook_deliveries")).toEqual([',state="retrying" 1', ',state="sending" 0', ',state="waiting" 2']);
    expect(of("plaza_webhook_oldest_delivery_seconds")).toEqual([',state="retrying" 87', ',state="sending" 0', ',state="waiting" 89']);
    expect(of("plaza_webhook_oldest_event_seconds")).toEqual([" 89"]);
    expect(of("plaza_jobs")).toEqual([',state="due" 1', ',state="running" 1']);
    expect(of("plaza_jobs_oldest_due_seconds")).toEqual([" 7"]);
  });
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
  const sum = merged(JSON.parse(JSON.stringify([full(one), full(other)])));
  const whole = metricsOf(["a", 200, 1], ["b", 200, 1], ["a", 200, 1], ["a", 500, 100]);
  expect(sum.operations).toEqual(whole.report().operations);
  expect(sum).toMatchObject({ inFlight: 2, waiting: 0, connections: { open: 4, evicted: 0 } });
  expect(sum.turnedAway).toEqual([
    { app: "1001", reason: "bytes", count: 2 },
    { app: "1001", reason: "requests", count: 1 },
    { app: undefined, reason: "requests", count: 1 },
  ]);
});
