/**
 * The only inbound HTTP of the graph.
 *
 * It stands on `node:http` as Bun implements it, not on `Bun.serve`: that one drops the body of a GET, which carries
 * parameters (D-34), and answers malformed HTTP with bare statuses of its own, where the interface promises a trace id on every
 * error. The parser is the same; measured on constant answers the price is 4 µs CPU a call (17 against 13) and 2 MB idle.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { climb, type Stairs } from "#graph/ladder";
import { type GraphError, headersTooLarge, malformedRequest, requestTooSlow } from "#kernel/errors";
import { CallFigures } from "#telemetry/figures";
import { rawAnswer } from "./answers.ts";
import { Calls } from "./calls.ts";
import { type ExtraRoutes, RouteTable } from "./extra-routes.ts";
import { type HttpLimits, parserHeaderBytesMax } from "./limits.ts";
import { Origins } from "./origin.ts";
import { Places, type SurfaceAddress, type WorldDirectory } from "./places.ts";
import { refusal } from "./refusals.ts";

export interface GraphServerOptions {
  readonly hostname: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly stairs: Stairs;
  readonly worlds: WorldDirectory;
  readonly surfaces: readonly SurfaceAddress[];
  readonly limits: HttpLimits;
  /** CIDR ranges from which `X-Forwarded-Proto` and `X-Forwarded-Host` are believed. */
  readonly trustedProxies: readonly string[];
  /** Several processes listen on one port. They must be workers of `node:cluster`: in no other does Bun share the port. */
  readonly reusePort?: boolean;
  readonly extraRoutes?: ExtraRoutes;
  readonly figures?: CallFigures;
  /** The stairs themselves, for tests of what is around them. */
  readonly climb?: typeof climb;
}

export interface GraphServer {
  readonly port: number;
  readonly hostname: string;
  readonly figures: CallFigures;
  /** No new calls; running ones end, but after `graceMs` they are cut off. */
  stop(graceMs: number): Promise<void>;
}

/** How often waiting connections are looked at: a time limit is overrun by this at most. */
const CHECK_EVERY_MS = 1_000;

/** Rejects when the address cannot be listened on. */
export async function serveGraph(options: GraphServerOptions): Promise<GraphServer> {
  const { limits, stairs, worlds } = options;
  const figures = options.figures ?? new CallFigures();
  const origins = new Origins(options.trustedProxies);
  const calls = new Calls({
    stairs,
    climb: options.climb ?? climb,
    places: new Places(worlds, options.surfaces),
    origins,
    routes: new RouteTable(options.extraRoutes ?? new Map()),
    limits,
    figures,
  });
  const server = createServer({
    maxHeaderSize: parserHeaderBytesMax(limits),
    headersTimeout: limits.headMsMax,
    // The call's own timer answers first, in the call's error form; this ends what even then sends slowly.
    requestTimeout: limits.headMsMax + limits.bodyMsMax + 2 * CHECK_EVERY_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
    keepAliveTimeout: limits.keepAliveMs,
    // A missing Host falls back to the configured address, as a malformed one does.
    requireHostHeader: false,
  });
  const take: Parameters<typeof server.on>[1] = (incoming, response) => void calls.answer(incoming, response);
  server.on("request", take);
  // The body's size is looked at before the caller is asked to send it.
  server.on("checkContinue", take);
  server.on("checkExpectation", take);
  const refuse = (error: GraphError, socket: Duplex): void => {
    const answer = refusal(stairs, worlds.default, "base", error, "wrapped");
    figures.record(answer.operation, answer.status, 0);
    socket.end(rawAnswer(answer));
  };
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (socket.writable && error.code !== "ECONNRESET") refuse(errorOf(error, limits), socket);
    else socket.destroy();
  });
  server.on("connect", (_request, socket) => refuse(malformedRequest("CONNECT is not supported: this is no proxy"), socket));

  await listening(server, options);
  const { port } = server.address() as AddressInfo;
  origins.configured(options.hostname, port);
  return { port, hostname: options.hostname, figures, stop: (graceMs) => stopped(server, calls, graceMs) };
}

/** What the HTTP parser refused, before it was a call. */
function errorOf(error: NodeJS.ErrnoException, limits: HttpLimits): GraphError {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return headersTooLarge(limits.headerBytesMax);
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return requestTooSlow(limits.headMsMax);
    case "HPE_INVALID_METHOD":
      return malformedRequest("The request does not begin with a method of HTTP in upper case");
    default:
      return malformedRequest(`The request is not valid HTTP (${error.code ?? "unknown"})`);
  }
}

function listening(server: Server, { hostname, port, reusePort }: GraphServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: hostname, port, reusePort: reusePort === true }, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });
}

function stopped(server: Server, calls: Calls, graceMs: number): Promise<void> {
  calls.isStopping = true;
  return new Promise((resolve) => {
    // A timer because running calls may hang on a network that is not ours.
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
