/** A server whose pipeline returns the request that it was given, for tests of everything around the pipeline, without a database. */

import type { GraphRequest, GraphResponse } from "#graph/pipeline/request";
import { renderError } from "#graph/response/error-forms";
import { RequestLog } from "#graph/worlds/request-log";
import type { World } from "#graph/worlds/world";
import { defaultLimits, type HttpLimits } from "#http/limits";
import { type GraphServer, type GraphServerOptions, serveGraph } from "#http/server";
import { GraphError } from "#kernel/errors";
import { surfaces } from "#surfaces/surfaces";
import { monotonicMs } from "#system";

export const echoWorld = (name: string): World =>
  ({
    name,
    profile: "strict",
    clock: { nowMs: () => 1_795_000_000_000 },
    requests: new RequestLog(),
    calendar: { platform: [24, 26].map((version) => ({ version, released: 0 })), marketing: [], migrationIntents: [] },
    tokens: { peekAppOf },
    workBegins: () => {},
  }) as unknown as World;

/** The app of a token: `1001-token` is a valid token of the app 1001. */
const peekAppOf = (value: string): string | undefined => /^(\d+)-token$/.exec(value)?.[1];

/** The request as it reached the pipeline. The echoed request is the body of the response. */
export interface Echo {
  readonly world: string;
  readonly surface: string;
  readonly method: string;
  readonly path: string;
  readonly queryText: string;
  readonly query: Record<string, unknown>;
  readonly body: Record<string, unknown>;
  readonly files: Record<string, { filename: string; size: number }>;
  readonly baseUrl: string;
  readonly authorization: string | null;
}

const TRACE_ID = "Aecho0000000";

const common = { operation: "echo", traceId: TRACE_ID, app: undefined };
const commonHeaders = { "content-type": "application/json; charset=UTF-8", "x-pf-trace-id": TRACE_ID };

function errorResponse({ path }: GraphRequest, error: GraphError): GraphResponse {
  const { status, headers, body } = renderError(error, path.endsWith("personas") ? "flat" : "wrapped", "strict", TRACE_ID);
  return { ...common, status, headers: { ...commonHeaders, ...headers }, body: JSON.stringify(body) };
}

/** Returns the request as the response. If the request has a defect, throws the defect as the pipeline does. */
export async function echo(world: World, request: GraphRequest): Promise<GraphResponse> {
  await Promise.resolve();
  const headers = commonHeaders;
  if (request.defect !== undefined) return errorResponse(request, request.defect);
  const { surface, method, path, queryText, query, body, baseUrl } = request;
  const files = Object.fromEntries([...request.files].map(([name, { filename, bytes }]) => [name, { filename, size: bytes.length }]));
  const authorization = request.header("authorization") ?? null;
  const seen: Echo = { world: world.name, surface, method, path, queryText, query, body, files, baseUrl, authorization };
  return { ...common, status: 200, headers, body: JSON.stringify(seen) };
}

export interface EchoGraph extends GraphServer {
  readonly world: World;
  /** The thrown errors that are not in the catalogue of errors. */
  readonly unexpected: unknown[];
}

const entered = (world: World) => ({ world, leave: () => {} });
const door = { isOpened: false, showToken: async () => {}, showNode: async () => {} };

/** A directory of worlds that are all open. */
export const openDirectory = (world: World, enter: GraphServerOptions["worlds"]["enter"]): GraphServerOptions["worlds"] => ({
  ...{ default: world, enter, enterOpen: enter },
  outside: async () => ({ ...entered(echoWorld("")), door }),
});

export async function serveEcho(options: Partial<Omit<GraphServerOptions, "limits">> & { limits?: Partial<HttpLimits> } = {}): Promise<EchoGraph> {
  const world = echoWorld("default");
  const unexpected: unknown[] = [];
  const registry = {
    endpoints: [],
    isLiteral: () => false,
    isEdge: () => false,
    isPrefix: () => false,
    isFlatEdge: (edge: string | undefined) => edge === "personas",
    headersOf: (method: string, edge: string | undefined) => (method === "POST" && edge === "old" ? { deprecation: "@1" } : undefined),
  };
  const server = await serveGraph({
    hostname: "127.0.0.1",
    port: 0,
    deps: {
      registry,
      traceId: () => TRACE_ID,
      monotonicMs,
      onUnexpected: (error: unknown) => unexpected.push(error),
    } as unknown as GraphServerOptions["deps"],
    worlds: openDirectory(world, async (name) => (name === "t1" ? entered(echoWorld("t1")) : name === "default" ? entered(world) : undefined)),
    surfaces,
    trustedProxies: [],
    handleRequest: (_deps, at, request) => echo(at, request),
    ...options,
    limits: { ...defaultLimits, ...options.limits },
  });
  return { ...server, world, unexpected };
}

/**
 * Starts a server whose requests of `/held` wait in the pipeline until they are released, and whose requests of `/tarpit` wait for another server. A
 * bearer token, or an `access_token` in the body, counts against its app as in the pipeline.
 */
export async function serveHeld(
  limits: Partial<HttpLimits>,
  trustedProxies: readonly string[] = [],
): Promise<{ readonly graph: EchoGraph; release(): void }> {
  const gate = Promise.withResolvers<void>();
  const graph = await serveEcho({
    ...{ limits, trustedProxies },
    handleRequest: async (_deps, world, request) => {
      const token = request.header("authorization")?.slice("Bearer ".length) ?? String(request.body.access_token);
      const app = peekAppOf(token);
      try {
        if (app !== undefined) request.admission?.countAgainst(app);
        if (request.path === "/held") await gate.promise;
        if (request.path === "/tarpit") await request.admission?.whileWaiting(() => gate.promise);
      } catch (error) {
        if (error instanceof GraphError) return errorResponse(request, error);
        throw error;
      }
      return echo(world, request);
    },
  });
  return { graph, release: () => gate.resolve() };
}
