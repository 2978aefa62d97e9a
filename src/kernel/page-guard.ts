/**
 * D-240: which web pages may use a sandbox. Its tokens are known, and a page that a developer opens can send requests to a server on their
 * machine, so pages of other sites are refused. A browser says where a request comes from, and a page cannot change that: in `Origin`, in
 * `Sec-Fetch-Site`, and in `Host`, which names the page's own site where its name was made to lead to this machine.
 */
interface PageRules {
  /** `--allow-origin`: as `originOf` writes them. */
  readonly origins: readonly string[];
  /** `--allow-host`, and the other names under which the server is configured: as `hostnameOf` writes them. */
  readonly hosts: readonly string[];
}

export interface PageRequest {
  readonly method: string;
  /** With or without a port. */
  readonly host: string;
  /** Lower-case name; undefined when the header was not sent. */
  header(name: string): string | undefined;
}

export class PageGuard {
  readonly #origins: ReadonlySet<string>;
  readonly #hosts: ReadonlySet<string>;
  /** The last one that was found to be own: nearly all requests name the same. */
  #ownHost: string | undefined;

  constructor({ origins, hosts }: PageRules) {
    this.#origins = new Set(origins);
    this.#hosts = new Set(hosts);
  }

  /** Why the request is refused, as a sentence that says what to do; undefined where it is served. */
  refusalOf({ method, host, header }: PageRequest): string | undefined {
    if (host !== this.#ownHost) {
      if (!this.#isOwn(hostnameOf(host))) return `The host ${host} is not served by this sandbox; start it with --allow-host to allow it`;
      this.#ownHost = host;
    }
    const origin = header("origin");
    if (origin !== undefined)
      return this.#isAllowed(origin) ? undefined : `Pages of ${origin} may not use this sandbox; start it with --allow-origin to allow them`;
    if (header("sec-fetch-site") !== "cross-site") return undefined;
    // Somebody follows a link and sees the response; the page with the link does not.
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

/** RFC 6761, 6.3: names below `localhost` are this machine, too. */
export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || hostname.endsWith(".localhost") || /^127(?:\.\d{1,3}){3}$/.test(hostname);

/** What browsers send for pages without an origin of their own: files, and frames that are kept apart. */
const NO_ORIGIN = "null";

/** As browsers write it: scheme, host, and the port unless it is the scheme's own. Undefined for what is no origin. */
export function originOf(text: string): string | undefined {
  if (text === NO_ORIGIN) return NO_ORIGIN;
  const url = URL.parse(text);
  if (url === null || url.host === "" || `${url.username}${url.password}${url.search}${url.hash}` !== "") return undefined;
  return url.pathname === "/" || url.pathname === "" ? `${url.protocol}//${url.host.toLowerCase()}` : undefined;
}

/** Lower case and without the port; an IPv6 address in brackets and in its shortest form. Undefined for what is no host. */
export function hostnameOf(host: string): string | undefined {
  // Anything else would end the host for a URL.
  if (!/^[\w.:[\]-]+$/.test(host)) return undefined;
  const hostname = URL.parse(`http://${host}`)?.hostname;
  return hostname === undefined || hostname === "" ? undefined : hostname.replace(/\.$/, "");
}
