/**
 * Collects the names that a request asked for and that Plaza does not have (D-394). Collecting the names costs time only for refused requests and
 * left-out fields.
 */
import { checkTokens, presentedTokens } from "#auth/credentials";
import { clientsScheme } from "#auth/schemes";
import type { NodeRef } from "#auth/token";
import type { GraphError } from "#kernel/errors";
import { redact } from "#kernel/redaction/redaction";
import { nearest } from "#kernel/suggestion";
import { formatVersion, parseVersion } from "#kernel/versions";
import type { Endpoint, Registry } from "../contract/registry.ts";
import { NAME_CHARACTERS_MAX, type UnservedName } from "../worlds/unserved.ts";
import { segmentsOf } from "./address.ts";
import type { Parsed } from "./parse.ts";
import { type AskedOn, isShownOn } from "./route.ts";
import type { Incoming, Reached, Versioned } from "./stages.ts";

/** Records the fields that the profile `clients` leaves out of the response. */
export function noteLeftOut(incoming: Incoming, { endpoint, app }: Versioned, parsed: Parsed): void {
  const leftOut = parsed.kind === "read" ? [] : (parsed.projection?.leftOut ?? []);
  for (const name of leftOut) note(incoming, { kind: "field", name: nameOf(name), of: holderOf(endpoint) }, app?.id);
}

/** Records the name for which a request is refused, if Plaza does not have this name. `node` is the addressed node, if that node exists. */
export async function noteRefusal(incoming: Incoming, reached: Reached, node: NodeRef | undefined, error: GraphError): Promise<void> {
  if (incoming.world.unserved === undefined) return;
  const asked = unservedIn(incoming, reached, node, error);
  if (asked !== undefined) note(incoming, asked, reached.app?.id ?? (await findApp(incoming)));
}

function note({ request, world, traceId }: Incoming, asked: UnservedName, app: string | undefined): void {
  world.unserved?.note(asked, { app, timeMs: world.clock.nowMs(), trace_id: request.batchTraceId ?? traceId });
}

/** Finds the app of a request that was refused before its tokens were checked. */
async function findApp({ request, world, now }: Incoming): Promise<string | undefined> {
  if (request.door !== undefined) return undefined;
  try {
    const { alive } = await checkTokens(presentedTokens(request, clientsScheme.places, world.profile), world.tokens, now);
    return alive[0]?.app.id;
  } catch {
    // If the database cannot be reached, the entry has no app, because the request has its response already.
    return undefined;
  }
}

function unservedIn(incoming: Incoming, reached: Reached, node: NodeRef | undefined, { errorName, details }: GraphError): UnservedName | undefined {
  const { address, endpoint } = reached;
  if (details.unknownField !== undefined) return endpoint === undefined ? undefined : fieldOf(endpoint, details.unknownField);
  if (address === undefined) return undefined;
  if (errorName === "unknownPath") return unknownAddress(incoming, reached);
  const isRefusal = errorName === "unsupportedRequest" || errorName === "unknownObject404";
  if (!isRefusal || endpoint !== undefined || reached.concealed !== undefined) return undefined;
  return edgeOf(incoming, reached, node);
}

const fieldOf = (endpoint: Endpoint, { name, meant }: NonNullable<GraphError["details"]["unknownField"]>): UnservedName => ({
  ...{ kind: "field", name: nameOf(name), of: holderOf(endpoint) },
  ...(meant === undefined ? {} : { did_you_mean: meant }),
});

/** The node type or the edge whose fields the endpoint selects, e.g. `page` or `page/custom_labels`. */
function holderOf({ nodeType, served }: Endpoint): string {
  const contract = served?.contract;
  if (contract?.kind === "write" && contract.readBack !== undefined) return contract.readBack.type;
  return [nodeType, contract?.edge].filter((part) => part !== undefined && part !== null).join("/");
}

function unknownAddress(incoming: Incoming, reached: Reached): UnservedName | undefined {
  const { request, registry } = incoming;
  const { address, endpoint, method = request.method } = reached;
  const unknown = address?.unknown ?? request.path;
  const version = parseVersion(unknown.slice(1)) ?? (endpoint === undefined ? undefined : address?.version);
  if (version !== undefined) return { kind: "version", name: formatVersion(version) };
  const segments = segmentsOf(request.path);
  if (segments[0] !== undefined && parseVersion(segments[0]) !== undefined) segments.shift();
  // A browser asks for an icon, and a scanner for arbitrary paths. Such requests have neither a version nor a token and are not recorded.
  else if (presentedTokens(request, clientsScheme.places, "clients").length === 0) return undefined;
  const literal = segments.join("/");
  const served = registry.endpoints.filter(({ nodeType, served: by }) => nodeType === undefined && by?.contract.edge === literal);
  const words = registry.endpoints.flatMap(({ nodeType, served: by }) => (nodeType === undefined ? (by?.contract.edge ?? []) : []));
  return named({ kind: "edge", method, name: segments.map(placeholderOr).join("/") }, hintOf(incoming, method, served), nearest(literal, words));
}

/** Matches an id in a request's path. The list of unserved names shows `{id}` instead of the id, so that there is one entry for all ids. */
const ID = /^(?:[a-z]{1,10}_)?[0-9][0-9_]*$/;
const placeholderOr = (segment: string): string => (ID.test(segment) ? `${segment.slice(0, segment.search(/[0-9]/))}{id}` : segment);

/** The edge that Plaza does not have. Undefined if the request's only mistake may be a wrong id. */
function edgeOf(incoming: Incoming, { address, method = "" }: Reached, node: NodeRef | undefined): UnservedName | undefined {
  const { registry } = incoming;
  const edge = address?.edge;
  if (node === undefined) {
    if (edge === undefined || registry.isEdge(edge)) return undefined;
    return named({ kind: "edge", method, name: `{id}/${edge}` }, undefined, nearest(edge, edgesOf(registry, undefined)));
  }
  const { type } = node;
  const served = registry.operationsOn(type).filter(({ served: by }) => (by?.contract.edge ?? undefined) === edge);
  const meant = edge === undefined ? undefined : nearest(edge, edgesOf(registry, type));
  const asked = { kind: "edge", method, name: edge === undefined ? type : `${type}/${edge}` } as const;
  return named(asked, hintOf(incoming, method, served), meant && `${type}/${meant}`);
}

/** The edges of a node type. The edges of all node types, if no type is given. */
export const edgesOf = ({ endpoints }: Registry, type: string | undefined): string[] =>
  endpoints.flatMap(({ nodeType, served }) =>
    nodeType !== undefined && (type === undefined || nodeType === type) ? (served?.contract.edge ?? []) : [],
  );

/** Says with which method, surface or profile Plaza serves the request's address. Undefined if Plaza does not serve the address at all. */
export function hintOf(incoming: AskedOn, method: string, endpoints: readonly Endpoint[]): string | undefined {
  const same = endpoints.find(({ served }) => served?.contract.method === method);
  if (same === undefined) {
    const methods = endpoints.filter((endpoint) => isShownOn(endpoint, incoming)).flatMap(({ served }) => served?.contract.method ?? []);
    return methods.length === 0 ? undefined : `Plaza serves only ${methods.join(" and ")} at this address`;
  }
  const { surfaces, clientsSurfaces = [] } = same.access;
  if (clientsSurfaces.includes(incoming.request.surface)) return "Plaza serves this edge with the profile clients";
  return `Plaza serves this edge on the surface ${[...surfaces, ...clientsSurfaces].join(" and ")}`;
}

const named = (asked: UnservedName, hint: string | undefined, meant: string | undefined): UnservedName => ({
  ...{ ...asked, name: nameOf(asked.name) },
  ...(hint !== undefined ? { hint } : meant === undefined ? {} : { did_you_mean: meant }),
});

/** A name as the list of unserved names shows it: shortened, and without secrets. */
function nameOf(name: string): string {
  const shown = redact(name.slice(0, NAME_CHARACTERS_MAX)).toWellFormed();
  return name.length > NAME_CHARACTERS_MAX || shown.length > NAME_CHARACTERS_MAX ? `${shown.slice(0, NAME_CHARACTERS_MAX - 1)}…` : shown;
}
