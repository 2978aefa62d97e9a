/**
 * Serves MCP at the path `/mcp` of the control port. The tools of MCP send requests to this control API with the caller's key, so they can do only
 * what the key allows.
 */
import { badRequest, forbidden } from "#control-contract/errors";
import type { CallerKey, ControlDeps, ControlRoute, ServedBy } from "#control-contract/route";
import { DEFAULT_WORLD } from "#graph/worlds/hosting/worlds.store";
import type { GraphRequest } from "../client/graph-call.ts";
import { type Endpoint, NO_PROXY, requestsTo } from "../client/requests.ts";
import { textPages } from "../llms/text-pages.ts";
import { readJson } from "../request-body.ts";
import { HttpProtocol, toolsOf } from "./protocol.ts";
import { RESPONSE_MS_MAX } from "./tool.ts";

interface Caller {
  readonly key: CallerKey;
  /** The value of the caller's control key. */
  readonly bearer: string;
  /** Whether the control API has already checked that the web page that sent the request may send requests (D-240). */
  readonly isOriginChecked: boolean;
}

/** The greatest number of MCP messages in a batch. Batches of messages exist only in old versions of MCP. */
const BATCH_MAX = 20;

export class McpMount {
  readonly #deps: ControlDeps;
  readonly #send: Endpoint["fetch"];
  readonly #protocol: HttpProtocol;
  readonly #onUnexpected: (error: unknown, operation: string) => void;

  /** `send` sends a request to this control API. */
  constructor(
    deps: ControlDeps,
    routes: readonly ControlRoute[],
    send: Endpoint["fetch"],
    onUnexpected: (error: unknown, operation: string) => void,
  ) {
    this.#deps = deps;
    this.#send = send;
    this.#onUnexpected = onUnexpected;
    this.#protocol = new HttpProtocol(toolsOf(routes), () => {});
  }

  async serve(request: Request, { key, bearer, isOriginChecked }: Caller): Promise<Response> {
    if (!isOriginChecked) requireOwnOrigin(request);
    const { origin, searchParams } = new URL(request.url);
    const control = requestsTo({ url: origin, key: bearer, fetch: this.#send }, searchParams.get("world") ?? key.world ?? DEFAULT_WORLD);
    const { registry, server } = this.#deps;
    return this.#protocol.serve(request, await bodyOf(request), {
      control: async () => control,
      callGraph: (sent) => callOwnGraph(server, sent),
      isReader: key.access === "read",
      pages: () => textPages(registry),
      webhookFields: registry.webhookFields.all,
      onUnexpected: (error, tool) => this.#onUnexpected(error, `mcp ${tool}`),
    });
  }
}

/**
 * Throws if a web page of another site sent the request. MCP needs its own check of web pages if every page may send
 * requests to the control API (D-361).
 */
function requireOwnOrigin(request: Request): void {
  const sent = request.headers.get("origin");
  if (sent === null || URL.parse(sent)?.host === (request.headers.get("host") ?? "localhost")) return;
  throw forbidden(`web pages of ${sent} may not use MCP`);
}

async function bodyOf(request: Request): Promise<unknown> {
  if (request.method !== "POST") return undefined;
  const body = await readJson(request);
  if (Array.isArray(body) && body.length > BATCH_MAX) throw badRequest(`a batch has ${BATCH_MAX} messages at most`);
  return body;
}

/** The listen addresses that mean all addresses of the machine, each with one address at which the listener can be reached. */
const EVERYWHERE = { "0.0.0.0": "127.0.0.1", "[::]": "[::1]" };

/**
 * Sends a request to the address at which the graph listens, even if clients use another address of the graph. If a surface has its own host
 * name, the header `Host` names the surface. The certificate need not be valid for the address at which the graph listens, because the
 * request does not leave the machine.
 */
function callOwnGraph({ base_url }: ServedBy, { url, root, init }: GraphRequest): Promise<Response> {
  const own = new URL(base_url);
  own.hostname = EVERYWHERE[own.hostname as keyof typeof EVERYWHERE] ?? own.hostname;
  const asked = new URL(url);
  const isAtRoot = url.startsWith(root);
  const path = isAtRoot ? url.slice(root.length) : asked.pathname + asked.search;
  const headers = { ...(init.headers as Record<string, string>), ...(isAtRoot ? {} : { host: asked.host }) };
  // The request gets a new connection, because Bun would send the request twice if a kept connection were reset.
  const connection = { tls: { rejectUnauthorized: false }, proxy: NO_PROXY, keepalive: false };
  return fetch(own.origin + path, { ...init, headers, redirect: "manual", signal: AbortSignal.timeout(RESPONSE_MS_MAX), ...connection });
}
