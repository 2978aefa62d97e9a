/**
 * Speaks HTTP/1.1 on the runtime's sockets, and reuses idle connections. The transport does not use `fetch`, because `fetch` needs more CPU for each
 * delivery, reuses only 64 connections, and accepts responses that are not valid HTTP: docs/dependencies.md has the measurements.
 */
import { type OutboundRequest, type OutboundResponse, RequestFailed } from "../request.ts";
import { Connection, type Endpoint, RequestBurst } from "./connection.ts";
import type { Deadline } from "./deadline.ts";
import { ResponseReader } from "./response.ts";

export interface TransportRequest {
  readonly request: OutboundRequest;
  /** The value of the `Host` header. */
  readonly authority: string;
  /** The path and the query of the request. */
  readonly path: string;
}

export class SocketTransport {
  readonly #pool = new ConnectionPool();

  /**
   * Sends the request once. Rejects with `RequestFailed`, for example when the deadline passes. If the error's `kind` is `connect`, nothing was sent,
   * so the caller may try another address.
   */
  async send(endpoint: Endpoint, given: TransportRequest, deadline: Deadline): Promise<OutboundResponse> {
    const { request } = given;
    const text = textOf(given);
    const key = this.#pool.keyOf(endpoint);
    for (;;) {
      const connection = this.#pool.take(key) ?? (await deadline.open(this.#pool.open(endpoint), request.connectionMs));
      const reader = new ResponseReader(request.responseBytesMax, request.takeBody);
      deadline.connection = connection;
      try {
        await connection.send(text, reader, request.silenceMs);
      } catch (error) {
        // The other server may close an idle connection at any time. If an idle connection closes before any byte of the response has arrived, the
        // request is sent again.
        if (error instanceof RequestFailed && error.kind === "closed" && connection.wasUsed && !reader.hasBegun) {
          if (connection.hasSent) request.onResend?.(error);
          continue;
        }
        if (request.isStatusEnough === true && reader.status > 0) return { status: reader.status, body: reader.body(), isCut: true };
        throw error;
      } finally {
        deadline.connection = undefined;
      }
      this.#pool.give(key, connection);
      return { status: reader.status, body: reader.body(), isCut: reader.isCut };
    }
  }

  close(): void {
    this.#pool.close();
  }
}

function textOf({ request: { method, headers, body }, authority, path }: TransportRequest): string {
  let text = `${method} ${path} HTTP/1.1\r\nHost: ${authority}\r\n`;
  for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
  return body === undefined ? `${text}\r\n` : `${text}Content-Length: ${body.length}\r\n\r\n${body}`;
}

/**
 * The longest time for which an idle connection stays open, in ms. Receivers close idle connections after 5 s (Node's default) or later, so a
 * connection that is younger than this limit has very likely not been closed by the receiver.
 */
const IDLE_MS_MAX = 4_000;
/**
 * The greatest number of idle connections to one endpoint. The limit is high, because one host may have many callbacks that each receive many
 * requests at once. Opening and closing a connection takes a third of the CPU time of a delivery (measured).
 */
const IDLE_PER_ENDPOINT_MAX = 512;
/** The greatest number of all idle connections. Each idle connection takes some kB, and their number is well below the usual limit of open files. */
const IDLE_MAX = 2_048;
const SWEEP_MS = 1_000;

export class ConnectionPool {
  readonly #idle = new Map<string, Connection[]>();
  readonly #burst = new RequestBurst();
  #count = 0;
  #sweeper: ReturnType<typeof setInterval> | undefined;
  #isClosed = false;

  /**
   * Returns the key under which the idle connections to an endpoint are stored. Two endpoints have the same key if a connection to one endpoint can
   * be used for the other endpoint.
   */
  keyOf({ address, port, tls }: Endpoint): string {
    if (tls === undefined) return `${address} ${port}`;
    return `${address} ${port} ${tls.serverName ?? ""} ${tls.ca === undefined ? "" : Bun.hash(tls.ca)}`;
  }

  /** Removes the most recently used idle connection from the pool and returns it. */
  take(key: string): Connection | undefined {
    const waiting = this.#idle.get(key);
    while (waiting !== undefined) {
      const connection = waiting.pop();
      if (connection === undefined) return undefined;
      this.#count--;
      // time: the age of a socket is real time, not a world's.
      if (connection.isOpen && performance.now() - connection.idleSinceMs < IDLE_MS_MAX) return connection;
      connection.close();
    }
    return undefined;
  }

  open(endpoint: Endpoint): Promise<Connection> {
    return Connection.open(endpoint, this.#burst);
  }

  give(key: string, connection: Connection): void {
    if (!connection.isOpen) return;
    const waiting = this.#idle.get(key);
    if (this.#isClosed || this.#count >= IDLE_MAX || (waiting?.length ?? 0) >= IDLE_PER_ENDPOINT_MAX) {
      connection.close();
      return;
    }
    // time: the age of a socket is real time, not a world's.
    connection.idleSinceMs = performance.now();
    if (waiting === undefined) this.#idle.set(key, [connection]);
    else waiting.push(connection);
    this.#count++;
    if (this.#sweeper !== undefined) return;
    // timer: unused sockets are closed in real time.
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
  }

  close(): void {
    this.#isClosed = true;
    for (const waiting of this.#idle.values()) for (const connection of waiting) connection.close();
    this.#idle.clear();
    this.#count = 0;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  #sweep(): void {
    // time: the age of a socket is real time, not a world's.
    const now = performance.now();
    for (const [key, waiting] of this.#idle) {
      const kept = waiting.filter((connection) => {
        if (connection.isOpen && now - connection.idleSinceMs < IDLE_MS_MAX) return true;
        connection.close();
        return false;
      });
      this.#count -= waiting.length - kept.length;
      if (kept.length === 0) this.#idle.delete(key);
      else this.#idle.set(key, kept);
    }
    if (this.#count > 0) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }
}
