/** The requests and the output of `plaza status`. */
import { expect, test } from "bun:test";
import { type Asked, controlStub } from "#harness/cli/control-stub";
import { written } from "#harness/cli/printed";
import { temporaryFolder } from "#harness/server";
import { NO_SERVER } from "../control-client.ts";
import { status } from "./status.ts";

const SERVER = {
  version: "1.2.3",
  ...{ pid: 77, started_at: 1_795_000_000, base_url: "http://g:1", control_url: "http://wrong", data: "sqlite", sandbox: true, processes: 1 },
};
const WORLDS = [
  { name: "default", profile: "strict", empty: true },
  { name: "orders", profile: "clients", empty: false },
];
const CALLBACKS = [
  { url: "http://ok/", status: "working", more: 1 },
  { url: "http://no/", status: "failing", more: 1 },
];
const ALERTS = [
  { kind: "callback_failing", level: "warning", text: "callback" },
  { kind: "fault", level: "notice", text: "a \u001b[31mfault" },
];

const UNSERVED = [
  { kind: "edge", name: "page/insights", method: "GET", count: 3, apps: ["1001", "1002"], first_time: 1, last_time: 2, trace_id: "AbC" },
  { kind: "field", name: "nmae", of: "page", did_you_mean: "name", count: 1, apps: ["1001"], first_time: 1, last_time: 2, trace_id: "DeF" },
  { kind: "version", name: "v\u001b9.0", count: 1, apps: [], first_time: 1, last_time: 2, trace_id: "GhI" },
];

const responses =
  (more: object = {}, isReady = true) =>
  ({ path }: Asked): unknown => {
    if (path === "/v1/server") return { ...SERVER, ...more };
    if (path === "/readyz") return new Response(null, { status: isReady ? 200 : 503 });
    if (path === "/v1/worlds") return { data: WORLDS };
    if (path === "/v1/worlds/default/callbacks?limit=1000") return { data: CALLBACKS };
    if (path === "/v1/worlds/default/alerts") return { data: ALERTS };
    if (path === "/v1/worlds/default/unserved") return { data: UNSERVED, others: 0 };
    return Response.json({ error: { message: `nobody knows ${path}` } }, { status: 404 });
  };

test("a ready server: its worlds, failing callbacks, and other alerts", async () => {
  const { given, url } = controlStub(responses());
  const streams = written();
  expect(await status(given)).toBe(0);
  expect(streams).toEqual({
    out: `Plaza 1.2.3 runs
  process      77, since 2026-11-18T11:06:40.000Z
  graph        http://g:1
  control API  ${url}/v1
  data         sqlite, a sandbox
  world        default: strict, empty
  world        orders: clients
  callback     http://no/: failing
  notice       a \\u001b[31mfault
  not served   GET page/insights, 3 times, by the apps 1001, 1002 (trace AbC)
  not served   the field nmae of page, once, by app 1001; did you mean name? (trace DeF)
  not served   the version v\\u001b9.0, once (trace GhI)
`,
    err: "",
  });
});

test("several processes are counted, and data without a sandbox is not called one", async () => {
  const { given } = controlStub(responses({ processes: 2, sandbox: false }));
  const streams = written();
  await status(given);
  expect(streams.out).toContain("\n  process      77, since 2026-11-18T11:06:40.000Z, 2 processes\n");
  expect(streams.out).toContain("\n  data         sqlite\n");
});

test("--json prints everything on one line", async () => {
  const { given, url } = controlStub(responses());
  const streams = written();
  expect(await status({ ...given, json: true })).toBe(0);
  expect(streams.out.split("\n")).toHaveLength(2);
  expect(JSON.parse(streams.out)).toEqual({
    ...{ ...SERVER, control_url: `${url}/v1`, ready: true, worlds: WORLDS, alerts: ALERTS, unserved: UNSERVED },
    callbacks: [{ url: "http://no/", status: "failing" }],
  });
});

test("D-341: a server without its database says so and why, is asked nothing that needs it, and is a failure", async () => {
  const { given, asked } = controlStub(responses({}, false));
  const streams = written();
  expect(await status(given)).toBe(1);
  expect(streams.out).toStartWith("Plaza 1.2.3 runs, but it cannot use its database\n  process");
  expect(asked.map(({ path }) => path)).toEqual(["/v1/server", "/readyz", "/v1/worlds/default/alerts", "/v1/worlds/default/unserved"]);
  expect(streams.out).toContain("  notice       a \\u001b[31mfault\n");
  Object.assign(streams, { out: "" });
  expect(await status({ ...given, json: true })).toBe(1);
  expect(JSON.parse(streams.out)).toMatchObject({ ready: false, worlds: [], callbacks: [], alerts: ALERTS });
});

test("D-339: no server on the data is wrong use, as with every command; a refusing server is a failure; each is one line", async () => {
  const streams = written();
  expect(await status({ data: temporaryFolder() })).toBe(2);
  expect(streams).toEqual({ out: "", err: `plaza: --control-url: ${NO_SERVER}\n` });
  Object.assign(streams, { err: "" });
  const { given } = controlStub(() => Response.json({ error: { message: "the control key is wrong" } }, { status: 401 }));
  expect(await status(given)).toBe(1);
  expect(streams).toEqual({ out: "", err: "plaza: the control key is wrong\n" });
});
