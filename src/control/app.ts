/** The control API as a Hono application: key, body, query, handler, response (operating.md: Control API). */
import { type Context, Hono } from "hono";
import type { TSchema } from "typebox";
import { bodyBytes } from "#control-contract/body-bytes";
import { badRequest, bodyOf, ControlError, controlCodes, controlErrorOf, notFound } from "#control-contract/errors";
import type { CallerKey, ControlDeps, ControlRequest, ControlRoute } from "#control-contract/route";
import type { Registry } from "#graph/contract/registry";
import { parametersReader } from "#graph/pipeline/parameters";
import { entryReader } from "#graph/worlds/file/entry-reader";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { DEFAULT_WORLD } from "#graph/worlds/hosting/world-names";
import { GraphError } from "#kernel/errors";
import type { PageGuard } from "#kernel/page-guard";
import { isStorableText } from "#kernel/text";
import type { MetricsSource } from "#telemetry/merged-metrics";
import { home, isBrowser } from "./home.ts";
import { ControlKeys } from "./keys.ts";
import { METRICS_TYPE, metricsText } from "./metrics.ts";
import { openapiOf } from "./openapi.ts";
import { controlRoutes } from "./routes.ts";

/** A node with its longest list: a page with 10,000 people is some 600 kB. */
const JSON_BYTES_MAX = 16 * 1024 * 1024;
/** A world file of some millions of labels. */
const WORLD_FILE_BYTES_MAX = 256 * 1024 * 1024;

/** Of the body of any route, a feature's file included. */
export const largestBodyBytes = (registry: Registry): number =>
  Math.max(WORLD_FILE_BYTES_MAX, ...controlRoutes(registry).map(({ fileBytesMax = 0 }) => fileBytesMax));

export interface ControlAppOptions {
  readonly deps: ControlDeps;
  readonly key: string;
  /** D-240. Left out: every web page may send requests. */
  readonly pages?: PageGuard | undefined;
  /** Clients reach it over TLS: links begin with `https`. */
  readonly isTls?: boolean;
  /** Metrics of the graph's requests, in all processes. */
  readMetrics(): MetricsSource;
  onUnexpected(error: unknown, operation: string): void;
}

type WithKey = { Variables: { key: CallerKey } };

export function controlApp(options: ControlAppOptions): Hono<WithKey> {
  const { deps } = options;
  const app = new Hono<WithKey>();
  const routes = controlRoutes(deps.registry);
  const keys = new ControlKeys(options.key, () => deps.worlds.default.database.reader, deps.realTime.nowMs);
  const originOf = (c: Context<WithKey>): string => `${options.isTls === true ? "https" : "http"}://${new URL(c.req.url).host}`;

  app.get("/", (c) => (isBrowser(c) ? home(c) : c.notFound()));
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", (c) => ready(c, deps));
  app.get("/metrics", async (c) => c.body(await metricsText(options.readMetrics(), deps.worlds.open()), 200, { "content-type": METRICS_TYPE }));
  app.get("/v1/openapi.json", (c) => c.json(openapiOf(routes, sectionsOf(deps.registry), originOf(c))));

  app.use("/v1/*", async (c, next) => {
    // HTTP/1.0 may leave it out, and no browser does.
    const host = c.req.header("host") ?? "localhost";
    const problem = options.pages?.refusalOf({ method: c.req.method, host, header: (name) => c.req.header(name) });
    if (problem !== undefined) throw new ControlError("forbidden", problem);
    return next();
  });
  app.use("/v1/*", async (c, next) => {
    const given = /^bearer +(\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
    const key = given === undefined ? undefined : await keys.find(given);
    if (key === undefined) {
      c.header("WWW-Authenticate", "Bearer");
      return c.json(bodyOf(new ControlError("unauthorized", "the control key is needed: Authorization: Bearer {control_key}")), 401);
    }
    if (key.access === "read" && c.req.method !== "GET" && c.req.method !== "HEAD") throw new ControlError("forbidden", "this key may only read");
    c.set("key", key);
    return next();
  });
  for (const route of routes) {
    const serve = handlerOf(route, deps, originOf);
    app.on(route.method, route.path.replaceAll(/\{(\w+)\}/g, ":$1"), serve);
  }
  app.notFound((c) => c.json(bodyOf(notFound(`${c.req.method} ${c.req.path}`)), 404));
  app.onError((thrown, c) => {
    const error = controlErrorOf(thrown) ?? new ControlError("internal_error", "an unexpected error; the log says more");
    if (error.code === "internal_error") options.onUnexpected(thrown, `${c.req.method} ${c.req.routePath}`);
    return c.json(bodyOf(error), controlCodes[error.code]);
  });
  return app;
}

/** The database can be reached: a load balancer may send requests. */
async function ready(c: Context, { worlds }: ControlDeps): Promise<Response> {
  try {
    await worlds.default.database.ping();
    return c.json({ status: "ready" });
  } catch {
    return c.json(bodyOf(new ControlError("unavailable", "the database cannot be reached")), 503);
  }
}

function handlerOf(route: ControlRoute, deps: ControlDeps, originOf: (c: Context<WithKey>) => string): (c: Context<WithKey>) => Promise<Response> {
  const readQuery = route.query === undefined ? () => ({}) : parametersReader(route.query);
  return async (c) => {
    const path = c.req.param() as Record<string, string>;
    // Nothing has such a name, and PostgreSQL refuses a query with it.
    if (!Object.values(path).every(isStorableText)) throw notFound(`${c.req.method} ${new URL(c.req.url).pathname}`);
    const held = await deps.worlds.hold(route.isAboutWorld === true ? DEFAULT_WORLD : (path.w ?? DEFAULT_WORLD));
    if (held === undefined) throw notFound(`world ${path.w}`);
    try {
      const request: ControlRequest = {
        deps,
        key: c.get("key"),
        world: held.world,
        path,
        query: queryOf(readQuery, c.req.query()),
        body: await readBody(route.body, c.req.raw),
        url: originOf(c) + new URL(c.req.url).pathname,
        header: (name) => c.req.header(name),
      };
      const response = await route.handle(request);
      return response instanceof Response ? response : c.json(response, route.status ?? 200);
    } finally {
      held.leave();
    }
  };
}

/** Values of a query are text, which the graph's own reader takes as what the schema says. */
function queryOf(read: (source: Record<string, unknown>) => unknown, source: Record<string, string>): unknown {
  try {
    return read(source);
  } catch (error) {
    if (!(error instanceof GraphError)) throw error;
    const { parameter } = error.details.data ?? {};
    throw badRequest(error.message.replace(/^\(#\d+\) Param /, ""), typeof parameter === "string" ? parameter : undefined);
  }
}

async function readBody(body: TSchema | "text" | "entry" | "file" | undefined, request: Request): Promise<unknown> {
  if (body === undefined) return undefined;
  if (body === "file") return request;
  const text = decode(await bodyBytes(request, body === "text" ? WORLD_FILE_BYTES_MAX : JSON_BYTES_MAX));
  if (body === "text") return text;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badRequest("the body is not valid JSON");
  }
  return body === "entry" ? value : entryReader(body)(value);
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw badRequest("the body is not valid UTF-8");
  }
}
