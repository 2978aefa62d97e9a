/**
 * HTTP/1.1 on the runtime's sockets, with connections that are kept. It is not `fetch`, because that costs more CPU a delivery,
 * keeps 64 connections, and takes responses that are not valid HTTP: docs/dependencies.md has the measurements.
 */
import type { OutboundResponse } from "../request.ts";
import { RequestFailed } from "../request.ts";
import type { Deadline } from "./deadline.ts";
import { ConnectionPool } from "./pool.ts";
import { ResponseReader } from "./response.ts";
import type { Endpoint, Transport, TransportRequest } from "./transport.ts";

export class SocketTransport implements Transport {
  readonly #pool = new ConnectionPool();

  async send(endpoint: Endpoint, given: TransportRequest, deadline: Deadline): Promise<OutboundResponse> {
    const { request } = given;
    const text = textOf(given);
    const key = this.#pool.keyOf(endpoint);
    for (;;) {
      const connection = this.#pool.take(key) ?? (await deadline.open(this.#pool.open(endpoint), request.connectionMs));
      const reader = new ResponseReader(request.responseBytesMax, request.takeBody);
      deadline.connection = connection;
      try {
        await connection.exchange(text, reader, request.silenceMs);
      } catch (error) {
        // The other side may close a connection that waits. If not a single byte has come back, the request is sent anew.
        if (error instanceof RequestFailed && error.kind === "closed" && connection.wasUsed && !reader.hasBegun) continue;
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
