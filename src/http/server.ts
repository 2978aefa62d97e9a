/** The graph's HTTP server: a listener, the dispatcher of its requests, and the responses to bytes that are not a request. */
import type { ServedCertificate } from "#config/certificate";
import { handleRequest, type RequestDeps } from "#graph/pipeline/handle-request";
import type { RequestEntry } from "#graph/worlds/request-log";
import type { PageGuard } from "#kernel/page-guard";
import { RequestMetrics } from "#telemetry/request-metrics";
import { Destinations, type SurfaceAddress, type WorldDirectory } from "./destinations/destinations.ts";
import { Origins } from "./destinations/origin.ts";
import type { ProtocolProblem } from "./http1/request-head.ts";
import type { TextResponse } from "./http1/response-writer.ts";
import { type HttpLimits, parserHeaderBytesMax } from "./limits.ts";
import { type Listener, listen } from "./listeners/listener.ts";
import { hstsHeaders } from "./listeners/served-certificate.ts";
import { CORS_HEADERS, graphErrorOf, refusal } from "./refusals.ts";
import { RequestDispatcher } from "./requests.ts";
import { type ExtraRoutes, type PageRoute, RouteTable } from "./routes/extra-routes.ts";
import type { Health } from "./routes/health.ts";

export interface GraphServerOptions {
  readonly hostname: string;
  /** The port to listen on. 0 picks a free port. */
  readonly port: number;
  readonly deps: RequestDeps;
  readonly worlds: WorldDirectory;
  readonly surfaces: readonly SurfaceAddress[];
  readonly limits: HttpLimits;
  /** CIDR ranges of the proxies whose `X-Forwarded-Proto` and `X-Forwarded-Host` are believed. */
  readonly trustedProxies: readonly string[];
  /** The public address of the server. Links begin with this address, whatever the header Host says. The public address has no slash at its end. */
  readonly publicUrl?: string | undefined;
  /** D-240: decides which web pages may send requests. Without this guard every web page may send requests. */
  readonly pages?: PageGuard | undefined;
  /** Whether several processes listen on the same port. */
  readonly reusePort?: boolean;
  /** The certificate for TLS. Without a certificate the server speaks plain HTTP. */
  readonly certificate?: ServedCertificate | undefined;
  /** For how long browsers are told to use only TLS. 0: browsers are not told so. */
  readonly hstsSeconds?: number;
  readonly extraRoutes?: ExtraRoutes;
  readonly pageRoutes?: readonly PageRoute[];
  /** Answers health checks. If undefined, `/healthz` and `/readyz` are unknown paths. */
  readonly health?: Health | undefined;
  /** Called for each request of the pipeline when its response is sent, with the address of the client. */
  readonly onServed?: ((entry: RequestEntry, client: string) => void) | undefined;
  /** The pipeline. Tests of the server replace the pipeline. */
  readonly handleRequest?: typeof handleRequest;
}

export interface GraphServer extends Listener {
  readonly metrics: RequestMetrics;
}

/** Starts the server. Throws if the server cannot listen at the address. */
export function serveGraph(options: GraphServerOptions): GraphServer {
  const {
    limits,
    deps,
    worlds,
    surfaces,
    hostname,
    port,
    certificate,
    publicUrl,
    pages,
    health,
    onServed,
    reusePort = false,
    hstsSeconds = 0,
  } = options;
  const metrics = new RequestMetrics();
  const origins = new Origins(options.trustedProxies, publicUrl);
  const dispatcher = new RequestDispatcher({
    ...{ deps, worlds, origins, limits, metrics, pages, health, onServed },
    destinations: new Destinations(worlds, surfaces, publicUrl === undefined),
    pageRoutes: options.pageRoutes,
    routes: new RouteTable(options.extraRoutes ?? new Map()),
    handleRequest: options.handleRequest ?? handleRequest,
  });
  const refuse = (problem: ProtocolProblem): TextResponse => {
    const response = refusal(deps, worlds.default, "base", graphErrorOf(problem, limits), "wrapped");
    metrics.record(response.operation, response.status, 0);
    return response;
  };
  const listener = listen({
    ...{
      hostname,
      port,
      reusePort,
      certificate,
      metrics: metrics.connections,
      commonHeaders: { ...CORS_HEADERS, ...hstsHeaders(hstsSeconds) },
      refusal: refuse,
    },
    limits: { ...limits, headBytesMax: parserHeaderBytesMax(limits) },
    dispatch: (head, connection) => void dispatcher.dispatch(head, connection),
  });
  origins.configured(certificate === undefined ? "http" : "https", hostname, listener.port);
  return { ...listener, metrics, stop: (graceMs) => listener.stop(graceMs, () => dispatcher.stop()) };
}
