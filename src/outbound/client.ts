/**
 * The only way out of the server (D-64): handshakes, deliveries, files that are fetched. The address is checked, and the
 * checked address is the one connected to; redirects are not followed; the response is cut; the whole request has a deadline.
 *
 * Errors: `CallbackRefused` (`callback-address.ts`) before anything is sent, `CallFailed` (`outbound-connection.ts`).
 */
import { BoundedMap } from "#kernel/bounded-map";
import { addressRefusal, CallbackRefused, type CallbackRules, type CallbackTarget, readCallback } from "./address-rules.ts";
import type { OutboundRequest, OutboundResponse } from "./request.ts";
import { Names, type ResolveName, systemNames } from "./resolver.ts";
import { type Endpoint, type EndpointTls, RequestFailed } from "./transport/connection.ts";
import { type Deadline, Deadlines } from "./transport/deadline.ts";
import { ConnectionPool, endpointOf } from "./transport/pool.ts";
import { ResponseReader } from "./transport/response.ts";

export interface GuardedClientOptions {
  readonly rules: CallbackRules;
  /** The system's names unless a test has its own. */
  readonly resolve?: ResolveName;
  /** Certificates (PEM) to trust in place of the system's. */
  readonly ca?: string;
}

/** Parsed addresses that are kept: each callback's is needed again with its next delivery. */
const TARGETS_MAX = 10_000;
/** More addresses of one name are not tried, nor would a request's deadline allow it. */
const ADDRESSES_TRIED_MAX = 4;

export class GuardedClient {
  readonly #options: GuardedClientOptions;
  readonly #names: Names;
  readonly #pool = new ConnectionPool();
  readonly #deadlines = new Deadlines();
  readonly #targets = new BoundedMap<string, CallbackTarget>(TARGETS_MAX);

  constructor(options: GuardedClientOptions) {
    this.#options = options;
    this.#names = new Names(options.resolve ?? systemNames);
  }

  /** Whether the address may be called as far as it says itself; throws `CallbackRefused`. Names are resolved by `call`. */
  check(url: string): CallbackTarget {
    const known = this.#targets.get(url);
    if (known !== undefined) return known;
    const target = readCallback(url, this.#options.rules);
    this.#targets.set(url, target);
    return target;
  }

  async request(outboundRequest: OutboundRequest): Promise<OutboundResponse> {
    const target = withQuery(this.check(outboundRequest.url), outboundRequest.moreQuery);
    const deadline = this.#deadlines.begin(outboundRequest.deadlineMs);
    try {
      const addresses = target.isLiteral ? [target.host] : await this.#addressesOf(target, deadline);
      const tls = target.isTls ? { serverName: target.isLiteral ? undefined : target.host, ca: this.#options.ca } : undefined;
      return await this.#requestOneOf(addresses, target, tls, outboundRequest, deadline);
    } finally {
      deadline.leave();
    }
  }

  close(): void {
    this.#pool.close();
  }

  /** Every address must be allowed: a name that leads to a public and a private one is a trap. */
  async #addressesOf({ host }: CallbackTarget, deadline: Deadline): Promise<readonly string[]> {
    const addresses = await deadline.race(this.#names.addressesOf(host));
    for (const address of addresses) {
      const refusal = addressRefusal(address, host, this.#options.rules);
      if (refusal !== undefined) throw new CallbackRefused(`${host} leads to ${refusal}`);
    }
    return addresses;
  }

  /** The next address is tried only where the one before took no connection, so nothing is sent twice. */
  async #requestOneOf(
    addresses: readonly string[],
    target: CallbackTarget,
    tls: EndpointTls | undefined,
    outboundRequest: OutboundRequest,
    deadline: Deadline,
  ): Promise<OutboundResponse> {
    const count = Math.min(addresses.length, ADDRESSES_TRIED_MAX);
    for (let at = 0; at < count; at++) {
      const address = addresses[at] as string;
      try {
        return await this.#requestAddress(endpointOf(address, target.port, tls), target, outboundRequest, deadline);
      } catch (error) {
        const hasNext = at + 1 < count;
        if (!hasNext || !(error instanceof RequestFailed) || error.kind !== "connect") throw error;
      }
    }
    throw new RequestFailed("dns", `${target.host} has no address`);
  }

  async #requestAddress(endpoint: Endpoint, target: CallbackTarget, outboundRequest: OutboundRequest, deadline: Deadline): Promise<OutboundResponse> {
    const request = requestText(target, outboundRequest);
    for (;;) {
      const connection = this.#pool.take(endpoint) ?? (await deadline.open(this.#pool.open(endpoint)));
      const reader = new ResponseReader(outboundRequest.responseBytesMax, outboundRequest.takeBody);
      deadline.connection = connection;
      try {
        await connection.exchange(request, reader);
      } catch (error) {
        // The other side closed a connection that had waited, as it may; without a single byte of return it is asked anew.
        if (error instanceof RequestFailed && error.kind === "closed" && connection.wasUsed && !reader.hasBegun) continue;
        if (outboundRequest.isStatusEnough === true && reader.status > 0) return { status: reader.status, body: reader.body(), isCut: true };
        throw error;
      } finally {
        deadline.connection = undefined;
      }
      this.#pool.give(endpoint, connection);
      return { status: reader.status, body: reader.body(), isCut: reader.isCut };
    }
  }
}

const withQuery = (target: CallbackTarget, more: string | undefined): CallbackTarget =>
  more === undefined ? target : { ...target, path: `${target.path}${target.path.includes("?") ? "&" : "?"}${more}` };

function requestText({ authority, path }: CallbackTarget, { method, headers, body }: OutboundRequest): string {
  let text = `${method} ${path} HTTP/1.1\r\nHost: ${authority}\r\n`;
  for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
  return body === undefined ? `${text}\r\n` : `${text}Content-Length: ${body.length}\r\n\r\n${body}`;
}
