/** D-01: scheme and host as the caller used them. */
import ipaddr from "ipaddr.js";
import { findHeader, type RawHeaders } from "./http1/headers.ts";

export interface Origin {
  readonly scheme: string;
  /** With the port, as the caller wrote it. */
  readonly host: string;
}

/** Proxies of one installation; a flood of addresses must not grow the memory. */
const REMEMBERED_MAX = 1_000;

export class Origins {
  readonly #trusted: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];
  readonly #known = new Map<string, boolean>();
  #configured: Origin;
  #lastHost = "";

  /** `trustedProxies` are CIDR ranges, e.g. `10.0.0.0/8`. Throws for what is none. */
  constructor(trustedProxies: readonly string[]) {
    this.#trusted = trustedProxies.map((range) => ipaddr.parseCIDR(range.includes("/") ? range : `${range}/${range.includes(":") ? 128 : 32}`));
    this.#configured = { scheme: "http", host: "localhost" };
  }

  /** What stands in for a Host header that is missing or malformed. */
  configured(hostname: string, port: number): void {
    const isAny = hostname === "0.0.0.0" || hostname === "::";
    const host = isAny ? "localhost" : hostname.includes(":") ? `[${hostname}]` : hostname;
    this.#configured = { scheme: "http", host: `${host}:${port}` };
  }

  /** The address of `peer` is asked only where proxies are trusted: looking it up has a cost. */
  of(raw: RawHeaders, authority: string | undefined, peer: { readonly remoteAddress: string | undefined }): Origin {
    const sent = authority ?? findHeader(raw, "host");
    const host = this.#isHost(sent) ? sent : this.#configured.host;
    if (this.#trusted.length === 0 || !this.#isTrusted(peer.remoteAddress)) return { scheme: this.#configured.scheme, host };
    const forwardedHost = firstOf(findHeader(raw, "x-forwarded-host"));
    const forwardedScheme = firstOf(findHeader(raw, "x-forwarded-proto"))?.toLowerCase();
    return {
      scheme: forwardedScheme === "https" || forwardedScheme === "http" ? forwardedScheme : this.#configured.scheme,
      host: isHost(forwardedHost) ? forwardedHost : host,
    };
  }

  /** Nearly every request names the same host as the one before. */
  #isHost(text: string | undefined): text is string {
    if (text !== undefined && text === this.#lastHost) return true;
    if (!isHost(text)) return false;
    this.#lastHost = text;
    return true;
  }

  #isTrusted(remote: string | undefined): boolean {
    if (remote === undefined) return false;
    let isTrusted = this.#known.get(remote);
    if (isTrusted === undefined) {
      isTrusted = this.#isInRanges(remote);
      if (this.#known.size >= REMEMBERED_MAX) this.#known.clear();
      this.#known.set(remote, isTrusted);
    }
    return isTrusted;
  }

  #isInRanges(remote: string): boolean {
    if (!ipaddr.isValid(remote)) return false;
    // An IPv4 address on an IPv6 socket is meant as what it is.
    const address = ipaddr.process(remote);
    return this.#trusted.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
  }
}

/** Of a chain of proxies the first wrote down what the caller used. */
const firstOf = (list: string | undefined): string | undefined => list?.split(",", 1)[0]?.trim();

/** The longest name of the DNS and a port. */
const HOST_CHARACTERS_MAX = 260;
const IPV6_HOST = /^\[[0-9a-fA-F:.]+\](?::\d{1,5})?$/;

/** A name or IPv4 address, or an IPv6 address in brackets, with or without a port: nothing that could break a link. */
export function isHost(text: string | undefined): text is string {
  if (text === undefined || text === "" || text.length > HOST_CHARACTERS_MAX) return false;
  if (text.charCodeAt(0) === 91) return IPV6_HOST.test(text);
  let at = 0;
  while (at < text.length && isNameUnit(text.charCodeAt(at))) at++;
  if (at === text.length) return true;
  if (at === 0 || text.charCodeAt(at) !== 58 || text.length - at > 6 || at + 1 === text.length) return false;
  for (at++; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 48 || unit > 57) return false;
  }
  return true;
}

const isNameUnit = (unit: number): boolean =>
  (unit >= 97 && unit <= 122) || (unit >= 48 && unit <= 57) || unit === 46 || unit === 45 || (unit >= 65 && unit <= 90) || unit === 95;

/** Lower case, without the port. */
export function hostnameOf(host: string): string {
  const end = host.charCodeAt(0) === 91 ? host.indexOf("]") + 1 : host.indexOf(":");
  return (end === -1 ? host : host.slice(0, end)).toLowerCase();
}
