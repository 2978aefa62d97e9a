/** The proxies that the environment names for hosts for which Plaza does not respond, and the hosts that are reached without a proxy (`NO_PROXY`). */
import { ConfigProblem } from "#config/config";
import { isLoopback } from "#kernel/page-guard";
import type { ProxyTarget } from "./proxy-head.ts";

export interface UpstreamProxy {
  readonly hostname: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** The header line with the credentials from the proxy's address. The list of header lines is empty if the proxy's address has no credentials. */
  readonly authorization: readonly string[];
}

type Variables = Readonly<Record<string, string | undefined>>;

export class UpstreamProxies {
  readonly #ofTunnels: UpstreamProxy | undefined;
  readonly #ofRequests: UpstreamProxy | undefined;
  readonly #excluded: readonly string[];

  /**
   * Reads `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, in upper or lower case. Throws `ConfigProblem` if a proxy is not an HTTP proxy.
   */
  constructor(variables: Variables) {
    const named = (...names: readonly string[]): UpstreamProxy | undefined => {
      for (const name of names.flatMap((one) => [one.toLowerCase(), one])) {
        const value = variables[name];
        if (value !== undefined && value !== "") return proxyOf(name, value);
      }
      return undefined;
    };
    this.#ofTunnels = named("HTTPS_PROXY", "ALL_PROXY");
    this.#ofRequests = named("HTTP_PROXY", "ALL_PROXY");
    this.#excluded = (variables.no_proxy || variables.NO_PROXY || "").split(/[\s,]+/).filter((entry) => entry !== "");
  }

  /** Returns the proxy for this host, or undefined if the host is reached directly. */
  of(target: ProxyTarget, isTunnel: boolean): UpstreamProxy | undefined {
    const proxy = isTunnel ? this.#ofTunnels : this.#ofRequests;
    if (proxy === undefined || isLocal(target.hostname)) return undefined;
    return this.#excluded.some((entry) => isExcluded(entry.toLowerCase(), target)) ? undefined : proxy;
  }
}

/** Whether the host name means this machine. */
export const isLocal = (hostname: string): boolean => hostname === "::1" || isLoopback(hostname);

/**
 * Whether an entry of `NO_PROXY` contains the host. Entries have the same forms as for curl, Python and Go: `*`, a host, or a domain with or without
 * a dot in front, each with or without a port.
 */
function isExcluded(entry: string, { hostname, port }: ProxyTarget): boolean {
  if (entry === "*") return true;
  const [, name = entry, portText] = /^(.*?)(?::(\d+))?$/.exec(entry.replace(/^\*?\./, "")) ?? [];
  return (portText === undefined || Number(portText) === port) && (hostname === name || hostname.endsWith(`.${name}`));
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

function proxyOf(name: string, value: string): UpstreamProxy {
  const url = URL.parse(value.includes("://") ? value : `http://${value}`);
  const defaultPort = url === null ? undefined : DEFAULT_PORTS[url.protocol];
  if (url === null || url.hostname === "" || defaultPort === undefined)
    throw new ConfigProblem(
      name,
      "must be the address of a proxy for HTTP, such as http://proxy.example.com:3128, so that other hosts can be reached",
    );
  const { username, password } = url;
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64");
  return {
    hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? defaultPort : Number(url.port),
    isSecure: url.protocol === "https:",
    authorization: username === "" ? [] : [`Proxy-Authorization: Basic ${credentials}`],
  };
}
