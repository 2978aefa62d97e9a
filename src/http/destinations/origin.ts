/** D-01: finds the scheme and host that the client used, and the text with which the addresses in links begin. */

import ipaddr from "ipaddr.js";
import { BoundedMap } from "#kernel/bounded-map";
import { findHeader, type RawHeaders } from "#kernel/http-text/headers";
import { isHost } from "../http1/request-head.ts";

/** The scheme and host that the client used. */
export interface Origin {
  readonly scheme: string;
  /** The host with its port, in the spelling of the client. */
  readonly host: string;
}

/**
 * The maximum number of addresses in each cache of addresses. An installation has fewer proxies than this number;
 * the number is limited so that a flood of addresses cannot use up the memory.
 */
const REMEMBERED_MAX = 1_000;

export class Origins {
  readonly #trusted: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];
  readonly #known = new BoundedMap<string, boolean>(REMEMBERED_MAX);
  readonly #networks = new BoundedMap<string, string>(REMEMBERED_MAX);
  readonly #publicUrl: string | undefined;
  #configured: Origin;

  /**
   * `trustedProxies` are CIDR ranges, e.g. `10.0.0.0/8`. The constructor throws if one of the trusted proxies is not a CIDR range. `publicUrl` has no
   * slash at its end.
   */
  constructor(trustedProxies: readonly string[], publicUrl?: string) {
    this.#publicUrl = publicUrl;
    this.#trusted = trustedProxies.map((range) => ipaddr.parseCIDR(range.includes("/") ? range : `${range}/${range.includes(":") ? 128 : 32}`));
    this.#configured = { scheme: "http", host: "localhost" };
  }

  /** Sets the scheme of the listener, and the host for requests that name no host. Only HTTP/1.0 allows requests without a host. */
  configured(scheme: "http" | "https", hostname: string, port: number): void {
    const isAny = hostname === "0.0.0.0" || hostname === "::";
    const host = isAny ? "localhost" : hostname.includes(":") ? `[${hostname}]` : hostname;
    this.#configured = { scheme, host: `${host}:${port}` };
  }

  /**
   * Returns the scheme and host of a request. `named` is the host that the request is for. The address of `peer` is read only if the operator trusts
   * proxies, because reading the address takes time.
   */
  of(headers: RawHeaders, named: string | undefined, peer: { readonly remoteAddress: string | undefined }): Origin {
    const { scheme } = this.#configured;
    const host = named ?? this.#configured.host;
    if (this.#trusted.length === 0 || !this.#isTrusted(peer.remoteAddress)) return { scheme, host };
    const forwardedHost = firstOf(findHeader(headers, "x-forwarded-host"));
    const forwardedScheme = firstOf(findHeader(headers, "x-forwarded-proto"))?.toLowerCase();
    return {
      scheme: forwardedScheme === "https" || forwardedScheme === "http" ? forwardedScheme : scheme,
      host: isHost(forwardedHost) ? forwardedHost : host,
    };
  }

  /**
   * Returns the client's address, which the trusted proxies have added to the header. For IPv6 the method returns the network of 64 bits, because one
   * client has a whole network of this size.
   */
  clientOf(headers: RawHeaders, peer: { readonly remoteAddress: string | undefined }): string {
    let client = peer.remoteAddress ?? "";
    if (this.#trusted.length > 0 && this.#isTrusted(client)) {
      const forwarded = (findHeader(headers, "x-forwarded-for") ?? "").split(",");
      for (let at = forwarded.length - 1; at >= 0 && this.#isTrusted(client); at--) {
        const before = withoutPort((forwarded[at] as string).trim());
        if (!ipaddr.isValid(before)) break;
        client = before;
      }
    }
    return client.includes(":") ? this.#networkOf(client) : client;
  }

  /** Whether `peer` is a proxy whose headers the server trusts. */
  isProxy(peer: { readonly remoteAddress: string | undefined }): boolean {
    return this.#trusted.length > 0 && this.#isTrusted(peer.remoteAddress);
  }

  /**
   * Returns the text with which absolute addresses in the response begin. If the operator has set a public address, the addresses in responses begin
   * with that address, and the header Host is ignored.
   */
  baseUrlOf({ scheme, host }: Origin, { mount, hostname }: { readonly mount: string; readonly hostname: string | undefined }): string {
    const url = this.#publicUrl;
    if (url === undefined) return `${scheme}://${host}${mount}`;
    return `${hostname === undefined ? url : atHostname(url, hostname)}${mount}`;
  }

  #networkOf(address: string): string {
    let network = this.#networks.get(address);
    if (network === undefined) {
      const client = ipaddr.process(address.split("%", 1)[0] as string);
      network =
        client instanceof ipaddr.IPv6
          ? `${client.parts
              .slice(0, 4)
              .map((part) => part.toString(16))
              .join(":")}::/64`
          : client.toString();
      this.#networks.set(address, network);
    }
    return network;
  }

  #isTrusted(remote: string | undefined): boolean {
    if (remote === undefined) return false;
    let isTrusted = this.#known.get(remote);
    if (isTrusted === undefined) {
      isTrusted = this.#isInRanges(remote);
      this.#known.set(remote, isTrusted);
    }
    return isTrusted;
  }

  #isInRanges(remote: string): boolean {
    if (!ipaddr.isValid(remote)) return false;
    // An IPv4 address that arrives on an IPv6 socket is compared as IPv4.
    const address = ipaddr.process(remote);
    return this.#trusted.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
  }
}

/** Returns the address without its port, which some proxies add: `203.0.113.7:4711`, `[2001:db8::1]:4711`. */
const withoutPort = (address: string): string => /^\[([^\]]*)\](?::\d+)?$|^([^:]*):\d+$/.exec(address)?.slice(1).find(Boolean) ?? address;

/** Returns the first value of a header with a list. In a chain of proxies, the first proxy has added the first value, which describes the client. */
const firstOf = (list: string | undefined): string | undefined => list?.split(",", 1)[0]?.trim();

/** Returns the root address of a surface that has its own host name, with the scheme and port of `url`. */
export function atHostname(url: string, hostname: string): string {
  const { protocol, port } = new URL(url);
  return `${protocol}//${hostname}${port === "" ? "" : `:${port}`}`;
}

/** Returns the host name of a host in lower case, without the port. */
export function hostnameOf(host: string): string {
  const end = host.charCodeAt(0) === 91 ? host.indexOf("]") + 1 : host.indexOf(":");
  return (end === -1 ? host : host.slice(0, end)).toLowerCase();
}
