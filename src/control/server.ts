/** The listener for requests to the control API, which has a port of its own. */
import type { Certificate } from "#config/certificate";
import { addressOf } from "#config/listening";
import { badRequest, bodyOf, ControlError, controlCodes } from "#control-contract/errors";
import { EVENT_STREAM } from "#control-contract/event-stream";
import type { Connection } from "#http/http1/connection";
import type { ProtocolProblem, RequestHead } from "#http/http1/request-head";
import { defaultLimits, parserHeaderBytesMax } from "#http/limits";
import { type Listener, listen } from "#http/listeners/listener";
import { hstsHeaders } from "#http/listeners/served-certificate";
import { sendWebResponse, webRequest } from "#http/web";
import { GraphError } from "#kernel/errors";
import { findHeader } from "#kernel/http-text/headers";
import { Shares } from "#kernel/shares";
import { type ControlAppOptions, controlApp } from "./app.ts";
import type { Endpoint } from "./client/requests.ts";

export interface ControlServerOptions extends ControlAppOptions {
  readonly host: string;
  /** The port; 0 picks a free port. */
  readonly port: number;
  /** The TLS certificate; undefined if the API uses plain HTTP. */
  readonly certificate?: Certificate | undefined;
  /** The number of seconds for which the responses tell browsers to use TLS. If the number is 0, responses do not require TLS. */
  readonly hstsSeconds?: number;
  /** The greatest number of connections of all clients together. */
  readonly connectionsMax?: number;
}

/** The default limit of connections, enough for the scripts, dashboards and streams of one operator. */
const CONNECTIONS_MAX = 256;

/**
 * The fraction of the connections that event streams may use (D-334). If streams use all these connections, a new stream is accepted only if
 * its caller has fewer streams than an equal share for each caller.
 */
const STREAMS_PART = 1 / 2;

export interface ControlServer extends Listener {
  /** Sends a request to the control API inside this process, without a connection. */
  readonly fetch: Endpoint["fetch"];
}

/** Listens for requests to the control API. Throws if the server cannot listen at the address. */
export function serveControl(options: ControlServerOptions): ControlServer {
  const { host, port, certificate, connectionsMax = CONNECTIONS_MAX, hstsSeconds = 0, onUnexpected } = options;
  const app = controlApp(options);
  const scheme = certificate === undefined ? "http" : "https";
  const dispatch = async (head: RequestHead, connection: Connection): Promise<void> => {
    try {
      // The header `Host` may be absent, because HTTP/1.0 clients need not send this header.
      const address = `${scheme}://${head.host ?? `${addressOf(host)}:${listener.port}`}${head.target.path}`;
      const response = await app.fetch(webRequest(head, address, bodyStream(head, connection)));
      connection.skipBody();
      if (response.headers.get("content-type") === EVENT_STREAM) await sendStream(response, head, connection);
      else await sendWebResponse(connection, response);
      connection.finish();
    } catch (error) {
      if (error instanceof GraphError && !connection.hasBegunResponse) {
        connection.send(textOf(badRequest(error.message.replace(/^\(#\d+\) /, ""))));
        connection.finish();
      } else {
        onUnexpected(error, `${head.method} ${head.target.path}`);
        connection.abort();
      }
    }
  };
  const streams = new Shares({ count: Math.ceil(connectionsMax * STREAMS_PART), size: Number.POSITIVE_INFINITY });
  /**
   * D-334: responds with an event stream if the limit of streams allows another one. The limit of streams is needed because a connection
   * with a stream is never closed in favour of a new connection.
   */
  const sendStream = async (response: Response, head: RequestHead, connection: Connection): Promise<void> => {
    const account = streams.accountOf(findHeader(head.headers, "authorization"), connection.remoteAddress);
    if (streams.lacks(account, 0) !== undefined) {
      await response.body?.cancel();
      connection.send(textOf(new ControlError("unavailable", "too many event streams are open: close some of them, and send the request again")));
      return;
    }
    streams.hold(account, 0);
    await sendWebResponse(connection, response).finally(() => streams.release(account, 0));
  };
  const listener = listen({
    ...{ hostname: host, port, certificate, commonHeaders: hstsHeaders(hstsSeconds), metrics: { open: 0, evicted: 0 } },
    limits: { ...defaultLimits, connectionsMax, headBytesMax: parserHeaderBytesMax(defaultLimits) },
    refusal: (problem) => textOf(errorOf(problem)),
    dispatch: (head, connection) => void dispatch(head, connection),
  });
  options.alerts?.watch(options.deps.ending);
  return { ...listener, fetch: async (url, init) => app.request(url, init) };
}

interface WaitingOptions extends Pick<ControlServerOptions, "host" | "port" | "certificate"> {
  /** The reason why the server is not ready. */
  readonly reason: string;
}

/** Listens while the server cannot serve requests yet: `/healthz` responds with 200, and all other requests get 503 with the reason. */
export function serveWaiting({ host, port, certificate, reason }: WaitingOptions): Listener {
  return listen({
    ...{ hostname: host, port, certificate, commonHeaders: {}, metrics: { open: 0, evicted: 0 } },
    limits: { ...defaultLimits, connectionsMax: CONNECTIONS_MAX, headBytesMax: parserHeaderBytesMax(defaultLimits) },
    refusal: (problem) => textOf(errorOf(problem)),
    dispatch(head, connection) {
      connection.skipBody();
      const isAlive = head.target.path === "/healthz";
      connection.send(isAlive ? { ...textOf(UNAVAILABLE(reason)), status: 200, body: '{"status":"ok"}' } : textOf(UNAVAILABLE(reason)));
      connection.finish();
    },
  });
}

const UNAVAILABLE = (reason: string): ControlError => new ControlError("unavailable", reason);

/** Returns the body of a request; undefined if the request has no body, and for GET and HEAD, because their bodies are ignored. */
function bodyStream({ method, framing }: RequestHead, connection: Connection): ReadableStream<Uint8Array> | undefined {
  if (framing === 0 || method === "GET" || method === "HEAD") return undefined;
  const pieces = connection.bodyPieces();
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const { done, value } = await pieces.next();
    if (done !== true) controller.enqueue(value);
    else if (value === undefined) controller.close();
    else controller.error(errorOf(value));
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}

function errorOf(problem: ProtocolProblem | "gone"): ControlError {
  if (problem === "gone") return badRequest("the request body is not complete");
  switch (problem.kind) {
    case "malformed-head":
      return badRequest(`the request is not valid HTTP: ${problem.detail}`);
    case "malformed-chunks":
      return badRequest("the chunks of the body are not valid");
    case "head-too-large":
      return badRequest("the address and the headers are too large");
    case "head-too-slow":
    case "body-too-slow":
      return badRequest(`the request is incomplete: nothing arrived for ${problem.msMax} ms`);
    case "body-too-large":
    case "no-capacity":
      return new ControlError("body_too_large", "the body is too large");
  }
}

const textOf = (error: ControlError) => ({
  status: controlCodes[error.code],
  headers: { "content-type": "application/json" },
  body: JSON.stringify(bodyOf(error)),
});
