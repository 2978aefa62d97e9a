/** The graph's HTTP server: a listener, the dispatcher of its requests, and the responses to bytes that are not a request. */
import { handleRequest } from "#graph/pipeline/handle-request";
import { RequestMetrics } from "#telemetry/request-metrics";
import { Destinations, type SurfaceAddress, type WorldDirectory } from "./destinations/destinations.ts";
import { Origins } from "./destinations/origin.ts";
import type { ProtocolProblem } from "./http1/request-head.ts";
import type { TextResponse } from "./http1/response-writer.ts";
import { parserHeaderBytesMax } from "./limits.ts";
import { type Listener, type ListenOptions, listen } from "./listeners/listener.ts";
import { hstsHeaders } from "./listeners/served-certificate.ts";
import { CORS_HEADERS, graphErrorOf, refusal } from "./refusals.ts";
import { RequestDispatcher, type RequestDispatcherOptions } from "./requests.ts";
import { type ExtraRoutes, RouteTable } from "./routes/extra-routes.ts";

type OfDispatcher = Pick<RequestDispatcherOptions, "deps" | "limits"> &
  Partial<Pick<RequestDispatcherOptions, "pages" | "pageRoutes" | "health" | "onServed" | "handleRequest">>;

export interface GraphServerOptions extends OfDispatcher, Pick<ListenOptions, "hostname" | "port" | "reusePort"> {
  readonly certificate?: ListenOptions["certificate"];
  readonly worlds: WorldDirectory;
  readonly surfaces: readonly SurfaceAddress[];
  /** The CIDR ranges of the proxies whose `X-Forwarded-Proto` and `X-Forwarded-Host` the server trusts. */
  readonly trustedProxies: readonly string[];
  /** The server's public address, without a slash at its end. Links in responses begin with the public address, whatever the header Host contains. */
  readonly publicUrl?: string | undefined;
  /**
   * The number of seconds for which browsers are told to use only TLS. If the number is 0, the server does not send the header
   * Strict-Transport-Security.
   */
  readonly hstsSeconds?: number;
  readonly extraRoutes?: ExtraRoutes;
}

export interface GraphServer extends Listener {
  readonly metrics: RequestMetrics;
}

/** Starts the server. Throws if the server cannot listen at the address. */
export function serveGraph(options: GraphServerOptions): GraphServer {
  const { limits, deps, worlds, surfaces, hostname, port, certificate, publicUrl, reusePort = false, hstsSeconds = 0 } = options;
  const metrics = new RequestMetrics();
  const origins = new Origins(options.trustedProxies, publicUrl);
  const dispatcher = new RequestDispatcher({
    handleRequest,
    ...options,
    ...{ origins, metrics, pages: options.pages, health: options.health },
    destinations: new Destinations(worlds, surfaces, publicUrl === undefined),
    routes: new RouteTable(options.extraRoutes ?? new Map()),
  });
  const refuse = (problem: ProtocolProblem): TextResponse => {
    const response = refusal(deps, worlds.default, "base", graphErrorOf(problem, limits), "wrapped");
    metrics.record(response.operation, response.status, 0);
    return response;
  };
  const listener = listen({
    ...{ hostname, port, reusePort, certificate, metrics: metrics.connections, refusal: refuse },
    commonHeaders: { ...CORS_HEADERS, ...hstsHeaders(hstsSeconds) },
    limits: { ...limits, headBytesMax: parserHeaderBytesMax(limits) },
    dispatch: (head, connection) => void dispatcher.dispatch(head, connection),
  });
  origins.configured(certificate === undefined ? "http" : "https", hostname, listener.port);
  return { ...listener, metrics, stop: (graceMs) => listener.stop(graceMs, () => dispatcher.stop()) };
}
