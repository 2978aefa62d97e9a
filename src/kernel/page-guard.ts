/**
 * D-240: decides which web pages may use a sandbox. Everybody knows the tokens of a sandbox, and any page in a developer's browser can send requests
 * to a server on the same machine. For this reason the sandbox refuses requests from web pages of other sites. Browsers send the page's origin in
 * `Origin` and `Sec-Fetch-Site`, and a page cannot change the values of these headers. If an attacker makes another site's name resolve to this
 * machine, the header `Host` contains that site's name.
 */
interface PageRules {
  /** The origins that the operator allows (`--allow-origin`), in the form of `originOf`. */
  readonly origins: readonly string[];
  /** The host names that the operator allows (`--allow-host`), and the configured names of the server, in the form of `hostnameOf`. */
  readonly hosts: readonly string[];
}

export interface PageRequest {
  readonly method: string;
  /** The value of the header `Host`, with or without a port. */
  readonly host: string;
  /** The value of a header, whose name is given in lower case. The value is undefined if the client did not send the header. */
  header(name: string): string | undefined;
}

export class PageGuard {
  readonly #origins: ReadonlySet<string>;
  readonly #hosts: ReadonlySet<string>;
  /**
   * The last value of `Host` that is a name of this server. Nearly all requests have the same value of `Host`, so it is enough to compare their value
   * with this one.
   */
  #ownHost: string | undefined;

  constructor({ origins, hosts }: PageRules) {
    this.#origins = new Set(origins);
    this.#hosts = new Set(hosts);
  }

  /** Returns a sentence that says why the request is refused and how the operator can allow it. The reason is undefined if the request is allowed. */
  refusalOf({ method, host, header }: PageRequest): string | undefined {
    if (host !== this.#ownHost) {
      if (!this.#isOwn(hostnameOf(host))) return `The host ${host} is not served by this sandbox; start it with --allow-host to allow it`;
      this.#ownHost = host;
    }
    const origin = header("origin");
    if (origin !== undefined)
      return this.#isAllowed(origin) ? undefined : `Pages of ${origin} may not use this sandbox; start it with --allow-origin to allow them`;
    if (header("sec-fetch-site") !== "cross-site") return undefined;
    // If a person follows a link, only the person sees the response, and not the page with the link.
    const isFollowed = method === "GET" && header("sec-fetch-mode") === "navigate" && header("sec-fetch-dest") === "document";
    return isFollowed ? undefined : "Pages of other sites may not use this sandbox; start it with --allow-origin to allow them";
  }

  #isAllowed(origin: string): boolean {
    const named = originOf(origin);
    if (named === undefined) return false;
    return this.#origins.has(named) || (named !== NO_ORIGIN && this.#isOwn(hostnameOf(named.slice(named.indexOf("//") + 2))));
  }

  #isOwn(hostname: string | undefined): boolean {
    return hostname !== undefined && (isLoopback(hostname) || this.#hosts.has(hostname));
  }
}

/** Whether the host name means this machine. Names that end with `.localhost` also mean this machine (RFC 6761, 6.3). */
export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || hostname.endsWith(".localhost") || /^127(?:\.\d{1,3}){3}$/.test(hostname);

/** The text that browsers send as the origin of local files and sandboxed frames. */
const NO_ORIGIN = "null";

/**
 * Returns an origin as browsers write origins: scheme, host, and the port unless it is the scheme's default. The result is undefined if the text is
 * not an origin.
 */
export function originOf(text: string): string | undefined {
  if (text === NO_ORIGIN) return NO_ORIGIN;
  const url = URL.parse(text);
  if (url === null || url.host === "" || `${url.username}${url.password}${url.search}${url.hash}` !== "") return undefined;
  return url.pathname === "/" || url.pathname === "" ? `${url.protocol}//${url.host.toLowerCase()}` : undefined;
}

/**
 * Returns the host name in the header `Host`, in lower case and without the port. An IPv6 address is returned in brackets and in its shortest form.
 * The result is undefined if the text is not a host.
 */
export function hostnameOf(host: string): string | undefined {
  // The pattern refuses all other characters, because a URL parser would end the host at such a character.
  if (!/^[\w.:[\]-]+$/.test(host)) return undefined;
  const hostname = URL.parse(`http://${host}`)?.hostname;
  return hostname === undefined || hostname === "" ? undefined : hostname.replace(/\.$/, "");
}
