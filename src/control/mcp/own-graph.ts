/** Sends requests of MCP to the graph of this server. */
import type { ServedBy } from "#control-contract/route";
import type { GraphRequest } from "../client/graph-call.ts";

/** Listeners at these addresses are reached by an address of this machine. */
const EVERYWHERE = { "0.0.0.0": "127.0.0.1", "[::]": "[::1]" };

/** The time for a response. A client of MCP waits about a minute itself. */
export const RESPONSE_MS_MAX = 60_000;
/** Bun's declarations do not know that `false` turns off the proxy of the environment. */
const NO_PROXY = false as unknown as string;

/**
 * Sends the request to the address where the graph listens, whatever address its clients use. A surface with a host name of its own is named by the
 * header `Host`. The certificate need not be valid for this address, because the request does not leave the machine.
 */
export function callOwnGraph({ base_url }: ServedBy, { url, root, init }: GraphRequest): Promise<Response> {
  const own = new URL(base_url);
  own.hostname = EVERYWHERE[own.hostname as keyof typeof EVERYWHERE] ?? own.hostname;
  const asked = new URL(url);
  const isAtRoot = url.startsWith(root);
  const path = isAtRoot ? url.slice(root.length) : asked.pathname + asked.search;
  const headers = { ...(init.headers as Record<string, string>), ...(isAtRoot ? {} : { host: asked.host }) };
  // On a kept connection that is reset, Bun would send the request a second time.
  const connection = { tls: { rejectUnauthorized: false }, proxy: NO_PROXY, keepalive: false };
  return fetch(own.origin + path, { ...init, headers, redirect: "manual", signal: AbortSignal.timeout(RESPONSE_MS_MAX), ...connection });
}
