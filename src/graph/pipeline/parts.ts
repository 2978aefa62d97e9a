/**
 * Reads inside a response (D-38): of an edge, or of a node that a field names. Such a part takes the steps of a request of its own, with
 * the tokens and the version of the request that it stands in, so it shows what the caller's own read of it would.
 */
import { formatVersion } from "#kernel/versions";
import { tokensOf, withTokens } from "./authenticate.ts";
import { authorizePart, see } from "./authorize.ts";
import type { Part } from "./fields/project.ts";
import { handle } from "./handle.ts";
import { parse } from "./parse.ts";
import type { GraphRequest } from "./request.ts";
import { respond } from "./respond.ts";
import { chooseVersion, isShownOn } from "./route.ts";
import type { Incoming, Resolved, Versioned } from "./stages.ts";

/** Undefined: the part's own read is answered as one of a missing node. Rejects with every other error of that read. */
export async function readPart(incoming: Incoming, around: Versioned, part: Part): Promise<unknown> {
  const { world, registry } = incoming;
  const node = await world.findNode(part.id);
  const endpoint = node === undefined ? undefined : registry.find(node.type, "GET", part.edge);
  if (endpoint === undefined || !isShownOn(endpoint, incoming)) return undefined;
  const { credentials, dead, app } = around;
  const address = { version: around.address.version, id: part.id, edge: part.edge, prefix: undefined };
  const own: Incoming = { ...incoming, request: requestFor(incoming.request, address.version, part) };
  const resolved: Resolved = { address, method: "GET", credentials, dead, app, node, endpoint };
  const visible = await see(own, resolved);
  if (visible === undefined) return undefined;
  const versioned = chooseVersion(own, visible);
  const parsed = parse(own, versioned, await authorizePart(own, versioned));
  const handled = await handle(parsed, undefined);
  // Deleted in the meantime.
  if (handled.kind === "node" && handled.row === undefined) return undefined;
  return respond(own, versioned, handled, readPart);
}

/** As the caller would send it, so that the links of an edge lead on. */
function requestFor(request: GraphRequest, version: Versioned["address"]["version"], { id, edge, fields }: Part): GraphRequest {
  const tokens = tokensOf(request.query);
  const { migrations_override = request.body.migrations_override } = request.query;
  const override = migrations_override === undefined ? {} : { migrations_override };
  return {
    ...request,
    method: "GET",
    path: `${version === undefined ? "" : `/${formatVersion(version)}`}/${id}${edge === undefined ? "" : `/${edge}`}`,
    queryText: withTokens(fields === undefined ? "" : `fields=${encodeURIComponent(fields)}`, tokens),
    query: { ...tokens, ...override, ...(fields === undefined ? {} : { fields }) },
    body: tokensOf(request.body),
  };
}
