/** The control API of a world in the test's own process, without a socket. Each request and response is checked by the API's own document. */
import { expect } from "bun:test";
import { type ControlAppOptions, controlApp } from "#control/app";
import type { Registry } from "#graph/contract/registry";
import type { OpenWorld } from "#graph/worlds/open-world";
import { Health } from "#http/routes/health";
import type { PageGuard } from "#kernel/page-guard";
import { monotonicMs, processFacts, randomHex, sleepMs, tokenValue } from "#system";
import { metricsReport } from "#telemetry/metrics-report";
import { RequestMetrics } from "#telemetry/request-metrics";
import { ControlDocument } from "../openapi/control-document.ts";
import { openPlaza, type PlazaOptions, type TestPlaza } from "./plaza.ts";

export const KEY = "control-key-of-the-test";
const CAFE = {
  users: [{ id: "3001", name: "Ada" }],
  apps: [{ id: "1001", name: "Shop", secret: "s3cret", created_time: 1_767_225_600 }],
  pages: [{ id: "2001", name: "Cafe", people: [{ psid: "9001", name: "Guest" }], roles: [{ user: "3001", tasks: ["MESSAGING"] }] }],
  labels: [
    { id: "5001", page: "2001", name: "vip", users: ["9001"] },
    { id: "5002", page: "2001", name: "regular" },
    { id: "5003", page: "2001", name: "late" },
  ],
  tokens: [{ token: "page-token", type: "page", app: "1001", page: "2001", scopes: ["pages_messaging"] }],
};

const DESCRIBED = {
  sandbox: true,
  base_url: "http://127.0.0.1:4000",
  app_base_url: "http://127.0.0.1:4000/app",
  microblog_base_url: "http://127.0.0.1:4000/microblog/v1.0",
  ads_base_url: "http://127.0.0.1:4000/ads",
  social_login_host: "http://127.0.0.1:4000/social-login",
};

export const SERVED: ControlAppOptions["deps"]["server"] = {
  ...{ version: "1.2.3", pid: 4711, startedMs: 1_795_000_000_500, base_url: DESCRIBED.base_url, sandbox: true, processes: 1 },
  data: "memory",
  drain_delay_ms: 0,
  stop: () => {},
};

/** The documents of the control API, by the features that they describe, because each test has a registry of its own. */
const documents = new Map<string, ControlDocument>();

function documentOf(registry: Registry): ControlDocument {
  const features = registry.features.map(({ name }) => name).join();
  const document = documents.get(features) ?? new ControlDocument(registry);
  documents.set(features, document);
  return document;
}

function jsonOf(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}

const held = (world: OpenWorld, name: string) => (name === "default" ? { world, leave: () => {}, onReplaced: () => () => {} } : undefined);

/** The worlds of a server that has only one world. */
const loneWorld = (world: OpenWorld): ControlAppOptions["deps"]["worlds"] => ({
  default: world,
  open: () => [world].values(),
  unserved: () => [],
  hold: async (name) => held(world, name),
  holdIf: async (name) => held(world, name),
  list: async () => ({ rows: [], hasPrevious: false, hasNext: false }),
  make: async () => false,
  delete: async () => false,
  databases: () => [],
  databaseOf: () => undefined,
  place: async (name) => ({ name, database: null }),
  move: async () => false,
  saveSnapshot: async () => undefined,
  listSnapshots: async () => undefined,
  deleteSnapshot: async () => undefined,
  restoreSnapshot: async () => undefined,
  reset: async () => undefined,
});

interface Response {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any response.
  readonly body: any;
}

export async function openControl(options: PlazaOptions = {}, more: Partial<ControlAppOptions["deps"]> = {}, pages?: PageGuard) {
  const plaza = await openPlaza({ world: CAFE, ...options });
  const unexpected: unknown[] = [];
  const served: ControlAppOptions = {
    key: KEY,
    pages,
    deps: {
      registry: plaza.registry,
      worlds: loneWorld(plaza.world),
      servesGraph: true,
      describeServer: () => DESCRIBED,
      mintTokenValue: tokenValue,
      ...{ audit: { days: 365, reads: false }, newRandom: randomHex },
      onTimeMoved: [],
      databaseProblems: async () => [],
      ...{ server: SERVED, ending: new AbortController().signal },
      realTime: { nowMs: () => plaza.time.realMs, monotonicMs, sleepMs },
      ...more,
    },
    health: new Health(() => plaza.world.database.ping()),
    readMetrics: () => metricsReport(processFacts("main"), new RequestMetrics(), { lagP99Ms: 0, holds: [] }, [plaza.world]),
    onUnexpected: (error) => unexpected.push(error),
  };
  const appOf = () => controlApp(served);
  const requestOf =
    (app: ReturnType<typeof appOf>) =>
    async (method: string, path: string, body?: unknown, key: string | undefined = KEY): Promise<Response> => {
      const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
      const headers: Record<string, string> = key === undefined || key === "" ? {} : { authorization: `Bearer ${key}` };
      const url = path.startsWith("/") ? path : `/v1/worlds/default/${path}`;
      const response = await app.request(url, {
        method,
        headers,
        ...(text === undefined ? {} : { body: text }),
      });
      expect(unexpected).toEqual([]);
      const result = (await response.json()) as Response["body"];
      const exchange = { method, url, sent: jsonOf(text), status: response.status, received: result };
      expect({ exchange, problem: documentOf(plaza.registry).problemOf(exchange) }).toEqual({ exchange, problem: undefined });
      // The code does not use toMatchObject, because it puts matchers such as expect.any into the received value.
      if (response.status >= 400) {
        const { code, message } = result.error;
        expect({ code: typeof code, message: typeof message }).toEqual({ code: "string", message: "string" });
      }
      return { status: response.status, body: result };
    };
  const app = appOf();
  /** Starts another server on the same data with the same configuration. */
  const restart = () => ({ request: requestOf(appOf()) });
  return { plaza, app, served, request: requestOf(app), restart };
}

export const labelsOf = (plaza: TestPlaza, token = "page-token") => plaza.get("/v26.0/2001/custom_labels", { token });
