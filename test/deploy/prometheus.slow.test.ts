/** D-351: checks that the alerts and the dashboard of deploy/prometheus fit the metrics of a server. */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { startServer, temporaryFolder } from "#harness/server";
import { DEPLOY, promtool, startPrometheus } from "./prometheus-server.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
}

const alerts = parse(readFileSync(join(DEPLOY, "alerts.yml"), "utf8")).groups[0].rules as readonly Rule[];
const dashboard = JSON.parse(readFileSync(join(DEPLOY, "dashboard.json"), "utf8"));
const panels = dashboard.panels as readonly { title: string; targets: readonly { expr: string }[] }[];
/** A query of the dashboard with a value for each variable, as Grafana sends the query. */
const asked = (expr: string): string => expr.replaceAll("$__rate_interval", "1m").replaceAll("$instance", ".*");

const METRIC = /\b(?:plaza|process)_[a-z0-9_]+/g;

/** Prometheus series that make an alert fire, with one sample a minute. */
const FIRING: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  PlazaDown: { 'up{job="plaza"}': "0x30" },
  PlazaDatabaseDown: { plaza_database_up: "0x30" },
  PlazaRequestsFail: { 'plaza_calls_total{status="200"}': "0+95x30", 'plaza_calls_total{status="503"}': "0+5x30" },
  PlazaRequestsTurnedAway: { 'plaza_calls_turned_away_total{app="1001",reason="requests"}': "0+1x30" },
  PlazaEventLoopLate: { 'plaza_event_loop_lag_p99_seconds{process="main"}': "0.3x30" },
  PlazaWebhooksWait: { 'plaza_webhook_oldest_delivery_seconds{state="waiting"}': "301x30" },
  PlazaCallbacksFail: { 'plaza_webhook_callbacks{state="alerted"}': "1x30" },
  PlazaWebhooksOverdue: { plaza_webhook_deliveries_overdue_total: "0x15 1x15" },
  PlazaPayloadsBroken: { 'plaza_webhook_payloads_broken_total{field="feed"}': "0x15 1x15" },
  PlazaJobsWait: { plaza_jobs_oldest_due_seconds: "301x30" },
  PlazaFeedStuck: { 'plaza_alerts{world="default",kind="feed",level="error"}': "1x30" },
  PlazaTracesLost: { 'plaza_trace_spans_total{result="failed"}': "0+5x30" },
  PlazaFilesFew: { 'process_open_fds{job="plaza"}': "81x30", 'process_max_fds{job="plaza"}': "100x30" },
  PlazaRestarts: { 'process_start_time_seconds{job="plaza",process="main"}': "1x15 2 3 4 5x12" },
};
/** The series of a server without problems. */
const QUIET = {
  'up{job="plaza"}': "1x30",
  plaza_database_up: "1x30",
  'plaza_calls_total{status="200"}': "0+99x30",
  'plaza_calls_total{status="503"}': "0+1x30",
  'plaza_calls_turned_away_total{app="",reason="stopping"}': "0+1x30",
  'plaza_event_loop_lag_p99_seconds{process="main"}': "0.2x30",
  'plaza_webhook_oldest_delivery_seconds{state="waiting"}': "200x30",
  'plaza_webhook_oldest_delivery_seconds{state="retrying"}': "9999x30",
  'plaza_webhook_callbacks{state="alerted"}': "0x30",
  plaza_webhook_deliveries_overdue_total: "3x30",
  plaza_jobs_oldest_due_seconds: "200x30",
  'plaza_alerts{world="default",kind="feed",level="warning"}': "1x30",
  'plaza_trace_spans_total{result="exported"}': "0+9x30",
  'plaza_trace_spans_total{result="dropped"}': "7x30",
  'process_open_fds{job="plaza"}': "70x30",
  'process_max_fds{job="plaza"}': "100x30",
  'process_start_time_seconds{job="plaza",process="main"}': "1x20 2x10",
};

/** Asks promtool which alerts fire after 28 minutes of the given series. */
function fires(series: Readonly<Record<string, string>>, alertname: string, count: number): { readonly isOk: boolean; readonly output: string } {
  const file = join(temporaryFolder(), "test.yml");
  const input = Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const expression = `count(ALERTS{alertname="${alertname}",alertstate="firing"}) or vector(0)`;
  const tests = [
    {
      interval: "1m",
      input_series: input,
      promql_expr_test: [{ expr: expression, eval_time: "28m", exp_samples: [{ labels: "{}", value: count }] }],
    },
  ];
  writeFileSync(file, stringify({ rule_files: [join(DEPLOY, "alerts.yml")], evaluation_interval: "30s", tests }));
  return promtool("test", "rules", file);
}

test("promtool accepts the configuration and the rules", () => {
  expect(promtool("check", "config", join(DEPLOY, "prometheus.yml"))).toMatchObject({ isOk: true });
  expect(promtool("check", "rules", join(DEPLOY, "alerts.yml"))).toMatchObject({ isOk: true });
});

test.each(alerts)("$alert fires when it should, and not for a server in order", ({ alert }) => {
  expect(fires(FIRING[alert] ?? {}, alert, 1)).toMatchObject({ isOk: true });
  expect(fires(QUIET, alert, 0)).toMatchObject({ isOk: true });
});

test("Prometheus scrapes a server, and evaluates every expression; each metric in them is one that a server has", async () => {
  const server = await startServer(["--data", ":memory:", "--otlp-endpoint", "http://127.0.0.1:9"]);
  await fetch(`${server.base_url}/v26.0/2001/custom_labels`);
  const text = await (await fetch(`${server.control_url}/metrics`)).text();
  const known = new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name, type]) => (type === "histogram" ? [`${name}_bucket`] : [name])),
  );
  const expressions = [...alerts.map(({ expr }) => expr), ...panels.flatMap(({ targets }) => targets.map(({ expr }) => asked(expr)))];
  const named = expressions.flatMap((expr) => expr.match(METRIC) ?? []);
  expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([]);
  const prometheus = await startPrometheus(new URL(server.control_url).host);
  while ((await prometheus.query('up{job="plaza"} == 1')).samples.length === 0) await Bun.sleep(50);
  expect((await prometheus.query("plaza_build_info")).samples).toMatchObject([
    { metric: { version: expect.any(String) }, value: [expect.any(Number), "1"] },
  ]);
  expect((await prometheus.query('process_open_fds{process="main"} > 0')).samples).toHaveLength(1);
  for (const expr of expressions) expect({ expr, ...(await prometheus.query(expr)) }).toMatchObject({ expr, status: "success" });
}, 60_000);
