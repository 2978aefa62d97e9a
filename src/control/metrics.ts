/**
 * Writes the text of `/metrics` in the Prometheus format (prometheus.io/docs/instrumenting/exposition_formats). The listener already counts
 * requests in buckets, so this module only formats the counts. No metrics library is used, because it would have to observe each request, and
 * loading it would cost 45 ms and 14 MB.
 */
import type { Alert } from "#control-contract/alert";
import type { OpenWorld } from "#graph/worlds/open-world";
import { countJobs, listFailingJobs } from "#jobs/jobs.store";
import { version } from "#package.json";
import type { ConnectionCounts, DatabaseReport } from "#storage/database-health";
import { monotonicMs, runtimeVersion, sleepMs } from "#system";
import type { MetricsReport, ProcessReport, WorldDeliveries } from "#telemetry/metrics-report";
import { DURATION_EDGES_MS } from "#telemetry/request-metrics";
import { countCallbacks } from "#webhooks/callbacks/callbacks.store";
import { countQueued } from "#webhooks/delivery/deliveries.store";
import { ATTEMPT_EDGES_MS } from "#webhooks/history/metrics";
import { countLevels } from "./alert-log.ts";

export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

type Labels = Readonly<Record<string, string | number>>;

class Page {
  readonly #lines: string[] = [];

  /** Begins a metric. After this call, the caller adds the samples of the metric. */
  metric(name: string, type: "counter" | "gauge" | "histogram", help: string): void {
    this.#lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
  }

  sample(name: string, labels: Labels, value: number): void {
    const pairs = Object.entries(labels).map(([key, text]) => `${key}="${String(text).replace(/[\\"\n]/g, "_")}"`);
    this.#lines.push(`${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${value}`);
  }

  /** Adds the samples of a histogram. Each number in `durations` counts the values between one edge of the buckets and the edge before it. */
  histogram(name: string, labels: Labels, edgesMs: readonly number[], durations: readonly number[], sumMs: number, count: number): void {
    let below = 0;
    for (const [index, edgeMs] of edgesMs.entries()) {
      below += durations[index] ?? 0;
      this.sample(`${name}_bucket`, { ...labels, le: edgeMs / 1000 }, below);
    }
    this.sample(`${name}_bucket`, { ...labels, le: "+Inf" }, count);
    this.sample(`${name}_sum`, labels, sumMs / 1000);
    this.sample(`${name}_count`, labels, count);
  }

  gauge(name: string, help: string, value: number): void {
    this.metric(name, "gauge", help);
    this.sample(name, {}, value);
  }

  text(): string {
    return `${this.#lines.join("\n")}\n`;
  }
}

/**
 * Makes the text. `ofServer` selects the metrics that do not belong to a single world: all such metrics, only those without names of apps, or none.
 */
export async function metricsText(
  metrics: MetricsReport,
  worlds: readonly OpenWorld[],
  ofServer: "all" | "anonymous" | "none" = "all",
  alertsOf: (world: OpenWorld) => Promise<readonly Alert[]> = async () => [],
): Promise<string> {
  const page = new Page();
  if (ofServer !== "none") {
    writeRequests(page, ofServer === "all" ? metrics : { ...metrics, turnedAway: [] });
    page.metric("plaza_build_info", "gauge", "Always 1; the labels name the version of Plaza and of its runtime.");
    page.sample("plaza_build_info", { version, runtime: runtimeVersion }, 1);
    writeProcesses(page, metrics.processes);
    page.gauge("plaza_event_loop_lag_seconds", "How late a timer fired while this page was made.", (await lagMs()) / 1000);
    writeHolds(page, metrics);
    writeProblems(page, metrics.database);
    writeSpans(page, metrics.spans);
  }
  const names = new Set(worlds.map(({ name }) => name));
  await writeDatabases(page, worlds);
  writeWebhooks(
    page,
    // If `ofServer` is `all`, webhooks are not filtered by `worlds`, because other processes may have opened further worlds.
    ofServer === "all" ? metrics.webhooks : metrics.webhooks.filter(({ world }) => names.has(world)),
  );
  await writeCallbacks(page, worlds);
  await writeJobs(page, worlds);
  await writeQueues(page, worlds);
  await writeAlerts(page, worlds, alertsOf);
  if (ofServer === "all") writeEncoders(page, worlds);
  return page.text();
}

/** D-356: writes the counts of spans, which exist only while traces are on. */
function writeSpans(page: Page, spans: MetricsReport["spans"]): void {
  if (spans === undefined) return;
  const name = "plaza_trace_spans_total";
  page.metric(
    name,
    "counter",
    "Spans of traces by result: exported; failed: the collector did not accept the spans; dropped: too many spans waited.",
  );
  for (const result of ["exported", "failed", "dropped"] as const) page.sample(name, { result }, spans[result]);
}

function writeRequests(page: Page, metrics: MetricsReport): void {
  const operations = Object.entries(metrics.operations);
  page.metric("plaza_calls_total", "counter", "Graph requests by operation and HTTP status.");
  for (const [operation, { byStatus }] of operations) {
    for (const [status, count] of Object.entries(byStatus)) page.sample("plaza_calls_total", { operation, status }, count);
  }
  const duration = "plaza_call_duration_seconds";
  page.metric(duration, "histogram", "Duration of graph requests, from the end of the headers to the response.");
  for (const [operation, { durations, durationSumMs, requests }] of operations)
    page.histogram(duration, { operation }, DURATION_EDGES_MS, durations, durationSumMs, requests);
  page.gauge("plaza_calls_in_flight", "Graph requests in flight.", metrics.inFlight);
  page.gauge("plaza_calls_waiting", "Graph requests that wait for another server, e.g. for the handshake of a callback.", metrics.waiting);
  const turnedAway = "plaza_calls_turned_away_total";
  page.metric(
    turnedAway,
    "counter",
    "Graph requests refused with 503, by app (empty: no live token) and reason: requests, bytes, waiting, arriving, stopping.",
  );
  for (const { app = "", reason, count } of metrics.turnedAway) page.sample(turnedAway, { app, reason }, count);
  page.gauge("plaza_connections", "Open connections of clients of the graph.", metrics.connections.open);
  page.metric("plaza_connections_evicted_total", "counter", "Connections closed while they waited for their client, because there were too many.");
  page.sample("plaza_connections_evicted_total", {}, metrics.connections.evicted);
}

/** D-62: writes the counts of webhooks that all processes have sent since their start, by callback and field. */
function writeWebhooks(page: Page, worlds: readonly WorldDeliveries[]): void {
  const sent = worlds.flatMap(({ world, attempts: all }) =>
    all.map(({ app, callback, object, field, ...metrics }) => ({ labels: { world, app, callback, object, field }, metrics })),
  );
  const attempts = "plaza_webhook_attempts_total";
  page.metric(attempts, "counter", "Webhook POSTs by callback and field; outcome: delivered, retried or failed.");
  for (const { labels, metrics } of sent) {
    for (const outcome of ["delivered", "retried", "failed"] as const) page.sample(attempts, { ...labels, outcome }, metrics[outcome]);
  }
  const broken = "plaza_webhook_payloads_broken_total";
  page.metric(
    broken,
    "counter",
    "Events whose payload broke the contract of its field. Each case is a mistake in Plaza, and the log describes the case.",
  );
  for (const { world, broken: payloads } of worlds) {
    for (const { object, field, count } of payloads) page.sample(broken, { world, object, field }, count);
  }
  const overdue = "plaza_webhook_deliveries_overdue_total";
  page.metric(
    overdue,
    "counter",
    "Deliveries that waited for half a minute although they could be sent. Each case is a mistake in Plaza, and the log describes the case.",
  );
  for (const one of worlds) page.sample(overdue, { world: one.world }, one.overdue);
  const unsubscribed = "plaza_webhook_deliveries_unsubscribed_total";
  page.metric(unsubscribed, "counter", "Deliveries that ended because their app was no longer subscribed.");
  for (const { labels, metrics } of sent) page.sample(unsubscribed, labels, metrics.unsubscribed);
  const updates = "plaza_webhook_updates_delivered_total";
  page.metric(updates, "counter", "Events in the webhook POSTs that receivers accepted.");
  for (const { labels, metrics } of sent) page.sample(updates, labels, metrics.updates);
  const duration = "plaza_webhook_attempt_duration_seconds";
  page.metric(duration, "histogram", "Duration of webhook POSTs, until the response or the time limit.");
  for (const { labels, metrics } of sent) {
    const count = metrics.delivered + metrics.retried + metrics.failed;
    page.histogram(duration, labels, ATTEMPT_EDGES_MS, metrics.durations, metrics.durationSumMs, count);
  }
}

/** D-137: writes the counts of failing, alerted and paused callbacks. */
async function writeCallbacks(page: Page, worlds: readonly OpenWorld[]): Promise<void> {
  page.metric(
    "plaza_webhook_callbacks",
    "gauge",
    "Callbacks by state: failing, alerted (failing for an hour, or paused), paused (failed for five days, or returned 410).",
  );
  for (const { name: world, database } of worlds) {
    const counts = await countCallbacks(database.reader).catch(() => undefined);
    for (const [state, count] of Object.entries(counts ?? {})) page.sample("plaza_webhook_callbacks", { world, state }, count);
  }
}

const FAILING_MAX = 1_000;

async function writeJobs(page: Page, worlds: readonly OpenWorld[]): Promise<void> {
  page.metric("plaza_jobs_failing", "gauge", "Background jobs that failed twice or more and run again; alerts describe them.");
  for (const { name: world, database } of worlds) {
    const failing = await listFailingJobs(database.reader, FAILING_MAX).catch(() => undefined);
    if (failing !== undefined) page.sample("plaza_jobs_failing", { world }, failing.length);
  }
}

/** D-298: writes the counts of encoders' connections. The counts are read from the first world, because all worlds share one port for encoders. */
function writeEncoders(page: Page, [first]: readonly OpenWorld[]): void {
  const counts = first?.streaming?.connections;
  if (counts === undefined) return;
  page.gauge("plaza_encoder_connections", "Open connections of encoders.", counts.open);
  page.gauge("plaza_encoder_connections_without_key", "Open connections of encoders without an accepted stream key.", counts.without_key);
  page.metric("plaza_encoder_connections_turned_away_total", "counter", "Connections of encoders that were closed because there were too many.");
  page.sample("plaza_encoder_connections_turned_away_total", {}, counts.turned_away);
}

/** D-351: writes the values of each process, because a sum of all processes would hide a process that is stuck. */
function writeProcesses(page: Page, processes: readonly ProcessReport[]): void {
  const write = (name: string, type: "counter" | "gauge", help: string, read: (one: ProcessReport) => number | undefined): void => {
    page.metric(name, type, help);
    for (const one of processes) {
      const value = read(one);
      if (value !== undefined) page.sample(name, { process: one.process }, value);
    }
  };
  write("process_resident_memory_bytes", "gauge", "Resident memory.", ({ residentBytes }) => residentBytes);
  write("process_heap_bytes", "gauge", "Memory of the heap that is in use.", ({ heapBytes }) => heapBytes);
  write("process_cpu_seconds_total", "counter", "CPU time.", ({ cpuSeconds }) => cpuSeconds);
  write("process_start_time_seconds", "gauge", "Unix time at which the process started.", ({ startedSeconds }) => startedSeconds);
  write("process_uptime_seconds", "gauge", "Time since the process started.", ({ uptimeSeconds }) => uptimeSeconds);
  write("process_open_fds", "gauge", "Open files, connections included.", ({ openFiles }) => openFiles);
  write("process_max_fds", "gauge", "Greatest number of files that the system lets the process open.", ({ openFilesMax }) => openFilesMax);
  const lag = "Greatest delay of 99 of 100 timers of the last five minutes.";
  write("plaza_event_loop_lag_p99_seconds", "gauge", lag, ({ lagP99Ms }) => lagP99Ms / 1000);
}

function writeHolds(page: Page, { holds }: MetricsReport): void {
  page.metric("plaza_event_loop_holds_total", "counter", "Parts of an operation, job or delivery that held the event loop for 50 ms or more.");
  for (const { work, count } of holds) page.sample("plaza_event_loop_holds_total", { work }, count);
  page.metric(
    "plaza_event_loop_longest_hold_seconds",
    "gauge",
    "Longest time for which a part of an operation, job or delivery held the event loop.",
  );
  for (const { work, longestMs } of holds) page.sample("plaza_event_loop_longest_hold_seconds", { work }, longestMs / 1000);
}

/** D-341: writes the problems of the database and the numbers of its connections. */
function writeProblems(page: Page, { byDatabase, ...all }: DatabaseReport): void {
  // D-420: if a server has several databases, its metrics have the label `database`.
  const parts =
    byDatabase === undefined ? [{ labels: {}, ...all }] : Object.entries(byDatabase).map(([database, one]) => ({ labels: { database }, ...one }));
  page.metric("plaza_database_problem", "gauge", "1 while the database has this problem; the log and the alerts describe it.");
  for (const { labels, problems } of parts) for (const { kind } of problems) page.sample("plaza_database_problem", { ...labels, problem: kind }, 1);
  page.metric("plaza_database_failures_total", "counter", "Operations that failed because of a problem of the database.");
  for (const { labels, failures } of parts)
    for (const [problem, count] of Object.entries(failures)) page.sample("plaza_database_failures_total", { ...labels, problem }, count);
  if (all.pool === undefined) return;
  const write = (name: string, type: "counter" | "gauge", help: string, read: (pool: ConnectionCounts) => number): void => {
    page.metric(name, type, help);
    for (const { labels, pool } of parts) if (pool !== undefined) page.sample(name, labels, read(pool));
  };
  const connections = "Open connections to PostgreSQL for requests and background work.";
  write("plaza_database_connections", "gauge", connections, (pool) => pool.connections);
  write("plaza_database_connections_in_use", "gauge", "Connections to PostgreSQL that run statements.", ({ inUse }) => inUse);
  write("plaza_database_connections_waiting", "gauge", "Requests that wait for a connection to PostgreSQL.", ({ waiting }) => waiting);
  write("plaza_database_connection_waits_total", "counter", "Requests that waited for a connection to PostgreSQL.", ({ waits }) => waits);
  write(
    "plaza_database_connection_wait_seconds_total",
    "counter",
    "Total time for which requests waited for a connection to PostgreSQL.",
    ({ waitedMs }) => waitedMs / 1000,
  );
}

/**
 * D-351: writes the metrics of the work that waits in the database. The time for which background work has waited is
 * measured by the clock of its world.
 */
async function writeQueues(page: Page, worlds: readonly OpenWorld[]): Promise<void> {
  const reads = worlds.map(async ({ name: world, database, clock }) => {
    const nowMs = clock.nowMs();
    const ageOf = (ms: number | null): number => (ms === null ? 0 : Math.max(0, nowMs - ms) / 1000);
    const [queued, jobs] = await Promise.all([countQueued(database.reader), countJobs(database.reader, nowMs)]);
    return { world, queued: queued.map(({ state, count, oldest_ms }) => ({ state, count, seconds: ageOf(oldest_ms) })), jobs, ageOf };
  });
  const found = (await Promise.allSettled(reads)).flatMap((read) => (read.status === "fulfilled" ? [read.value] : []));
  const write = (name: string, help: string, samples: (one: (typeof found)[number]) => readonly (readonly [Labels, number])[]): void => {
    page.metric(name, "gauge", help);
    for (const one of found) for (const [labels, value] of samples(one)) page.sample(name, { world: one.world, ...labels }, value);
  };
  write("plaza_webhook_deliveries", "Deliveries that have not ended, by state; counting stops at 100000.", ({ queued }) =>
    queued.map(({ state, count }) => [{ state }, count]),
  );
  write("plaza_webhook_oldest_delivery_seconds", "Age of the event of the oldest delivery in a state.", ({ queued }) =>
    queued.map(({ state, seconds }) => [{ state }, seconds]),
  );
  write("plaza_webhook_oldest_event_seconds", "Age of the oldest event with a delivery that has not ended.", ({ queued }) => [
    [{}, Math.max(0, ...queued.map(({ seconds }) => seconds))],
  ]);
  write(
    "plaza_jobs",
    "Background jobs that are due and have not begun, and background jobs that run; counting stops at 10000.",
    ({ jobs: { due, running } }) => [
      [{ state: "due" }, due],
      [{ state: "running" }, running],
    ],
  );
  write("plaza_jobs_oldest_due_seconds", "Time for which the oldest background job that is due has waited.", ({ jobs, ageOf }) => [
    [{}, ageOf(jobs.oldest_due_ms)],
  ]);
}

/** D-359: writes the counts of the alerts of features. */
async function writeAlerts(page: Page, worlds: readonly OpenWorld[], alertsOf: (world: OpenWorld) => Promise<readonly Alert[]>): Promise<void> {
  const reads = worlds.map(async (world) => ({ world: world.name, byKind: Map.groupBy(await alertsOf(world), ({ kind }) => kind) }));
  page.metric("plaza_alerts", "gauge", "Alerts about live videos and feeds, by kind and level; plaza status shows their texts.");
  for (const read of await Promise.allSettled(reads)) {
    if (read.status === "rejected") continue;
    const { world, byKind } = read.value;
    for (const [kind, alerts] of byKind)
      for (const { level, count } of countLevels(alerts)) if (count > 0) page.sample("plaza_alerts", { world, kind, level }, count);
  }
}

async function lagMs(): Promise<number> {
  const started = monotonicMs();
  await sleepMs(1);
  return Math.max(0, monotonicMs() - started - 1);
}

async function writeDatabases(page: Page, worlds: Iterable<OpenWorld>): Promise<void> {
  const samples: { world: string; isUp: boolean; seconds: number }[] = [];
  for (const { name, database } of worlds) {
    const started = monotonicMs();
    const isUp = await database.ping().then(
      () => true,
      () => false,
    );
    samples.push({ world: name, isUp, seconds: (monotonicMs() - started) / 1000 });
  }
  page.metric("plaza_database_up", "gauge", "Whether the database of a world can be reached: 1 or 0.");
  for (const { world, isUp } of samples) page.sample("plaza_database_up", { world }, isUp ? 1 : 0);
  page.metric("plaza_database_ping_seconds", "gauge", "Duration of a ping of the database.");
  for (const { world, seconds } of samples) page.sample("plaza_database_ping_seconds", { world }, seconds);
}
