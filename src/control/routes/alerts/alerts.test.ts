import { expect, test } from "bun:test";
import { standardCalendar } from "#graph/versions/calendar";
import { KEY, openControl } from "#harness/control";
import { onEachDatabase } from "#harness/databases";
import { startReceiver } from "#harness/receiver";
import { nodeId } from "#kernel/ids";
import { sql } from "#storage/sql";

const NOW = 1_795_000_000;
const HOUR = 3_600;

const entry = (more: Record<string, unknown> = {}) => ({
  ...{ trace_id: "A1", operation: "listLabels", method: "GET", surface: "base", path: "/v26.0/2001/custom_labels", query: "", status: 200 },
  ...{ time: NOW * 1000, duration_ms: 1, app: "1001", request_body: "", response_body: "" },
  ...more,
});

onEachDatabase("D-279: alerts", (database) => {
  async function open(callback: object | undefined) {
    const world = {
      clock: { now: NOW },
      users: [{ id: "3001", name: "Ada" }],
      apps: [
        {
          ...{ id: "1001", secret: "s3cret", created_time: 0, subscriptions: [{ object: "page", fields: ["live_videos"] }] },
          ...(callback === undefined ? {} : { callback }),
        },
      ],
      pages: [{ id: "2001", name: "Cafe", subscribed_apps: [{ app: "1001", subscribed_fields: ["live_videos"] }] }],
    };
    const control = await openControl({ database, world }, { onTimeMoved: [async ({ work }) => void (await work.runDue())] });
    const { request, plaza } = control;
    await request("PUT", "clock", { now: NOW });
    const happen = async () => {
      const { data } = (await request("GET", "webhook-fields")).body;
      const { example } = data.find(({ field }: { field: string }) => field === "live_videos");
      const field = plaza.registry.webhookFields.read("page", "live_videos");
      await plaza.world.database.write((tx) => plaza.world.webhooks.emit(tx, field, { entity: nodeId("2001"), payload: example }));
      await plaza.world.work.runDue();
    };
    const alerts = async () => (await request("GET", "alerts")).body.data;
    return { ...control, happen, alerts };
  }

  test("a callback that fails, then for an hour, then is paused by a person, then works again", async () => {
    const receiver = startReceiver();
    receiver.response = () => new Response(null, { status: 500 });
    const { request, happen, alerts } = await open({ url: receiver.url });
    expect(await alerts()).toEqual([]);
    await happen();
    const [failing] = await alerts();
    expect(failing).toMatchObject({ kind: "callback_failing", level: "warning", time: NOW, text: expect.stringContaining(receiver.url) });
    const [callback] = (await request("GET", "callbacks")).body.data;
    expect(failing.of).toBe(callback.id);
    await request("PUT", "clock", { frozen: true });
    const stopped = {
      kind: "clock_stopped",
      level: "notice",
      time: expect.any(Number),
      text: expect.stringContaining(`webhook retry of ${receiver.url}`),
    };
    expect(await alerts()).toMatchObject([{ kind: "callback_failing" }, stopped]);
    await request("PUT", "clock", { frozen: false });
    await request("POST", "clock/advance", { seconds: 2 * HOUR });
    expect(await alerts()).toMatchObject([{ kind: "callback_failing", level: "error", time: NOW }]);
    await request("POST", `callbacks/${callback.id}/pause`);
    expect(await alerts()).toMatchObject([
      { kind: "callback_paused", level: "notice", of: callback.id, text: expect.stringContaining("by a person") },
    ]);
    receiver.response = () => new Response("ok");
    await request("POST", `callbacks/${callback.id}/resume`);
    await request("POST", "clock/advance", { seconds: 12 * HOUR });
    expect(await alerts()).toEqual([]);
  });

  test("a callback that returned 410", async () => {
    const receiver = startReceiver();
    receiver.response = () => new Response(null, { status: 410 });
    const { happen, alerts } = await open({ url: receiver.url });
    await happen();
    expect(await alerts()).toMatchObject([{ kind: "callback_paused", level: "error", text: expect.stringContaining("it returned 410") }]);
  });

  test("webhooks without a callback are counted by app", async () => {
    const { happen, alerts } = await open(undefined);
    await happen();
    await happen();
    const waiting = {
      kind: "no_callback",
      level: "warning",
      of: "1001",
      text: "2 webhooks wait for a callback of app 1001: the app has no verified callback.",
    };
    expect(await alerts()).toEqual([waiting]);
  });
});

test("D-279: failed and rate-limited requests are alerts for five minutes of world time, and a fault until it is deleted", async () => {
  const { request, plaza } = await openControl();
  await request("PUT", "clock", { now: NOW, frozen: true });
  const log = plaza.world.requests;
  log.add(entry({ trace_id: "A1", status: 503 }));
  log.add(entry({ trace_id: "A2", status: 500, operation: "createLabel" }));
  log.add(entry({ trace_id: "A3", status: 429, app: undefined }));
  log.add(entry({ trace_id: "A4", status: 429 }));
  log.add(entry({ trace_id: "A5", status: 404 }));
  await request("POST", "faults", { operation: "listPersonas", status: 503 });
  const alerts = async () => (await request("GET", "alerts")).body.data;
  const [failed, ofApp, ofNobody, fault, ...others] = await alerts();
  expect(others).toEqual([]);
  expect(failed).toEqual({
    ...{ kind: "requests_failed", level: "error", of: "A2", time: NOW },
    text: "2 requests failed in the last five minutes; the newest is createLabel with 500.",
  });
  expect(ofApp).toMatchObject({ kind: "rate_limited", level: "warning", of: "1001", text: expect.stringContaining("1 request of app 1001 met") });
  expect(ofNobody).toMatchObject({ kind: "rate_limited", of: "" });
  expect(fault).toMatchObject({
    kind: "fault",
    level: "notice",
    of: "1",
    text: expect.stringContaining("requests of listPersonas and has affected 0"),
  });
  await request("PUT", "clock", { now: NOW + 300 });
  expect(await alerts()).toEqual([fault]);
  await request("DELETE", "faults");
  expect(await alerts()).toEqual([]);
});

test("D-279: an alert of requests counts only the last five minutes, and one of a fault names the key's purpose and how it ends", async () => {
  const { request, plaza } = await openControl();
  await request("PUT", "clock", { now: NOW, frozen: true });
  const texts = async () => (await request("GET", "alerts")).body.data.map(({ text }: { text: string }) => text);
  const add = (seconds: number, more: Record<string, unknown>) => plaza.world.requests.add(entry({ time: (NOW + seconds) * 1000, ...more }));
  for (const seconds of [-301, -300, 1]) add(seconds, { status: 503 });
  for (const status of [200, 400, 428, 430, 499]) add(0, { status });
  expect(await texts()).toEqual([]);
  add(-299, { status: 500, operation: "readPage" });
  expect(await texts()).toEqual(["1 request failed in the last five minutes; the newest is readPage with 500."]);
  for (const seconds of [-299, 0]) add(seconds, { status: 429, app: undefined });
  expect((await texts()).slice(1)).toEqual([
    "2 requests of callers without an app met a rate limit in the last five minutes. Requests are served again when the limit recovers.",
  ]);
  expect((await request("GET", "alerts")).body.data.map(({ time }: { time: number }) => time)).toEqual([NOW - 299, NOW]);
  await request("PUT", "clock", { now: NOW + 600, frozen: true });
  for (const fault of [
    { operation: "*", status: 503 },
    { operation: "listLabels", status: 503, times: 2 },
    { webhook: "*", effect: "lose" },
    { webhook: "live_videos", effect: "lose" },
  ])
    await request("POST", "faults", fault);
  const end = "Somebody created it on purpose; it ends when you delete it";
  expect(await texts()).toEqual([
    `Fault 1 is in effect for any requests and has affected 0. ${end}.`,
    `Fault 2 is in effect for requests of listLabels and has affected 0. ${end} or when it is used up.`,
    `Fault 3 is in effect for any webhooks and has affected 0. ${end}.`,
    `Fault 4 is in effect for webhooks of live_videos and has affected 0. ${end}.`,
  ]);
});

test("D-279: a requested version that ends within 90 days is an alert, and a warning if requests are then refused", async () => {
  const DAY = 86_400;
  const marketing = [
    { version: 24, released: 0, until: NOW + 90 * DAY, affects: [] },
    { version: 25, released: 1_000, until: undefined, affects: [] },
  ];
  const calendar = { ...standardCalendar, platform: [{ version: 25, released: 0 }], marketing };
  const world = { apps: [{ id: "1001", created_time: 0, marketing_first_used_time: 1, auto_upgrade: true }] };
  const { request, plaza } = await openControl({ calendar, world });
  const operation = plaza.registry.endpoints.find(({ access }) => access.versions === "marketing")?.access.operation ?? "";
  await request("PUT", "clock", { now: NOW, frozen: true });
  const alerts = async () => (await request("GET", "alerts")).body.data;
  plaza.world.requests.add(entry({ operation, surface: "ads", path: "/v25.0/1001/x" }));
  expect(await alerts()).toEqual([]);
  for (const trace_id of ["A1", "A2"]) plaza.world.requests.add(entry({ trace_id, operation, surface: "ads", path: "/v24.0/1001/x" }));
  const text = `App 1001 requests v24.0 of ${operation}. That version ends on 2027-02-16; then v25.0 serves these requests.`;
  expect(await alerts()).toEqual([{ kind: "version_ends", level: "notice", of: "1001", time: NOW + 90 * DAY, text }]);
  await request("PATCH", "nodes/apps/1001", { auto_upgrade: false });
  expect(await alerts()).toMatchObject([{ level: "warning", text: expect.stringContaining("then these requests are refused") }]);
  await request("PUT", "clock", { now: NOW - 1, frozen: true });
  expect(await alerts()).toEqual([]);
});

test("D-279: alerts are part of the stream of requests if requested, and have a stream of their own", async () => {
  const { app, request } = await openControl();
  const streamed = async (path: string) => {
    const response = await app.request(`/v1/worlds/default/${path}`, { headers: { authorization: `Bearer ${KEY}`, accept: "text/event-stream" } });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (;;) {
      const [, data] = /^event: alerts\ndata: (.*)$/m.exec(new TextDecoder().decode((await reader.read()).value)) ?? [];
      if (data === undefined) continue;
      await reader.cancel();
      return JSON.parse(data);
    }
  };
  await request("POST", "faults", { operation: "*", status: 503 });
  const { body } = await request("GET", "alerts");
  expect(body.data).toHaveLength(1);
  expect(await streamed("alerts")).toEqual(body);
  expect(await streamed("requests/stream?alerts=true")).toEqual(body);
});

test("D-341: a problem of the database is the first alert, with its cause", async () => {
  const problem = { kind: "disk_full", text: "The disk is full.", cause: "no space", since_ms: NOW * 1_000, last_ms: NOW * 1_000 } as const;
  const problems = [{ ...problem, count: 1 }, { ...problem, kind: "locked", count: 7 } as const];
  const { request } = await openControl({}, { databaseProblems: async () => problems });
  await request("POST", "faults", { operation: "*", status: 503 });
  expect((await request("GET", "alerts")).body.data).toMatchObject([
    {
      ...{ kind: "database_disk_full", level: "error", of: "database" },
      text: "The disk is full. 1 request met this problem since 2026-11-18T11:06:40.000Z; the last error: no space",
    },
    { kind: "database_locked", text: expect.stringContaining("7 requests met this problem since") },
    { kind: "fault" },
  ]);
});

onEachDatabase("D-345: jobs that fail", (database) => {
  test("are alerts from the second failure on, the most failures first, with their last error and their next run", async () => {
    const { plaza, request, app } = await openControl({ database });
    const due_ms = (NOW + 600) * 1_000;
    const failed = (key: string, attempts: number) =>
      plaza.world.database.write((tx) =>
        tx.runOne(sql`
          INSERT INTO jobs (kind, key, share, due_ms, payload, attempts, fence, last_error)
          VALUES ('feed_ingestion', ${key}, '', ${due_ms}, 'null', ${attempts}, 0, ${`it broke ${attempts} times`})`),
      );
    await failed("8101", 1);
    await failed("8102", 2);
    await failed("8103", 3);
    const text = (key: string, count: number) =>
      `The job feed ingestion of ${key} has failed ${count} times, and runs again at 2026-11-18T11:16:40.000Z of the world's time. The last error: it broke ${count} times`;
    expect((await request("GET", "alerts")).body.data).toEqual([
      { kind: "job_failing", level: "error", of: "8103", text: text("8103", 3) },
      { kind: "job_failing", level: "warning", of: "8102", text: text("8102", 2) },
    ]);
    expect(await (await app.request("/metrics")).text()).toContain(`plaza_jobs_failing{world="${plaza.world.name}"} 2`);
  });
});
