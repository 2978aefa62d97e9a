/**
 * Sends all requests of the server to other servers (D-64): handshakes, deliveries and downloads of feed files. The client checks an address and then
 * connects to exactly that address. The client does not follow redirects, cuts a long response, and has one deadline for the whole request.
 *
 * The client throws `CallbackRefused` (`address-rules.ts`) before it sends a request, and `RequestFailed` (`request.ts`) after that.
 */
import { lookup } from "node:dns/promises";
import { BoundedMap } from "#kernel/bounded-map";
import { addressRefusal, allowedBy, CallbackRefused, type CallbackRules, type CallbackTarget, readCallback } from "./address-rules.ts";
import { type OutboundRequest, type OutboundResponse, RequestFailed } from "./request.ts";
import { type Deadline, Deadlines } from "./transport/deadline.ts";
import { SocketTransport, type TransportRequest } from "./transport/socket-transport.ts";

export interface GuardedClientOptions {
  readonly rules: CallbackRules;
  /** Resolves names; tests can replace this function. Without this function, the client uses the system's resolver. */
  readonly resolve?: ResolveName;
  /** Certificates (PEM) that are trusted in place of the system's certificates. */
  readonly ca?: string;
}

/** The greatest number of parsed URLs in the cache. The cache saves time because each delivery to a callback needs the same URL. */
const TARGETS_MAX = 10_000;
/** The number of addresses of one host name that the client tries. The deadline of a request leaves no time to try more addresses. */
const ADDRESSES_TRIED_MAX = 4;

export class GuardedClient {
  readonly #options: GuardedClientOptions;
  readonly #names: Names;
  readonly #transport = new SocketTransport();
  readonly #deadlines = new Deadlines();
  readonly #targets = new BoundedMap<string, CallbackTarget>(TARGETS_MAX);

  constructor(options: GuardedClientOptions) {
    this.#options = options;
    this.#names = new Names(options.resolve ?? systemNames);
  }

  /**
   * Checks the URL without resolving its name, and throws `CallbackRefused` if the URL is not allowed. The method `request` later resolves the name
   * and checks the name's addresses.
   */
  check(url: string): CallbackTarget {
    const known = this.#targets.get(url);
    if (known !== undefined) return known;
    const target = readCallback(url, this.#options.rules);
    this.#targets.set(url, target);
    return target;
  }

  /** Sends a request. Rejects with `CallbackRefused` or `RequestFailed`. */
  async request(request: OutboundRequest): Promise<OutboundResponse> {
    const target = this.check(request.url);
    const deadline = this.#deadlines.begin(request.deadlineMs);
    try {
      const addresses = target.isLiteral ? [target.host] : await this.#addressesOf(target, deadline);
      const path = withQuery(target.path, request.moreQuery);
      return await this.#sendToOneOf(addresses, target, { request, authority: target.authority, path }, deadline);
    } finally {
      deadline.leave();
    }
  }

  /** Closes the client's idle connections and stops its timers. */
  close(): void {
    this.#deadlines.close();
    this.#transport.close();
  }

  /** Resolves a name. All addresses of the name must be allowed, because a name with a public and a private address may be an attack. */
  async #addressesOf({ host }: CallbackTarget, deadline: Deadline): Promise<readonly string[]> {
    const addresses = await deadline.race(this.#names.addressesOf(host));
    // The error message does not contain the refused address or its type, because the person who chose the name must not learn how names resolve in
    // this network.
    if (addresses.some((address) => addressRefusal(address, host, this.#options.rules) !== undefined))
      throw new CallbackRefused(allowedBy(host, `${host} leads to an address that may not be called`));
    return addresses;
  }

  /**
   * Sends the request to the first address that accepts a connection. Another address of the name is tried only if the address before it did not
   * accept a connection, so a request is never sent twice.
   */
  async #sendToOneOf(
    addresses: readonly string[],
    { host, port, isTls, isLiteral }: CallbackTarget,
    request: TransportRequest,
    deadline: Deadline,
  ): Promise<OutboundResponse> {
    // The TLS server name must not be an IP address (RFC 6066). Without a server name, the certificate is verified for the address.
    const tls = isTls ? { serverName: isLiteral ? undefined : host, ca: this.#options.ca } : undefined;
    const count = Math.min(addresses.length, ADDRESSES_TRIED_MAX);
    for (let at = 0; at < count; at++) {
      try {
        return await this.#transport.send({ address: addresses[at] as string, port, tls }, request, deadline);
      } catch (error) {
        const hasNext = at + 1 < count;
        if (!hasNext || !(error instanceof RequestFailed) || error.kind !== "connect") throw error;
      }
    }
    throw new RequestFailed("dns", `${host} has no address`);
  }
}

const withQuery = (path: string, more: string | undefined): string => (more === undefined ? path : `${path}${path.includes("?") ? "&" : "?"}${more}`);

/** Resolves a name to all its IPv4 and IPv6 addresses. Rejects if the name has no address. */
type ResolveName = (name: string) => Promise<readonly string[]>;

/**
 * The time for which resolved addresses are cached, in ms. When a receiver moves to another address, Plaza notices the move within this time.
 * Addresses from the cache are checked, too.
 */
const KEPT_MS = 5_000;
const NAMES_MAX = 10_000;

export const systemNames: ResolveName = async (name) => (await lookup(name, { all: true })).map(({ address }) => address);

interface Kept {
  readonly addresses: Promise<readonly string[]>;
  readonly untilMs: number;
}

export class Names {
  readonly #resolve: ResolveName;
  readonly #kept = new BoundedMap<string, Kept>(NAMES_MAX);

  constructor(resolve: ResolveName) {
    this.#resolve = resolve;
  }

  /** The addresses of a name, from the cache or from the resolver. Rejects with `RequestFailed`. */
  addressesOf(name: string): Promise<readonly string[]> {
    // time: the age of an address is real time, not a world's.
    const now = performance.now();
    const kept = this.#kept.get(name);
    if (kept !== undefined && now < kept.untilMs) return kept.addresses;
    const addresses = this.#ask(name);
    this.#kept.set(name, { addresses, untilMs: now + KEPT_MS });
    // A failed lookup is not cached, so the next request resolves the name again.
    addresses.catch(() => {
      if (this.#kept.get(name)?.addresses === addresses) this.#kept.delete(name);
    });
    return addresses;
  }

  async #ask(name: string): Promise<readonly string[]> {
    let addresses: readonly string[];
    try {
      addresses = await this.#resolve(name);
    } catch {
      addresses = [];
    }
    if (addresses.length === 0) throw new RequestFailed("dns", `${name} has no address`);
    return addresses;
  }
}
