/** D-356, D-357: checks the traces of a running server as a collector receives them. */
import { afterEach, expect, test } from "bun:test";
import { type DatabaseKind, onEachDatabase } from "#harness/databases";
import { type CollectedSpan, startCollector } from "#harness/http/collector";
import { liveWorld } from "#harness/live/live-server";
import { sharedPostgres } from "#harness/postgres-cluster";
import { freePort } from "#harness/processes/free-port";
import { startReceiver } from "#harness/receiver";
import { worldFile } from "#harness/server";
import { endAll, newFolder, type RunningPlaza, runPlaza, startPlaza } from "../cli/plaza-process.ts";

afterEach(endAll);

const SERVER = 2;
const CLIENT = 3;
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const traceparent = (flags = "01") => `00-${TRACE}-b7ad6b7169203331-${flags}`;
const IN_THREE_PLACES = "access_token=demo-page-token&oauth_token=demo-page-token";

const placeFor = async (kind: DatabaseKind): Promise<string> => (kind === "sqlite" ? ":memory:" : (await sharedPostgres()).newDatabase());

async function createLabel({ ready }: RunningPlaza, name: string, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(`${ready.base_url}/v26.0/2001/custom_labels?${IN_THREE_PLACES}`, {
    method: "POST",
    headers: { authorization: "Bearer demo-page-token", "content-type": "application/json", ...headers },
    body: JSON.stringify({ page_label_name: name }),
  });
  await response.text();
  return response.status;
}

const operation = (name: string) => (span: CollectedSpan) => span.attributes["plaza.operation"] === name;

onEachDatabase("traces", (kind) => {
  test("a request continues the caller's trace, with its steps and statements, and its webhook continues it further", async () => {
    const [collector, receiver] = [startCollector(), startReceiver()];
    const plaza = await startPlaza(["--data", await placeFor(kind), "--otlp-endpoint", collector.url, "--callback", receiver.url]);
    expect(await createLabel(plaza, "traced", { traceparent: traceparent(), tracestate: "rojo=1, congo=2" })).toBe(200);
    const delivery = await collector.span(({ name }) => name === "webhook delivery");
    const request = await collector.span(operation("createLabel"));
    const code = (await plaza.end()).code;
    const { spans } = collector;
    const ofTrace = spans.filter(({ traceId }) => traceId === TRACE);
    const named = (name: string): CollectedSpan => {
      const found = ofTrace.find((span) => span.name === name);
      if (found === undefined) throw new Error(`the trace has no span ${name}`);
      return found;
    };

    expect(request).toMatchObject({ traceId: TRACE, parent: "b7ad6b7169203331", kind: SERVER, state: "rojo=1,congo=2", name: "request" });
    expect(request.attributes).toMatchObject({ "http.request.method": "POST", "http.response.status_code": 200, "plaza.app": "1001" });
    const steps = ofTrace.filter(({ parent }) => parent === request.spanId).map(({ name }) => name);
    expect(steps).toEqual(["authenticate", "endpoint", "visibility", "authorize", "parse", "prepare", "handle", "respond", "render"]);
    const insert = named("INSERT labels");
    expect(insert.parent).toBe(named("handle").spanId);
    expect(insert.attributes).toMatchObject({ "db.system.name": kind === "sqlite" ? "sqlite" : "postgresql", "db.collection.name": "labels" });
    expect(insert.attributes["db.query.text"]).toContain("INSERT INTO labels");
    expect(named("transaction").parent).toBe(named("handle").spanId);

    expect(delivery).toMatchObject({ traceId: TRACE, kind: CLIENT, hasFailed: false, state: "rojo=1,congo=2" });
    expect(delivery.attributes).toMatchObject({
      "plaza.webhook_field": "custom_labels",
      "plaza.outcome": "delivered",
      "http.response.status_code": 200,
    });
    // The request stored the event in the step `handle` of the pipeline.
    expect(delivery.parent).toBe(named("handle").spanId);
    expect(receiver.posts[0]?.headers).toMatchObject({ traceparent: `00-${TRACE}-${delivery.spanId}-01`, tracestate: "rojo=1,congo=2" });
    expect(request.resource).toMatchObject({ "service.name": "plaza", "service.version": expect.any(String) });
    expect(code).toBe(0);
  }, 30_000);

  test("events that travel in one POST: the delivery belongs to the trace of the first, and links to the others", async () => {
    const [collector, receiver] = [startCollector(), startReceiver()];
    const held = Promise.withResolvers<void>();
    receiver.response = async (_post, count) => {
      if (count === 1) await held.promise;
      return new Response("taken");
    };
    const plaza = await startPlaza(["--data", await placeFor(kind), "--otlp-endpoint", collector.url, "--callback", receiver.url]);
    await createLabel(plaza, "first");
    while (receiver.posts.length === 0) await Bun.sleep(5);
    for (const name of ["second", "third"]) await createLabel(plaza, name);
    held.resolve();
    const joined = await collector.span(({ name, links }) => name === "webhook delivery" && links.length > 0);
    await plaza.end();
    const causes = collector.spans.filter(({ name }) => name === "handle").map(({ spanId }) => spanId);
    expect([joined.parent, ...joined.links]).toEqual(causes.slice(1));
  }, 30_000);
});

test("parts of a batch, refusals, jobs: each has its span; a refusal is not a failure of the server", async () => {
  const collector = startCollector();
  const plaza = await startPlaza(["--data", ":memory:", "--otlp-endpoint", `${collector.url}/`]);
  const batch = JSON.stringify([{ method: "GET", relative_url: `v26.0/2001/personas?${IN_THREE_PLACES}` }]);
  const body = new URLSearchParams({ batch, access_token: "demo-page-token" });
  await fetch(plaza.ready.base_url, { method: "POST", body });
  const part = await collector.span(({ name }) => name === "part of a batch");
  const around = await collector.span(({ name, traceId }) => name === "request" && traceId === part.traceId);
  expect(part.attributes["plaza.operation"]).toBe("listPersonas");
  expect(collector.spans.find(({ spanId }) => spanId === part.parent)?.parent).toBe(around.spanId);

  expect((await plaza.page("personas", "wrong-token")).status).toBe(403);
  const refused = await collector.span(({ attributes }) => attributes["http.response.status_code"] === 403);
  expect(refused.attributes["error.type"]).toBeString();
  expect(refused.hasFailed).toBeFalse();

  // The removal of a subscription schedules a job.
  const subscriptions = `${plaza.ready.base_url}/v26.0/1001/subscriptions?access_token=demo-app-token`;
  const receiver = startReceiver();
  await fetch(subscriptions, {
    method: "POST",
    body: new URLSearchParams({ object: "page", callback_url: receiver.url, fields: "feed", verify_token: "v" }),
  });
  await fetch(`${subscriptions}&object=page`, { method: "DELETE" });
  const job = await collector.span(({ name }) => name.startsWith("job "));
  expect(job).toMatchObject({ parent: "", attributes: { "plaza.attempt": 1 } });
  await plaza.end();
  expect(collector.spans.some(({ parent, attributes }) => parent === job.spanId && "db.query.text" in attributes)).toBeTrue();
}, 30_000);

test("--trace-ratio 0 records only requests whose callers decided so, and passes the caller's decision on", async () => {
  const [collector, receiver] = [startCollector(), startReceiver()];
  const plaza = await startPlaza(["--data", ":memory:", "--otlp-endpoint", collector.url, "--trace-ratio", "0", "--callback", receiver.url]);
  const seen = `00-${"a".repeat(32)}-b7ad6b7169203331-01`;
  for (const [at, headers] of [{ traceparent: traceparent("00") }, {}, { traceparent: seen }].entries()) {
    await createLabel(plaza, `label ${at}`, headers);
    while (receiver.posts.length <= at) await Bun.sleep(5);
  }
  await plaza.end();
  expect(new Set(collector.spans.map(({ traceId }) => traceId))).toEqual(new Set(["a".repeat(32)]));
  const passed = receiver.posts.map(({ headers }) => headers.traceparent ?? "");
  expect(passed.map((one) => one.slice(-2))).toEqual(["00", "00", "01"]);
  expect(passed[0]).toStartWith(`00-${TRACE}-`);
}, 30_000);

test("without --otlp-endpoint a webhook has no trace, whatever the caller sends", async () => {
  const receiver = startReceiver();
  const plaza = await startPlaza(["--data", ":memory:", "--callback", receiver.url]);
  await createLabel(plaza, "traced", { traceparent: traceparent(), tracestate: "a=1" });
  while (receiver.posts.length === 0) await Bun.sleep(5);
  expect(receiver.posts[0]?.headers).not.toContainAnyKeys(["traceparent", "tracestate"]);
}, 30_000);

async function spanCounts({ ready }: RunningPlaza): Promise<Record<string, number>> {
  const page = await (await fetch(`${ready.control_url}/metrics`)).text();
  return Object.fromEntries(
    [...page.matchAll(/^plaza_trace_spans_total\{result="(\w+)"\} (\d+)$/gm)].map(([, name, count]) => [name, Number(count)]),
  );
}

test("while the collector hangs, requests are served, spans beyond the limit are dropped and counted, and the server ends in time", async () => {
  const collector = startCollector();
  collector.response = () => new Promise(() => {});
  const plaza = await startPlaza(["--data", ":memory:", "--otlp-endpoint", collector.url, "--quiet"]);
  let served = 0;
  // Each request has some ten spans, and 8,192 spans may wait.
  while (((await spanCounts(plaza)).dropped ?? 0) === 0) {
    const statuses = await Promise.all(Array.from({ length: 50 }, () => plaza.page("custom_labels")));
    served += statuses.filter(({ status }) => status === 200).length;
    expect(served % 50).toBe(0);
  }
  expect(await spanCounts(plaza)).toMatchObject({ exported: 0 });
  expect((await plaza.end()).code).toBe(0);
}, 60_000);

test("a collector that refuses or is away is named in the log once, and when it takes spans again", async () => {
  const port = await freePort();
  const plaza = await startPlaza(["--data", ":memory:", "--otlp-endpoint", `http://127.0.0.1:${port}`], {
    env: { OTEL_EXPORTER_OTLP_TIMEOUT: "500" },
  });
  await plaza.page("custom_labels");
  while (((await spanCounts(plaza)).failed ?? 0) === 0) await Bun.sleep(20);
  const collector = startCollector(port);
  await plaza.page("custom_labels");
  await collector.span(operation("listLabels"));
  while (((await spanCounts(plaza)).exported ?? 0) === 0) await Bun.sleep(20);
  const { stderr } = await plaza.end();
  expect(stderr.match(/the collector does not accept traces/g)).toHaveLength(1);
  expect(stderr.match(/the collector accepts traces again/g)).toHaveLength(1);
}, 60_000);

test("SIGTERM sends the spans that wait", async () => {
  const collector = startCollector();
  const plaza = await startPlaza(["--data", newFolder(), "--otlp-endpoint", collector.url]);
  await createLabel(plaza, "last");
  await plaza.end();
  expect(collector.spans.filter(operation("createLabel"))).toHaveLength(1);
}, 30_000);

test("the messages of encoders are spans without the stream key, and the end of a feed is in the trace of its beginning", async () => {
  const collector = startCollector();
  const key = "0123456789abcdefghij";
  const world = { ...liveWorld, live_videos: [{ id: "5301", page: "2001", status: "UNPUBLISHED", stream_key: key }] };
  const args = ["--data", newFolder(), "--world", worldFile(world), "--otlp-endpoint", collector.url, "--rtmp-port", "0"];
  const plaza = await startPlaza(args);
  const { ready } = plaza;
  const live = (word: string) =>
    runPlaza(["live", word, "5301", "--control-url", ready.control_url], { env: { PLAZA_CONTROL_KEY: ready.control_key as string } });
  expect(await live("play")).toMatchObject({ code: 0 });
  expect(await live("stop")).toMatchObject({ code: 0 });
  const ended = await collector.span(({ name }) => name === "ingest end");
  const started = await collector.span(({ name }) => name === "ingest start");
  expect(ended).toMatchObject({ traceId: started.traceId, parent: started.spanId, attributes: { "plaza.ending": "lost" } });
  expect(started.attributes).toMatchObject({ "plaza.video": "5301", "plaza.session": 1, "plaza.world": "default" });
  expect(collector.spans.some(({ parent, attributes }) => parent === started.spanId && "db.query.text" in attributes)).toBeTrue();
  await plaza.end();
  expect(collector.texts.filter((text) => text.includes(key))).toEqual([]);
}, 60_000);
