/** Makes the Hono application of the control API, which checks keys, reads bodies and queries, and calls handlers (docs/operating/control-api.md). */
import { timingSafeEqual } from "node:crypto";
import { type Context, Hono, type MiddlewareHandler, type Next } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { getPath } from "hono/utils/url";
import { type ControlKeyRow, findControlKey, hasBoundKeys } from "#auth/control-keys.store";
import { hashOf } from "#auth/tokens";
import { badRequest, bodyOf, ControlError, controlCodes, controlErrorOf, forbidden, notFound } from "#control-contract/errors";
import { EVENT_STREAM, progressStream, wantsEvents } from "#control-contract/event-stream";
import type { CallerKey, ControlDeps, ControlRequest, ControlRoute } from "#control-contract/route";
import { parametersReader } from "#graph/pipeline/parameters";
import { sectionsOf } from "#graph/worlds/file/import-export";
import type { HeldWorld } from "#graph/worlds/hosting/world-slot";
import { DEFAULT_WORLD } from "#graph/worlds/hosting/worlds.store";
import type { OpenWorld } from "#graph/worlds/open-world";
import type { Health } from "#http/routes/health";
import { wholeResponse } from "#http/web";
import { BoundedMap } from "#kernel/bounded-map";
import { GraphError, isUnreachable } from "#kernel/errors";
import type { PageGuard } from "#kernel/page-guard";
import { hideAddressSecrets } from "#kernel/redaction/addresses";
import { isStorableText } from "#kernel/text";
import type { Reader } from "#storage/database";
import type { MetricsReport } from "#telemetry/metrics-report";
import { type AlertLog, featureAlerts } from "./alert-log.ts";
import { Audit } from "./audit.ts";
import type { Endpoint } from "./client/requests.ts";
import { consoleFiles, consolePage, referenceFiles, referencePage } from "./console.ts";
import { home, isBrowser } from "./home.ts";
import type { McpMount } from "./mcp/mount.ts";
import { METRICS_TYPE, metricsText } from "./metrics.ts";
import { readBody } from "./request-body.ts";
import { controlRoutes } from "./routes.ts";

export interface ControlAppOptions {
  /** The log of alerts while the API listens; undefined if the API runs for a single command. */
  readonly alerts?: AlertLog;
  readonly deps: ControlDeps;
  readonly key: string;
  /** D-240: the web pages that may send requests; undefined if every web page may send requests. */
  readonly pages?: PageGuard | undefined;
  readonly health: Health;
  /** Reads the metrics of all processes. */
  readMetrics(): MetricsReport | Promise<MetricsReport>;
  onUnexpected(error: unknown, operation: string): void;
}

type WithKey = { Variables: { key: CallerKey } };

const KEY_NEEDED = "send the control key: Authorization: Bearer {control_key}";
const KEY_WRONG = "the control key is wrong or was replaced: send the key that plaza start prints";

/** The paths of the text pages. */
const TEXT_PAGES = ["/llms.txt", "/:folder{llms|guides|interface|recipes|operating|reference|decisions}/:page{.+\\.md}"];

export function controlApp(options: ControlAppOptions): Hono<WithKey> {
  const { deps } = options;
  const app = new Hono<WithKey>({ getPath: (request) => pathIn(getPath(request)) });
  const routes = controlRoutes(deps.registry);
  const audit = new Audit(deps);
  const keys = new ControlKeys(options.key, () => deps.worlds.default.database.reader, deps.realTime.nowMs);

  for (const path of TEXT_PAGES) app.get(path, textHandler(deps));
  app.get("/assets/*", (c) => consoleFiles.file(c));
  app.get("/reference/*", (c) => referenceFiles.file(c));
  app.on("GET", ["/docs", "/docs/"], (c) => referencePage(deps.describeServer(new URL(c.req.url).hostname)));
  app.get("/healthz", (c) => json(c, { status: "ok" }));
  app.get("/readyz", (c) => ready(c, options.health, deps));
  app.get("/v1/openapi.json", async (c) => {
    const { openapiOf } = await import("./openapi/document.ts");
    return json(c, openapiOf(routes, sectionsOf(deps.registry), new URL(c.req.url).origin));
  });
  for (const path of ["/metrics", "/v1/*", "/mcp"]) {
    app.use(path, async (c, next) => {
      // An HTTP/1.0 client may leave out the header `Host`, but browsers always send the header.
      const host = c.req.header("host") ?? "localhost";
      const problem = options.pages?.refusalOf({ method: c.req.method, host, header: (name) => c.req.header(name) });
      if (problem !== undefined) throw new ControlError("forbidden", problem);
      return next();
    });
  }
  app.get("/metrics", (c) => metricsPage(c, options, keys));

  const refusalOf: RefusalOf = (thrown, operation) => {
    const error = controlErrorOf(thrown) ?? new ControlError("internal_error", "an unexpected error; see the log of the server");
    if (error.code === "internal_error") options.onUnexpected(thrown, operation);
    return error;
  };
  const serve = (open: boolean): void => {
    const own = routes.filter(({ needsNoKey = false }) => needsNoKey === open);
    for (const route of own)
      app.on(route.method, route.path.replaceAll(/\{(\w+)\}/g, ":$1"), audited(route, audit, handlerOf(route, deps, refusalOf)));
    app.all("/v1/*", (c, next) => {
      const methods = methodsAt(c.req.path, own);
      if (methods === "") return next();
      c.header("Allow", methods);
      throw new ControlError("method_not_allowed", `${c.req.path} takes ${methods}`);
    });
  };
  serve(true);
  const requireKey: MiddlewareHandler<WithKey> = async (c, next) => {
    const given = bearerOf(c);
    const key = given === undefined ? undefined : await keys.find(given);
    if (key === undefined) return unauthorized(c, given === undefined ? KEY_NEEDED : KEY_WRONG);
    c.set("key", key);
    return next();
  };
  for (const path of ["/v1/*", "/mcp"]) app.use(path, requireKey);
  app.all(
    "/mcp",
    mcpHandler(options, routes, async (url, init) => app.request(url, init)),
  );
  serve(false);
  // A browser gets the console at every path outside `/v1/`, because each view of the console has its own path.
  app.get("*", async (c, next) => {
    if (!isBrowser(c) || c.req.path.startsWith("/v1/")) return next();
    return (await consolePage(deps.describeServer(new URL(c.req.url).hostname))) ?? home();
  });
  app.notFound((c) => json(c, bodyOf(notFound(`${c.req.method} ${c.req.path}`)), 404));
  app.onError((thrown, c) => {
    const error = refusalOf(thrown, `${c.req.method} ${c.req.routePath}`);
    return json(c, bodyOf(error), controlCodes[error.code]);
  });
  return app;
}

const OF_ONE_WORLD = /^\/w\/([a-z0-9_-]+)(\/v1\/worlds\/)default(?=\/|$)|^\/w\/[a-z0-9_-]+(?=\/v1(?:\/|$))/;

/**
 * D-371: in a path below `/w/{world}`, the world name `default` means the world `{world}`, as in addresses of the graph. With an address below
 * `/w/{world}`, a program that can only use the first world can use any world.
 */
const pathIn = (path: string): string =>
  path.startsWith("/w/") ? path.replace(OF_ONE_WORLD, (_, world?: string, before = "") => (world === undefined ? "" : before + world)) : path;

/** Makes a JSON response with the header `Content-Length`. The response to a HEAD request has the same length as the response to GET. */
function json(c: Context, value: unknown, status: ContentfulStatusCode = 200, shown: Shown = asItIs): Response {
  const text = shown(JSON.stringify(value));
  return c.body(text, status, { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) });
}

const bearerOf = (c: Context): string | undefined => /^bearer +(\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1];

function unauthorized(c: Context, message: string): Response {
  c.header("WWW-Authenticate", "Bearer");
  return json(c, bodyOf(new ControlError("unauthorized", message)), 401);
}

/**
 * Lists the HTTP methods that a path has. If several routes match, the route with the fewest placeholders is used: `/requests/expect` goes
 * before `/requests/{trace_id}`.
 */
function methodsAt(path: string, routes: readonly ControlRoute[]): string {
  const given = path.split("/");
  const values = (route: ControlRoute): number => route.path.split("{").length;
  const isAt = (known: readonly string[]) =>
    known.length === given.length && known.every((segment, at) => segment.startsWith("{") || segment === given[at]);
  const found = routes.filter((route) => isAt(route.path.split("/")));
  const fewest = Math.min(...found.map(values));
  return found.flatMap((route) => (values(route) === fewest ? route.method : [])).join(", ");
}

async function metricsPage(c: Context<WithKey>, { deps, readMetrics }: ControlAppOptions, keys: ControlKeys): Promise<Response> {
  const given = bearerOf(c);
  const key = given === undefined ? undefined : await keys.find(given);
  if (given !== undefined && key === undefined) return unauthorized(c, KEY_WRONG);
  // D-170: if some keys are bound to a world, a request without a key gets no metrics of worlds and apps.
  const ofServer = key === undefined ? ((await keys.hasBound()) ? "anonymous" : "all") : key.world === undefined ? "all" : "none";
  const isShown = ({ name }: OpenWorld): boolean => (key?.world === undefined ? ofServer === "all" : name === key.world);
  const text = await metricsText(await readMetrics(), [...deps.worlds.open()].filter(isShown), ofServer, (world) =>
    featureAlerts(deps.registry, world),
  );
  return wholeResponse(text, { "content-type": METRICS_TYPE });
}

/**
 * Serves the pages about the interface and about Plaza as text for coding agents. The text pages need no key, because they contain no data of worlds.
 */
function textHandler({ registry }: ControlDeps): (c: Context, next: Next) => Promise<Response | undefined> {
  return async (c, next) => {
    const { textPages } = await import("./llms/text-pages.ts");
    const text = (await textPages(registry)).get(c.req.path.slice(1));
    if (text === undefined) return void (await next());
    return wholeResponse(text, { "content-type": "text/markdown; charset=utf-8" });
  };
}

/** Serves MCP, which is loaded at its first request. */
function mcpHandler({ deps, pages, onUnexpected }: ControlAppOptions, routes: readonly ControlRoute[], send: Endpoint["fetch"]) {
  let loading: Promise<McpMount> | undefined;
  return async (c: Context<WithKey>): Promise<Response> => {
    loading ??= import("./mcp/mount.ts").then((loaded) => new loaded.McpMount(deps, routes, send, onUnexpected));
    return (await loading).serve(c.req.raw, { key: c.get("key"), bearer: bearerOf(c) as string, isOriginChecked: pages !== undefined });
  };
}

/**
 * Tells a load balancer whether the server is ready to serve requests. A server with a full disk is ready, because clients can still read (D-341).
 */
async function ready(c: Context, health: Health, { databaseProblems, worlds }: ControlDeps): Promise<Response> {
  const readiness = await health.readiness();
  const problems = await databaseProblems();
  const names = problems.map(({ kind }) => kind);
  const states = worlds.databases().map(({ name, isUp }) => [name, isUp ? "ready" : "unavailable"]);
  const databases = states.length === 0 ? {} : { databases: Object.fromEntries(states) as object };
  if (readiness === "ready") return json(c, { status: readiness, ...(names.length === 0 ? {} : { problems: names }), ...databases });
  const texts = problems.map(({ database, text, cause }) => `${database === undefined ? "" : `${database}: `}${text} (${cause})`);
  const text = texts.length > 0 ? texts.join(" ") : readiness === "draining" ? "the server is about to end" : "the database cannot be reached";
  return json(c, bodyOf(new ControlError("unavailable", text)), 503);
}

/**
 * D-170: returns the error for a request that the caller's key does not allow. If a bound key may not see a world, the caller gets the same error
 * as for a world that does not exist.
 */
function refusalOfKey({ access, world }: CallerKey, { method, servesBoundKeys }: ControlRoute, named: string | undefined): ControlError | undefined {
  if (world !== undefined && named !== undefined && named !== world) return notFound(`world ${named}`);
  if (access === "read" && method !== "GET") return forbidden("this key may only read");
  if (world !== undefined && named === undefined && servesBoundKeys !== true)
    return forbidden(`this key is bound to the world ${world}: use a key of the server`);
  return undefined;
}

/** Hides the parts of a response's text that the caller may not see. */
type Shown = (text: string) => string;
const asItIs: Shown = (text) => text;

/**
 * D-170: hides the secrets in addresses from a key with the access `read`; the handlers leave out all other secrets. The
 * links in a list begin with `url`.
 */
const shownTo = (key: CallerKey | undefined, url: string): Shown => (key?.access === "read" ? (text) => hideAddressSecrets(text, url) : asItIs);

/** Makes a stream of lines, and hides in each line the parts that the caller may not see. */
function linesShown(response: Response, shown: Shown): Response {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = "";
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const { done, value } = await reader.read();
    const text = rest + decoder.decode(value, { stream: !done });
    const end = done ? text.length : text.lastIndexOf("\n") + 1;
    rest = text.slice(end);
    // The text is enqueued even if it is empty, because the runtime calls `pull` again only after it has enqueued a text.
    controller.enqueue(encoder.encode(shown(text.slice(0, end))));
    if (done) controller.close();
  };
  return new Response(new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 }), response);
}

/** Turns a thrown value into the error for the caller. If the error is unexpected, it is logged with the given `operation`. */
type RefusalOf = (thrown: unknown, operation: string) => ControlError;

/**
 * Handles a request. If the response is a stream of progress, the work goes on after the response has begun, and `ended` is called with
 * the status when the work ends.
 */
type Handler = (c: Context<WithKey>, ended: (status: number) => Promise<void>) => Promise<Response>;

/** Handles requests and stores their entries in the audit list (D-331). A request that the caller's key does not allow is refused. */
function audited(route: ControlRoute, audit: Audit, handle: Handler): (c: Context<WithKey>) => Promise<Response> {
  return async (c) => {
    const key = c.get("key") as CallerKey | undefined;
    const path = c.req.param() as Record<string, string>;
    const refusal = key && refusalOfKey(key, route, path.w);
    if (key === undefined || (refusal === undefined && !audit.isKept(route, key, path, c.req.query()))) return handle(c, async () => {});
    const ended = await audit.begin(route, key, path.w);
    let response: Response;
    try {
      if (refusal !== undefined) throw refusal;
      response = await handle(c, ended);
    } catch (error) {
      await ended(controlCodes[controlErrorOf(error)?.code ?? "internal_error"]);
      throw error;
    }
    const isProgress = route.reportsProgress === true && response.headers.get("content-type") === EVENT_STREAM;
    if (!isProgress) await ended(response.status);
    return response;
  };
}

function handlerOf(route: ControlRoute, deps: ControlDeps, refusalOf: RefusalOf): Handler {
  const readQuery = route.query === undefined ? () => ({}) : parametersReader(route.query);
  const operation = `${route.method} ${route.path}`;
  return async (c, ended) => {
    const path = c.req.param() as Record<string, string>;
    const { origin, pathname } = new URL(c.req.url);
    // PostgreSQL refuses a query with text that it cannot store, and no stored name contains such text.
    if (!Object.values(path).every(isStorableText)) throw notFound(`${c.req.method} ${pathname}`);
    const key = c.get("key") as CallerKey | undefined;
    const name = route.isAboutWorld === true ? DEFAULT_WORLD : (path.w ?? DEFAULT_WORLD);
    // D-333: a request without a key cannot open a closed world by its name alone.
    const found = await (route.needsNoKey === true ? deps.worlds.holdIf(name) : deps.worlds.hold(name));
    const held = found === undefined && route.needsNoKey === true ? await deps.worlds.hold(DEFAULT_WORLD) : found;
    if (held === undefined) throw notFound(`world ${path.w}`);
    held.world.workBegins(operation);
    const shown = shownTo(key, origin + pathname);
    /** Whether a response that is a stream, or work that reports its progress, keeps the world open. */
    let isHeld = false;
    try {
      const request: ControlRequest = {
        deps,
        key: c.get("key"),
        isNoWorld: found === undefined,
        world: held.world,
        path,
        query: queryOf(readQuery, c.req.query()),
        body: await readBody(route, c.req.raw),
        url: origin + pathname,
        header: (name) => c.req.header(name),
      };
      if (route.reportsProgress === true && wantsEvents(request)) {
        isHeld = true;
        return progressStream(request, async (onProgress) => {
          try {
            const value = await route.handle({ ...request, onProgress });
            await ended(200);
            return { event: "result", value };
          } catch (error) {
            const refusal = refusalOf(error, operation);
            await ended(controlCodes[refusal.code]).catch((failed: unknown) => refusalOf(failed, operation));
            return { event: "error", value: bodyOf(refusal) };
          } finally {
            held.leave();
          }
        });
      }
      held.world.workBegins(operation);
      const handled = await route.handle(request);
      if (!(handled instanceof Response)) return json(c, handled, route.status ?? 200, shown);
      const response = shown === asItIs ? handled : linesShown(handled, shown);
      if (response.headers.get("content-type") !== "text/event-stream") return response;
      // The body is cancelled, because a response to HEAD has no body.
      if (c.req.raw.method === "HEAD") await response.body?.cancel();
      else isHeld = true;
      return isHeld ? leavingAtItsEnd(response, held, route) : response;
    } finally {
      if (!isHeld) held.leave();
    }
  };
}

/**
 * Keeps the world open until the stream ends or its reader disconnects. The stream ends if the world is deleted or reset; a reader that connects
 * again gets the new world.
 */
function leavingAtItsEnd(response: Response, held: HeldWorld, { outlivesReset = false }: ControlRoute): Response {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const forget = held.onReplaced((isDeleted) => {
    if (isDeleted || !outlivesReset) void reader.cancel();
  });
  // If the reader disconnects, both `cancel` and the pending read call `leave`. Only the first call of `leave` may release the world.
  let isLeft = false;
  const leave = (): void => {
    if (isLeft) return;
    isLeft = true;
    forget();
    held.leave();
  };
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) controller.enqueue(value);
        else {
          leave();
          controller.close();
        }
      } catch (error) {
        leave();
        controller.error(error);
      }
    },
    async cancel(reason) {
      leave();
      await reader.cancel(reason);
    },
  });
  return new Response(body, response);
}

/** Reads a query, whose values are texts, with the graph's reader, which converts them by their schema. */
function queryOf(read: (source: Record<string, unknown>) => unknown, source: Record<string, string>): unknown {
  try {
    return read(source);
  } catch (error) {
    if (!(error instanceof GraphError)) throw error;
    const { parameter } = error.details.data ?? {};
    throw badRequest(error.message.replace(/^\(#\d+\) Param /, ""), typeof parameter === "string" ? parameter : undefined);
  }
}

/** The value that is cached for a control key that is not in the database. */
const NOT_STORED = Symbol("not stored");
/** The greatest number of cached control keys. The limit is enough, because a server has only a few control keys. */
const KNOWN_KEYS_MAX = 100;

/** Finds the control key of a request and the key's access; the key is the configured key or a stored key (D-170). */
class ControlKeys {
  readonly #configured: string;
  readonly #reader: () => Reader;
  readonly #realNowMs: () => number;
  /** The last results of database queries for keys, by the hash of the key. */
  readonly #known = new BoundedMap<string, ControlKeyRow | typeof NOT_STORED>(KNOWN_KEYS_MAX);

  constructor(configured: string, reader: () => Reader, realNowMs: () => number) {
    this.#configured = hashOf(configured);
    this.#reader = reader;
    this.#realNowMs = realNowMs;
    // The configured key is looked up in the database at the start, because the database may be unreachable at an operator's first request.
    void this.#find(this.#configured).catch(() => {});
  }

  /**
   * Finds the access of a key; undefined if the key is unknown or expired. If the database cannot be reached, the cached result for the key is used
   * (D-341). The promise rejects if the database cannot be reached and there is no cached result for the key.
   */
  async find(value: string): Promise<CallerKey | undefined> {
    const hash = hashOf(value);
    const stored = await this.#find(hash);
    // A configured control key that was replaced is also stored in the database, with the time at which it expires.
    if (stored !== undefined)
      return this.#isValid(stored) ? { hash, access: stored.access as CallerKey["access"], world: stored.world || undefined, stored } : undefined;
    const isConfigured = timingSafeEqual(Buffer.from(hash), Buffer.from(this.#configured));
    return isConfigured ? { hash, access: "full", world: undefined, stored: undefined } : undefined;
  }

  /** Whether any key is bound to a world. Returns true also if the database cannot be reached. */
  async hasBound(): Promise<boolean> {
    try {
      return await hasBoundKeys(this.#reader(), this.#realNowMs());
    } catch {
      return true;
    }
  }

  async #find(hash: string): Promise<ControlKeyRow | undefined> {
    try {
      const stored = await findControlKey(this.#reader(), hash);
      if (stored !== undefined || hash === this.#configured) this.#known.set(hash, stored ?? NOT_STORED);
      else this.#known.delete(hash);
      return stored;
    } catch (error) {
      const known = this.#known.get(hash);
      if (known === undefined || !isUnreachable(error)) throw error;
      return known === NOT_STORED ? undefined : known;
    }
  }

  #isValid({ expires_ms }: ControlKeyRow): boolean {
    return expires_ms === 0 || expires_ms > this.#realNowMs();
  }
}
