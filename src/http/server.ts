/**
 * The only inbound HTTP of the graph.
 *
 * It reads HTTP/1.1 itself, from Bun's sockets. `Bun.serve` drops the body of a GET, which carries parameters (D-34), and answers
 * malformed HTTP with bare statuses of its own, where the interface promises a trace id on every error; `node:http` on Bun does
 * neither, but costs twice as much (measured on constant answers: 24 µs CPU a request against 11, and 9 of `Bun.serve`).
 */
import type { Socket, TCPSocketListener, TCPSocketListenOptions } from "bun";
import { handleRequest, type RequestDeps } from "#graph/pipeline/handle-request";
import type { GraphError } from "#kernel/errors";
import { monotonicMs } from "#system";
import { RequestMetrics } from "#telemetry/request-metrics";
import { Connection, type ConnectionOwner } from "./http1/connection.ts";
import type { RequestHead } from "./http1/head.ts";
import type { HttpLimits } from "./limits.ts";
import { Origins } from "./origin.ts";
import { Places, type SurfaceAddress, type WorldDirectory } from "./places.ts";
import { refusal } from "./refusals.ts";
import { RequestDispatcher } from "./requests.ts";
import { lastResponse } from "./responses.ts";
import { type ExtraRoutes, RouteTable } from "./routes/extra-routes.ts";

export interface GraphServerOptions {
  readonly hostname: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly deps: RequestDeps;
  readonly worlds: WorldDirectory;
  readonly surfaces: readonly SurfaceAddress[];
  readonly limits: HttpLimits;
  /** CIDR ranges from which `X-Forwarded-Proto` and `X-Forwarded-Host` are believed. */
  readonly trustedProxies: readonly string[];
  /** Several processes listen on one port. */
  readonly reusePort?: boolean;
  readonly extraRoutes?: ExtraRoutes;
  readonly metrics?: RequestMetrics;
  /** The pipeline themselves, for tests of what is around them. */
  readonly handleRequest?: typeof handleRequest;
}

export interface GraphServer {
  readonly port: number;
  readonly hostname: string;
  readonly metrics: RequestMetrics;
  /** No new requests; running ones end, but after `graceMs` they are cut off. */
  stop(graceMs: number): Promise<void>;
}

/** How often connections are looked at: a time limit is overrun by this at most. */
const CHECK_EVERY_MS = 1_000;

/** Throws when the address cannot be listened on. */
export async function serveGraph(options: GraphServerOptions): Promise<GraphServer> {
  const { limits, deps, worlds, hostname } = options;
  const metrics = options.metrics ?? new RequestMetrics();
  const origins = new Origins(options.trustedProxies);
  const places = new Places(worlds, options.surfaces);
  const routes = new RouteTable(options.extraRoutes ?? new Map());
  const requests = new RequestDispatcher({ deps, handleRequest: options.handleRequest ?? handleRequest, places, origins, routes, limits, metrics });
  const refuse = (error: GraphError): string => {
    const response = refusal(deps, worlds.default, "base", error, "wrapped");
    metrics.record(response.operation, response.status, 0);
    return lastResponse(response);
  };
  const connections = new Connections(limits, requests, refuse);
  const listener = listen({
    hostname,
    port: options.port,
    reusePort: options.reusePort === true,
    // A caller may end his side when he has asked, and still read the response.
    allowHalfOpen: true,
    socket: connections.handlers,
  });
  connections.watch();
  origins.configured(hostname, listener.port);
  return { port: listener.port, hostname, metrics, stop: (graceMs) => connections.stop(listener, graceMs) };
}

/** Bun's declarations know `reusePort` of clients and UDP alone; its listeners take it, too. Its refusal does not name the port. */
function listen(options: TCPSocketListenOptions<Connection> & { readonly reusePort: boolean }): TCPSocketListener<Connection> {
  try {
    return Bun.listen(options);
  } catch (error) {
    if (error instanceof Error) error.message += `:${options.port}`;
    throw error;
  }
}

class Connections implements ConnectionOwner {
  readonly limits: HttpLimits;
  readonly refusal: (error: GraphError) => string;
  readonly #requests: RequestDispatcher;
  readonly #open = new Set<Connection>();
  #checking: ReturnType<typeof setInterval> | undefined;
  #whenNone: (() => void) | undefined;

  constructor(limits: HttpLimits, requests: RequestDispatcher, refusal: (error: GraphError) => string) {
    this.limits = limits;
    this.#requests = requests;
    this.refusal = refusal;
  }

  readonly handlers = {
    open: (socket: Socket<Connection>): void => {
      socket.data = new Connection(socket, this);
      this.#open.add(socket.data);
    },
    data: (socket: Socket<Connection>, bytes: Buffer): void => socket.data.came(bytes),
    drain: (socket: Socket<Connection>): void => socket.data.drained(),
    end: (socket: Socket<Connection>): void => socket.data.peerEnded(),
    close: (socket: Socket<Connection>): void => socket.data.closed(),
    // A close follows.
    error: (): void => {},
  };

  get isStopping(): boolean {
    return this.#requests.isStopping;
  }

  take(head: RequestHead, connection: Connection): void {
    void this.#requests.response(head, connection);
  }

  forget(connection: Connection): void {
    this.#open.delete(connection);
    if (this.#open.size === 0) this.#whenNone?.();
  }

  watch(): void {
    // A timer because only it can notice that nothing comes.
    this.#checking = setInterval(() => this.#check(), CHECK_EVERY_MS);
  }

  async stop(listener: TCPSocketListener<Connection>, graceMs: number): Promise<void> {
    this.#requests.isStopping = true;
    listener.stop(false);
    const none = new Promise<void>((resolve) => {
      this.#whenNone = resolve;
    });
    for (const connection of [...this.#open]) connection.release();
    if (this.#open.size > 0) {
      // A timer because running requests may hang on a network that is not ours.
      const timer = setTimeout(() => this.#cutAll(), graceMs);
      await none;
      clearTimeout(timer);
    }
    clearInterval(this.#checking);
  }

  #cutAll(): void {
    for (const connection of [...this.#open]) connection.cut();
  }

  #check(): void {
    const nowMs = monotonicMs();
    for (const connection of [...this.#open]) connection.check(nowMs);
  }
}
