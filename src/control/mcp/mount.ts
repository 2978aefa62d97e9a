/**
 * MCP at the control port, `/mcp`. The tools of MCP send requests to this control API with the caller's key, so they can do what the key allows and
 * no more.
 */
import { badRequest, forbidden } from "#control-contract/errors";
import type { CallerKey, ControlDeps, ControlRoute } from "#control-contract/route";
import { DEFAULT_WORLD } from "#graph/worlds/hosting/worlds.store";
import { type Endpoint, requestsTo } from "../client/requests.ts";
import { textPages } from "../llms/text-pages.ts";
import { readJson } from "../request-body.ts";
import { callOwnGraph } from "./own-graph.ts";
import { HttpProtocol, toolsOf } from "./protocol.ts";

interface Caller {
  readonly key: CallerKey;
  /** The value of the key. */
  readonly bearer: string;
  /** Whether the control API has decided already which web pages may send requests (D-240). */
  readonly isOriginChecked: boolean;
}

/** The most messages of a batch. Newer versions of the protocol have no batches. */
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

/** Refuses a page of another site, for a server that lets every page send requests (D-361). */
function requireOwnOrigin(request: Request): void {
  const sent = request.headers.get("origin");
  if (sent === null || URL.parse(sent)?.host === (request.headers.get("host") ?? "localhost")) return;
  throw forbidden(`pages of ${sent} may not use MCP`);
}

async function bodyOf(request: Request): Promise<unknown> {
  if (request.method !== "POST") return undefined;
  const body = await readJson(request);
  if (Array.isArray(body) && body.length > BATCH_MAX) throw badRequest(`a batch has ${BATCH_MAX} messages at most`);
  return body;
}
