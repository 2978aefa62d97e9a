import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { get as getLabel, labels, PAGE, post as postLabel, world } from "../harness/data.ts";
import { applyLoad, type LoadRequest } from "../harness/load.ts";
import { residentMegabytes } from "../harness/machine.ts";
import type { Absolute, Bench, Metric } from "../harness/report.ts";
import { ask } from "../harness/responses.ts";
import { LABELS_UNLIMITED, type Server, startPeer, startPlaza } from "../harness/server.ts";
import { type Spread, spreadOf } from "../harness/statistics.ts";

/** The number of connections with which a test suite or a front end uses a stand-in. */
const CONNECTIONS = 10;
const IDLE_MS = 1_000;
/** The folder with the installed peers, which later runs use again. */
const INSTALLED = join(tmpdir(), "plaza-bench-peers");

interface Peer {
  /** The name of the peer, with its version. */
  readonly name: string;
  /** The command that installs the peer into `INSTALLED`. */
  readonly install: readonly string[];
  /** The command that starts the peer. `folder` is an empty folder for the peer's files. */
  command(port: number, folder: string): readonly string[];
  /** The read of one object, and the creation of an object. */
  readonly get: LoadRequest;
  readonly post: LoadRequest;
  /** Requests that create the object that `get` reads, or describe the responses. */
  readonly setUp?: readonly LoadRequest[];
}

const npm = (spec: string): string[] => ["npm", "install", "--no-audit", "--no-fund", "--prefix", INSTALLED, spec];
const program = (name: string): string => join(INSTALLED, "node_modules", ".bin", name);
const inFile = (folder: string, name: string, value: unknown): string => {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(value));
  return file;
};

const json = { "Content-Type": "application/json" };
const read = (target: string): LoadRequest => ({ method: "GET", target, headers: json });
const create = (target: string, body: string, headers: Readonly<Record<string, string>> = json): LoadRequest => ({
  ...{ method: "POST", target, headers, body },
  number: { kind: "counted", first: 1 },
});
const label = { id: 1, name: "label 1" };
const stripe = { Authorization: "Bearer sk_test_123", "Content-Type": "application/x-www-form-urlencoded" };
const stripeCustomers = create("/v1/customers", "name=label+{number}", stripe);
/** emulate allows 5,000 requests for each token, so each request has another token. */
const manyTokens = { ...stripe, Authorization: "Bearer sk_test_{number}" };
const emulateCustomers = create("/v1/customers", "name=label", manyTokens);
const labelSchema = { type: "object", properties: { id: { type: "integer" }, name: { type: "string" } }, required: ["id", "name"], example: label };
const answerOf = (status: string) => ({ [status]: { description: "a label", content: { "application/json": { schema: labelSchema } } } });
const openApi = {
  openapi: "3.1.0",
  info: { title: "labels", version: "1" },
  paths: {
    "/labels/{id}": {
      parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }],
      get: { responses: answerOf("200") },
    },
    "/labels": {
      post: { requestBody: { content: { "application/json": { schema: { type: "object" } } } }, responses: answerOf("201") },
    },
  },
};
const mockoonRoute = (uuid: string, method: string, endpoint: string, statusCode: number) => ({
  ...{ uuid, type: "http", documentation: "", method, endpoint, responseMode: null, streamingMode: null, streamingInterval: 0 },
  responses: [
    {
      ...{ uuid: `${uuid}-response`, body: JSON.stringify(label), latency: 0, statusCode, label: "", headers: [], bodyType: "INLINE", filePath: "" },
      ...{ databucketID: "", sendFileAsBody: false, rules: [], rulesOperator: "OR", disableTemplating: true, fallbackTo404: false, default: true },
      ...{ crudKey: "id", callbacks: [] },
    },
  ],
});
const mockoon = {
  ...{ uuid: "labels", lastMigration: 33, name: "labels", endpointPrefix: "", latency: 0, port: 3000, hostname: "127.0.0.1", folders: [] },
  routes: [mockoonRoute("get", "get", "labels/1", 200), mockoonRoute("post", "post", "labels", 201)],
  rootChildren: [
    { type: "route", uuid: "get" },
    { type: "route", uuid: "post" },
  ],
  ...{
    proxyMode: false,
    proxyHost: "",
    proxyRemovePrefix: false,
    cors: false,
    headers: [],
    proxyReqHeaders: [],
    proxyResHeaders: [],
    data: [],
    callbacks: [],
  },
  tlsOptions: { enabled: false, type: "CERT", pfxPath: "", certPath: "", keyPath: "", caPath: "", passphrase: "" },
};
const wiremockStub = (method: string, urlPath: string, status: number): LoadRequest => ({
  ...{ method: "POST", target: "/__admin/mappings", headers: json },
  body: JSON.stringify({ request: { method, urlPath }, response: { status, jsonBody: label, headers: json } }),
});

const peers: readonly Peer[] = [
  {
    name: "json-server 0.17.4",
    install: npm("json-server@0.17.4"),
    command: (port, folder) => [program("json-server"), "--quiet", "--port", `${port}`, inFile(folder, "db.json", { labels: [label] })],
    get: read("/labels/1"),
    post: create("/labels", '{"name":"label {number}"}'),
  },
  {
    name: "emulate 0.11.0 (Stripe)",
    install: npm("emulate@0.11.0"),
    command: (port) => [program("emulate"), "--service", "stripe", "--port", `${port}`],
    get: { method: "GET", target: "/v1/customers?limit=1", headers: manyTokens, number: { kind: "random", first: 1, amount: 10_000_000 } },
    post: emulateCustomers,
    setUp: [emulateCustomers],
  },
  {
    name: "Prism 5.16.0",
    install: npm("@stoplight/prism-cli@5.16.0"),
    command: (port, folder) => [program("prism"), "mock", "--verboseLevel", "silent", "--port", `${port}`, inFile(folder, "openapi.json", openApi)],
    get: read("/labels/1"),
    post: create("/labels", '{"name":"label {number}"}'),
  },
  {
    name: "Mockoon 9.9.0",
    install: npm("@mockoon/cli@9.9.0"),
    command: (port, folder) => [
      ...[program("mockoon-cli"), "start", "--disable-log-to-file", "--max-transaction-logs", "0", "--port", `${port}`],
      ...["--data", inFile(folder, "mockoon.json", mockoon)],
    ],
    get: read("/labels/1"),
    post: create("/labels", '{"name":"label {number}"}'),
  },
  {
    name: "WireMock 3.13.2",
    install: npm("wiremock@3.13.2"),
    command: (port, folder) => [
      ...["sh", "-c", `exec java -jar "$(ls ${INSTALLED}/node_modules/wiremock/build/*.jar)" "$@"`, "wiremock"],
      ...["--port", `${port}`, "--root-dir", folder, "--no-request-journal", "--disable-banner"],
    ],
    get: read("/labels/1"),
    post: create("/labels", '{"name":"label {number}"}'),
    setUp: [wiremockStub("GET", "/labels/1", 200), wiremockStub("POST", "/labels", 201)],
  },
  {
    name: "stripe-mock 0.197.0",
    install: ["env", `GOBIN=${INSTALLED}`, "go", "install", "github.com/stripe/stripe-mock@v0.197.0"],
    command: (port) => [join(INSTALLED, "stripe-mock"), "-http-port", `${port}`],
    get: { method: "GET", target: "/v1/customers/cus_123", headers: stripe },
    post: stripeCustomers,
  },
];

/** The measurements of one server in one round. */
interface Measured {
  readonly first_ms: number;
  readonly idle_mb: number;
  readonly loaded_mb: number;
  readonly gets: number;
  readonly posts: number;
}

const plazaLabel = `123456789200000000`;
const plazaWorld = world({ labels: [...labels(1)] });
/** The ways in which Plaza stores its data: in files, durably, and in memory, as the peers do. */
const stores: ReadonlyMap<string, { readonly data?: string }> = new Map([
  ["Plaza", {}],
  ["Plaza, data in memory", { data: ":memory:" }],
]);
const plazaGet = getLabel(`${plazaLabel}?fields=id,page_label_name`);
const plazaPost: LoadRequest = {
  ...postLabel(`${PAGE}/custom_labels`, '{"page_label_name":"label {number}"}'),
  number: { kind: "counted", first: 1 },
};

async function measure(
  start: () => Promise<Server>,
  get: LoadRequest,
  post: LoadRequest,
  setUp: readonly LoadRequest[],
  seconds: number,
): Promise<Measured> {
  const server = await start();
  try {
    for (const request of setUp) await ask(server, request);
    const { status, text } = await ask(server, get);
    if (status !== 200) throw new Error(`${server.name}: ${status} ${text}`);
    await Bun.sleep(IDLE_MS);
    const idle_mb = residentMegabytes(server.pid);
    // The first load warms the server up, so that all servers are measured with compiled code.
    await applyLoad(server, get, { connections: CONNECTIONS, seconds });
    const gets = await applyLoad(server, get, { connections: CONNECTIONS, seconds });
    const posts = await applyLoad(server, post, { connections: CONNECTIONS, seconds });
    const loaded_mb = residentMegabytes(server.pid);
    return { first_ms: server.ready_ms, idle_mb, loaded_mb, gets: gets.requests_per_second, posts: posts.requests_per_second };
  } finally {
    await server.stop();
  }
}

/** Installs the peer. Returns false if it cannot be had on this machine. */
async function isInstalled({ name, install }: Peer): Promise<boolean> {
  const child = Bun.spawn([...install], { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const [errors, code] = await Promise.all([child.stderr.text(), child.exited]);
  if (code !== 0) console.log(`  ${name} is left out, because it could not be installed: ${errors.trim().split("\n").at(-1)}`);
  return code === 0;
}

export const bench: Bench = {
  summary: `Other stand-ins beside Plaza, over ${CONNECTIONS} connections. Plaza checks three tokens of each request, and stores each created object durably; WireMock, Mockoon, Prism and stripe-mock send fixed responses; emulate keeps objects in memory, and json-server writes one file. Each server reads one object, and creates objects.`,
  async run({ rounds, seconds }) {
    mkdirSync(INSTALLED, { recursive: true });
    const found: Peer[] = [];
    for (const peer of peers) if (await isInstalled(peer)) found.push(peer);
    const measured = new Map<string, Measured[]>();
    const failed = new Set<string>();
    const add = (name: string, one: Measured) => measured.set(name, [...(measured.get(name) ?? []), one]);
    for (let round = 0; round < rounds; round++) {
      for (const [name, store] of stores) {
        add(name, await measure(() => startPlaza({ world: plazaWorld, settings: LABELS_UNLIMITED, ...store }), plazaGet, plazaPost, [], seconds));
      }
      for (const { name, command, get, post, setUp = [] } of found.filter((peer) => !failed.has(peer.name))) {
        try {
          add(name, await measure(() => startPeer(name, command, setUp[0] ?? get), get, post, setUp, seconds));
        } catch (error) {
          failed.add(name);
          measured.delete(name);
          console.log(`  ${name} is left out: ${String(error)}`);
        }
      }
    }
    return resultOf(measured);
  },
};

function resultOf(measured: ReadonlyMap<string, readonly Measured[]>): { metrics: Metric[]; absolute: Absolute[] } {
  const spread = (name: string, value: (one: Measured) => number): Spread => spreadOf((measured.get(name) ?? []).map(value));
  const fastest = (value: (one: Measured) => number): number =>
    Math.max(...[...measured.keys()].filter((name) => !stores.has(name)).map((name) => spread(name, value).median));
  const against = (name: string, plaza: string, value: (one: Measured) => number): Metric => ({
    name,
    ...spread(plaza, (one) => value(one) / fastest(value)),
    goal: { at_least: 1 },
  });
  return {
    metrics: [
      against("GET/s (Plaza divided by the fastest peer)", "Plaza", ({ gets }) => gets),
      against("POST/s (Plaza with data in memory divided by the fastest peer)", "Plaza, data in memory", ({ posts }) => posts),
    ],
    absolute: [...measured.keys()].flatMap((name) => [
      { name: `${name}: GET/s`, unit: "/s", ...spread(name, ({ gets }) => gets) },
      { name: `${name}: POST/s`, unit: "/s", ...spread(name, ({ posts }) => posts) },
      { name: `${name}: first response`, unit: "ms", ...spread(name, ({ first_ms }) => first_ms) },
      { name: `${name}: memory when idle`, unit: "MB", ...spread(name, ({ idle_mb }) => idle_mb) },
      { name: `${name}: memory after the load`, unit: "MB", ...spread(name, ({ loaded_mb }) => loaded_mb) },
    ]),
  };
}
