/** How a request reaches an address that has been checked. A transport neither resolves names nor follows redirects. */
import type { OutboundRequest, OutboundResponse } from "../request.ts";
import type { Deadline } from "./deadline.ts";

export interface Endpoint {
  /** A literal address, already checked: nothing else is connected to. */
  readonly address: string;
  readonly port: number;
  readonly tls: EndpointTls | undefined;
}

interface EndpointTls {
  /** The name that the certificate must be for; undefined: the address itself. */
  readonly serverName: string | undefined;
  /** Certificates (PEM) to trust in place of the system's. */
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
   * Sends the request once. Rejects with `RequestFailed`, also when the deadline passes; the kind `connect` says that nothing was
   * sent, so that another address may be tried.
   */
  send(endpoint: Endpoint, request: TransportRequest, deadline: Deadline): Promise<OutboundResponse>;
  close(): void;
}

/**
 * Writes the requests of one moment back to back. The first one wakes a receiver on this machine, which is still awake for the
 * others, where single writes would wake it each time: measured, 5.6 µs a write in place of 8 to 22.
 */
export interface Writing {
  /** Hands the request to the system, unless it was given up. */
  write(): void;
}

export class RequestBurst {
  #waiting: Writing[] = [];

  /** It is written before anything else is read from the network. */
  add(one: Writing): void {
    if (this.#waiting.push(one) === 1) queueMicrotask(this.#flush);
  }

  /** Requests that were begun together arrive here together, since they have taken as many steps. */
  readonly #flush = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const one of waiting) one.write();
  };
}
