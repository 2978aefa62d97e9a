/** Tests the lines of `/metrics`, on which alerts and dashboards of operators rely. */
import { describe, expect, test } from "bun:test";
import type { OpenWorld } from "#graph/worlds/open-world";
import { DatabaseHealth } from "#storage/database-health";
import { processFacts } from "#system";
import type { HoldsOfWork } from "#telemetry/loop-watch";
import { merged } from "#telemetry/merged-metrics";
import { metricsReport } from "#telemetry/metrics-report";
import { RequestMetrics } from "#telemetry/request-metrics";
import { DeliveryMetrics } from "#webhooks/history/metrics";
import type { AttemptSeen } from "#webhooks/observer";
import { metricsText } from "./metrics.ts";

const QUIET = { lagP99Ms: 0, holds: [] };

interface Database {
  ping(): Promise<void>;
  readonly callbacks?: Readonly<Record<string, number>>;
}

const reached: Database = { ping: async () => {}, callbacks: { failing: 3, alerted: 2, paused: 1 } };

/** A stand-in for a world, with the database and the counts of webhooks that `/metrics` reads. */
function worldOf(name: string, { ping, callbacks }: Database = reached, metrics = new DeliveryMetrics(), failingJobs = 0): OpenWorld {
  const get = async () => {
    if (callbacks === undefined) throw new Error("the database is away");
    return callbacks;
  };
  const all = async () => (await get()) && Array.from({ length: failingJobs }, () => ({}));
  return { name, webhooks: { metrics }, database: { ping, reader: { get, all } } } as unknown as OpenWorld;
}

/** The samples of the metrics whose names begin with `prefix`, in their order. */
async function samples(prefix: string, requests = new RequestMetrics(), ...worlds: OpenWorld[]): Promise<string[]> {
  const text = await metricsText(metricsReport(processFacts("main"), requests, QUIET, worlds), worlds);
  return text.split("\n").filter((line) => line.startsWith(prefix));
}

const requestsOf = (...requests: [operation: string, status: number, ms: number][]): RequestMetrics => {
  const metrics = new RequestMetrics();
  for (const request of requests) metrics.record(...request);
  return metrics;
};

describe("requests", () => {
  test("are counted by operation and status, in the order of their first request", async () => {
    const metrics = requestsOf(["b", 200, 1], ["a", 400, 1], ["b", 503, 1], ["b", 200, 1]);
    expect(await samples("plaza_calls_total{", metrics)).toEqual([
      'plaza_calls_total{operation="b",status="200"} 2',
      'plaza_calls_total{operation="b",status="503"} 1',
      'plaza_calls_total{operation="a",status="400"} 1',
    ]);
  });

  test("have their durations in seconds: each bucket counts all below its edge, and the last one counts all", async () => {
    const bucket = (le: number | string, count: number) => `plaza_call_duration_seconds_bucket{operation="a",le="${le}"} ${count}`;
    expect(await samples("plaza_call_duration_seconds", requestsOf(["a", 200, 0.25], ["a", 200, 2], ["a", 500, 100], ["a", 200, 60_000]))).toEqual([
      ...[0.000_25, 0.000_5, 0.001].map((le) => bucket(le, 1)),
      ...[0.002_5, 0.005, 0.01, 0.025, 0.05].map((le) => bucket(le, 2)),
      ...[0.1, 0.25, 0.5, 1, 2.5, 5, 10].map((le) => bucket(le, 3)),
      bucket("+Inf", 4),
      'plaza_call_duration_seconds_sum{operation="a"} 60.10225',
      'plaza_call_duration_seconds_count{operation="a"} 4',
    ]);
  });

  test("are shown by state: running, waiting, refused; connections too", async () => {
    const metrics = new RequestMetrics();
    Object.assign(metrics, { inFlight: 3, waiting: 2 });
    Object.assign(metrics.connections, { open: 5, evicted: 4 });
    for (const app of ["7", undefined, "7"]) metrics.turnAway(app, "bytes");
    const text = await metricsText(metricsReport(processFacts("main"), metrics, QUIET, []), []);
    for (const line of [
      "plaza_calls_in_flight 3",
      "plaza_calls_waiting 2",
      "plaza_connections 5",
      "plaza_connections_evicted_total 4",
      'plaza_calls_turned_away_total{app="7",reason="bytes"} 2',
      'plaza_calls_turned_away_total{app="",reason="bytes"} 1',
    ])
      expect(text).toContain(`\n${line}\n`);
  });
});

test("work that held the event loop is named, for all processes together", async () => {
  const of = (process: string, lagP99Ms: number, ...holds: HoldsOfWork[]) =>
    metricsReport(processFacts(process), new RequestMetrics(), { lagP99Ms, holds }, []);
  const [import1, import2] = [
    { work: "POST /v1/worlds/{w}/import", count: 2, longestMs: 300 },
    { work: "POST /v1/worlds/{w}/import", count: 1, longestMs: 450 },
  ];
  const text = await metricsText(
    merged([of("main", 4, import1), of("worker 1", 12, import2, { work: "job feed_upload", count: 1, longestMs: 60 })]),
    [],
  );
  for (const line of [
    'plaza_event_loop_lag_p99_seconds{process="main"} 0.004',
    'plaza_event_loop_lag_p99_seconds{process="worker 1"} 0.012',
    'plaza_event_loop_holds_total{work="POST /v1/worlds/{w}/import"} 3',
    'plaza_event_loop_longest_hold_seconds{work="POST /v1/worlds/{w}/import"} 0.45',
    'plaza_event_loop_holds_total{work="job feed_upload"} 1',
  ])
    expect(text).toContain(`\n${line}\n`);
});

test("each metric has its description and type before its samples, once", async () => {
  const text = await metricsText(metricsReport(processFacts("main"), new RequestMetrics(), QUIET, []), [worldOf("a"), worldOf("b")]);
  expect([...text.matchAll(/^# TYPE (.*)$/gm)].map(([, type]) => type)).toEqual([
    ...["plaza_calls_total counter", "plaza_call_duration_seconds histogram", "plaza_calls_in_flight gauge", "plaza_calls_waiting gauge"],
    ...["plaza_calls_turned_away_total counter", "plaza_connections gauge", "plaza_connections_evicted_total counter"],
    ...["plaza_build_info gauge", "process_resident_memory_bytes gauge", "process_heap_bytes gauge", "process_cpu_seconds_total counter"],
    ...["process_start_time_seconds gauge", "process_uptime_seconds gauge", "process_open_fds gauge", "process_max_fds gauge"],
    ...["plaza_event_loop_lag_p99_seconds gauge", "plaza_event_loop_lag_seconds gauge", "plaza_event_loop_holds_total counter"],
    ...[
      "plaza_event_loop_longest_hold_seconds gauge",
      "plaza_database_problem gauge",
      "plaza_database_failures_total counter",
      "plaza_database_up gauge",
      "plaza_database_ping_seconds gauge",
    ],
    ...["plaza_webhook_attempts_total counter", "plaza_webhook_payloads_broken_total counter", "plaza_webhook_deliveries_overdue_total counter"],
    ...["plaza_webhook_deliveries_unsubscribed_total counter", "plaza_webhook_updates_delivered_total counter"],
    ...[
      "plaza_webhook_attempt_duration_seconds histogram",
      "plaza_webhook_callbacks gauge",
      "plaza_jobs_failing gauge",
      "plaza_webhook_deliveries gauge",
    ],
    ...["plaza_webhook_oldest_delivery_seconds gauge", "plaza_webhook_oldest_event_seconds gauge", "plaza_jobs gauge"],
    "plaza_jobs_oldest_due_seconds gauge",
    "plaza_alerts gauge",
  ]);
  expect(text.match(/^# HELP /gm)).toHaveLength(37);
  expect(text.startsWith("# HELP plaza_calls_total Graph requests")).toBe(true);
});

test("a label stays on its line, with any content", async () => {
  expect(await samples("plaza_calls_total{", requestsOf(['a"b\\c\nd\n', 200, 1]))).toEqual([
    'plaza_calls_total{operation="a_b_c_d_",status="200"} 1',
  ]);
});

describe("webhooks", () => {
  const attempt = (kind: string, latency_ms: number | undefined, updates = 1): AttemptSeen =>
    ({
      row: { app: "7", callback: "5", object: "page", field: "feed" },
      ...{ updates, outcome: { kind, attempt: { latency_ms } } },
    }) as unknown as AttemptSeen;
  const labels = 'world="w",app="7",callback="5",object="page",field="feed"';
  const sent = () => {
    const metrics = new DeliveryMetrics();
    for (const one of [attempt("delivered", 5, 3), attempt("retry", 20_000), attempt("failed", undefined), attempt("delivered", 11, 2)])
      metrics.record(one);
    metrics.recordUnsubscribed({ app: "7", callback: "5", object: "page", field: "feed" } as never);
    metrics.recordBroken({ object: "page", field: "feed" } as never);
    metrics.recordOverdue();
    metrics.recordOverdue();
    return metrics;
  };

  test("are counted by world, callback and field: the outcome of each attempt, and the events in accepted ones", async () => {
    const world = worldOf("w", reached, sent());
    expect(await samples("plaza_webhook_attempts_total{", undefined, world, worldOf("idle"))).toEqual([
      `plaza_webhook_attempts_total{${labels},outcome="delivered"} 2`,
      `plaza_webhook_attempts_total{${labels},outcome="retried"} 1`,
      `plaza_webhook_attempts_total{${labels},outcome="failed"} 1`,
    ]);
    expect(await samples("plaza_webhook_updates_delivered_total{", undefined, world)).toEqual([`plaza_webhook_updates_delivered_total{${labels}} 5`]);
    expect(await samples("plaza_webhook_deliveries_unsubscribed_total{", undefined, world)).toEqual([
      `plaza_webhook_deliveries_unsubscribed_total{${labels}} 1`,
    ]);
  });

  test("that break their contract or wait too long are counted by world, even if there are none", async () => {
    const worlds = [worldOf("w", reached, sent()), worldOf("idle")];
    expect(await samples("plaza_webhook_payloads_broken_total{", undefined, ...worlds)).toEqual([
      'plaza_webhook_payloads_broken_total{world="w",object="page",field="feed"} 1',
    ]);
    expect(await samples("plaza_webhook_deliveries_overdue_total{", undefined, ...worlds)).toEqual([
      'plaza_webhook_deliveries_overdue_total{world="w"} 2',
      'plaza_webhook_deliveries_overdue_total{world="idle"} 0',
    ]);
  });

  test("have their durations in seconds, summed up to each edge, for every outcome", async () => {
    const bucket = (le: number | string, count: number) => `plaza_webhook_attempt_duration_seconds_bucket{${labels},le="${le}"} ${count}`;
    expect(await samples("plaza_webhook_attempt_duration_seconds", undefined, worldOf("w", reached, sent()))).toEqual([
      ...[0.005, 0.01].map((le) => bucket(le, 2)),
      ...[0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15].map((le) => bucket(le, 3)),
      bucket("+Inf", 4),
      `plaza_webhook_attempt_duration_seconds_sum{${labels}} 20.016`,
      `plaza_webhook_attempt_duration_seconds_count{${labels}} 4`,
    ]);
  });

  test("D-137: callbacks are counted by state, for each world with a reachable database", async () => {
    const away = { ping: () => Promise.reject(new Error("away")) };
    expect(await samples("plaza_webhook_callbacks{", undefined, worldOf("away", away), worldOf("w"))).toEqual([
      'plaza_webhook_callbacks{world="w",state="failing"} 3',
      'plaza_webhook_callbacks{world="w",state="alerted"} 2',
      'plaza_webhook_callbacks{world="w",state="paused"} 1',
    ]);
    expect(await samples("plaza_database_up{", undefined, worldOf("away", away), worldOf("w"))).toEqual([
      'plaza_database_up{world="away"} 0',
      'plaza_database_up{world="w"} 1',
    ]);
  });
});

test("the process says its memory in bytes, its CPU time, its start and its age in seconds, and its open files", async () => {
  const before = { cpu: process.cpuUsage(), uptime: process.uptime() };
  const text = await metricsText(metricsReport(processFacts("main"), new RequestMetrics(), QUIET, []), [worldOf("w")]);
  const after = { cpu: process.cpuUsage(), uptime: process.uptime() };
  const numberOf = (name: string) => Number(new RegExp(`^${name}(?:\\{.*\\})? (.*)$`, "m").exec(text)?.[1]);
  const isBetween = (value: number, low: number, high: number) => value >= low && value <= high;
  const secondsOf = ({ user, system }: { user: number; system: number }) => (user + system) / 1_000_000;
  expect({
    cpu: isBetween(numberOf("process_cpu_seconds_total"), secondsOf(before.cpu), secondsOf(after.cpu)),
    uptime: isBetween(numberOf("process_uptime_seconds"), before.uptime, after.uptime),
    // The event loop's lag is shorter than the time that passed while the metrics page was made.
    lag: isBetween(numberOf("plaza_event_loop_lag_seconds"), 0, after.uptime - before.uptime),
    ping: isBetween(numberOf("plaza_database_ping_seconds"), 0, after.uptime - before.uptime),
    started: isBetween(numberOf("process_start_time_seconds") + numberOf("process_uptime_seconds"), Date.now() / 1000 - 5, Date.now() / 1000 + 5),
    files: isBetween(numberOf("process_open_fds"), 3, numberOf("process_max_fds")),
    memory: numberOf("process_resident_memory_bytes") > 1_000_000 && numberOf("process_heap_bytes") > 100_000,
  }).toEqual({ cpu: true, uptime: true, lag: true, ping: true, started: true, files: true, memory: true });
});

test("D-298: connections of encoders are counted if an ingest process has reported them", async () => {
  const streaming = { connections: { open: 7, without_key: 5, turned_away: 3 } };
  expect(await samples("plaza_encoder", new RequestMetrics(), { ...worldOf("default"), streaming } as OpenWorld)).toEqual([
    ...["plaza_encoder_connections 7", "plaza_encoder_connections_without_key 5", "plaza_encoder_connections_turned_away_total 3"],
  ]);
  expect(await samples("plaza_encoder", new RequestMetrics(), worldOf("default"))).toEqual([]);
});

test("D-345: jobs that fail are counted for each world whose database can be asked", async () => {
  const away = worldOf("away", { ping: async () => {} });
  expect(await samples("plaza_jobs_failing", new RequestMetrics(), worldOf("one", reached, new DeliveryMetrics(), 2), away)).toEqual([
    'plaza_jobs_failing{world="one"} 2',
  ]);
});

test("D-341: problems of the database are gauges while they last, and their failures are counted", async () => {
  const health = new DatabaseHealth();
  const text = async () => (await metricsText(metricsReport(processFacts("main"), new RequestMetrics(), QUIET, [], health.report()), [])).split("\n");
  expect((await text()).filter((line) => line.startsWith("plaza_database_"))).toEqual([]);
  for (const kind of ["disk_full", "disk_full", "locked"] as const) health.failed(kind, new Error("it failed"));
  expect((await text()).filter((line) => line.startsWith("plaza_database_"))).toEqual([
    'plaza_database_problem{problem="disk_full"} 1',
    'plaza_database_problem{problem="locked"} 1',
    'plaza_database_failures_total{problem="disk_full"} 2',
    'plaza_database_failures_total{problem="locked"} 1',
  ]);
});
