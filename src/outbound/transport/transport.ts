/** The interface that sends a request to a checked address. A transport neither resolves names nor follows redirects. */
import type { OutboundRequest, OutboundResponse } from "../request.ts";
import type { Deadline } from "./deadline.ts";

export interface Endpoint {
  /** The checked address, as a literal: the transport connects to no other address. */
  readonly address: string;
  readonly port: number;
  readonly tls: EndpointTls | undefined;
}

interface EndpointTls {
  /** The server name for which the certificate must be valid; undefined means the address itself. */
  readonly serverName: string | undefined;
  /** Certificates (PEM) that are trusted instead of the system's. */
  readonly ca: string | undefined;
}

export interface TransportRequest {
  readonly request: OutboundRequest;
  /** The value of the `Host` header. */
  readonly authority: string;
  /** Path and query. */
  readonly path: string;
}

export interface Transport {
  /**
   * Sends the request once. Rejects with `RequestFailed`, also when the deadline passes. The kind `connect` says that nothing was sent, so that
   * another address may be tried.
   */
  send(endpoint: Endpoint, request: TransportRequest, deadline: Deadline): Promise<OutboundResponse>;
  close(): void;
}

/**
 * Writes the requests of one moment back to back. The first request wakes a receiver on this machine, which is still awake for the other requests.
 * Single writes would wake the receiver each time (measured: 8 to 22 µs a write instead of 5.6).
 */
export interface Writing {
  /** Writes the request to the socket, unless the caller gave it up. */
  write(): void;
}

export class RequestBurst {
  #waiting: Writing[] = [];

  /** Adds a request, which is written before anything else is read from the network. */
  add(one: Writing): void {
    if (this.#waiting.push(one) === 1) queueMicrotask(this.#flush);
  }

  /** Requests that were begun together arrive here together, because they have taken the same number of asynchronous steps. */
  readonly #flush = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const one of waiting) one.write();
  };
}
