/** The steps `address`, `node` and `endpoint`, and their errors (D-04, D-20, D-21). */
import { type NodeRef, principalOf } from "#auth/token";
import { unixSeconds } from "#kernel/clock";
import { type GraphError, invalidParameter, unknownObject404, unknownPath, unsupportedRequest } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import { formatVersion, parseVersion } from "#kernel/versions";
import type { ErrorForm, ReadRequest } from "../contract/operation.ts";
import type { Endpoint, Registry } from "../contract/registry.ts";
import { isMigrationOn, readMigrationsOverride } from "../versions/migration-windows.ts";
import { fixedVersions, forClients, isMarketing, isNamed, servedVersion, unnamedVersion } from "../versions/resolve.ts";
import type { World } from "../worlds/world.ts";
import { type Address, parseAddress, segmentsOf } from "./address.ts";
import { missingToken } from "./authenticate.ts";
import type { GraphRequest } from "./request.ts";
import type { Addressed, Authenticated, Incoming, Reached, Resolved, Versioned, Visible } from "./stages.ts";

const methods = ["GET", "POST", "DELETE"] as const;

/**
 * D-04: the method of the request. `method=` on a POST overrides the verb; HEAD is GET without a body. Throws `invalidParameter` if the override is
 * an unknown method.
 */
export function readMethod(request: GraphRequest): string {
  if (request.method === "HEAD") return "GET";
  if (request.method !== "POST") return request.method;
  const override = request.query.method ?? request.body.method;
  if (override === undefined) return "POST";
  const method = typeof override === "string" ? override.toUpperCase() : "";
  if (method !== "GET" && method !== "POST" && method !== "DELETE") throw invalidParameter("method", "must be one of get, post, delete");
  return method;
}

/** Reads the address of a request. A path whose form or version is unknown gets an address, too, which `checkAddress` refuses. */
export function readAddress({ request, registry, world }: Pick<Incoming, "request" | "registry" | "world">): Address {
  const parsed = parseAddress(request.path, fixedVersions[request.surface] === undefined, registry);
  const { calendar, clock, profile } = world;
  const now = unixSeconds(clock);
  const mayBeOlder = parsed.version !== undefined && profile === "clients";
  const address = mayBeOlder ? { ...parsed, version: forClients(calendar, parsed.version, now) } : parsed;
  const { version, edge, prefix } = address;
  // D-83: if no list of the calendar has the path's version, the path counts as a path without a version.
  if (version !== undefined && !isNamed(calendar, version, now)) return { unknown: `/${formatVersion(version)}`, ...address, version: undefined };
  return prefix === undefined || registry.isUnder(prefix, edge) ? address : { ...address, unknown: request.path };
}

/** Returns the address of the request if an endpoint may serve it. Throws `unknownPath` if no endpoint can serve the path. */
export function checkAddress(incoming: Incoming, address: Address): Address {
  const { unknown } = address;
  if (unknown === undefined) return address;
  // D-02: a missing migration intent has an error of its own. D-90: for a request without a token, the check of the address looks only at the form of
  // the path, as it does for a valid id.
  const isOfIntents = isIntentAddress(incoming, address) || (isIntentPath(incoming, address) && hasNoToken(incoming.request));
  if (address.id !== undefined && isOfIntents && readMethod(incoming.request) === "GET") return address;
  const version = parseVersion(unknown.slice(1));
  const { calendar, clock } = incoming.world;
  throw version === undefined ? unknownPath(unknown) : unnamedVersion(calendar, version, unixSeconds(clock));
}

/**
 * The id of the addressed node. `me` stands for the node of the token. Undefined if the address has no id. Throws if the request needs a token and
 * has none. The check for a token comes before any lookup in the database, so the error depends only on the form of the request (D-90).
 */
export function idOf(incoming: Incoming, { address, method, credentials }: Authenticated): NodeId | undefined {
  const first = credentials[0];
  if (first === undefined && !mayBeTokenless(incoming, address, method)) {
    throw isUnknownPath(incoming, address) ? unknownPath(incoming.request.path) : missingToken(incoming, { address, method });
  }
  if (address.id !== "me") return address.id;
  if (first === undefined) throw missingToken(incoming, { address, method });
  return principalOf(first.token);
}

/** D-13 [clients]: whether a request with this method and edge is accepted without a token. */
const mayBeTokenless = ({ registry, world }: Incoming, { edge }: Address, method: string): boolean =>
  world.profile === "clients" && registry.accessByShape(method, edge)?.tokenless !== undefined;

/** Finds the operation. Returns the error if this surface has no operation for the request. */
export function findEndpoint(
  incoming: Incoming,
  authenticated: Authenticated,
  id: NodeId | undefined,
  node: NodeRef | undefined,
): Resolved | GraphError {
  const { registry } = incoming;
  const { method, address } = authenticated;
  const { edge } = address;
  const endpoint =
    node !== undefined
      ? registry.find(node.type, method, edge)
      : id !== undefined || edge === undefined
        ? undefined
        : registry.findLiteral(method, edge);
  if (endpoint === undefined || !isShownOn(endpoint, incoming)) return refusalWithoutEndpoint(incoming, authenticated);
  return { ...authenticated, node, endpoint };
}

/** The surface and the profile of a request, which decide which operations the request can reach. */
export interface AskedOn {
  readonly request: Pick<GraphRequest, "surface">;
  readonly world: Pick<World, "profile">;
}

export function isShownOn({ access: { surfaces, clientsSurfaces } }: Endpoint, { request, world }: AskedOn): boolean {
  return surfaces.includes(request.surface) || (world.profile === "clients" && clientsSurfaces?.includes(request.surface) === true);
}

/** D-20: the error of a request for a node, edge or method that does not exist. */
function refusalWithoutEndpoint(incoming: Incoming, authenticated: Authenticated): GraphError {
  if (isUnknownPath(incoming, authenticated.address)) return unknownPath(incoming.request.path);
  return authenticated.credentials.length > 0 ? notFound(incoming, authenticated) : missingToken(incoming, authenticated);
}

const isUnknownPath = (incoming: Incoming, address: Address): boolean => address.id === undefined && !isLiteral(incoming, address);

/** D-04: whether this surface serves an address without an id, with any method. */
function isLiteral(incoming: Incoming, { edge }: Address): boolean {
  if (edge === undefined) return false;
  return methods.some((method) => {
    const endpoint = incoming.registry.findLiteral(method, edge);
    return endpoint !== undefined && isShownOn(endpoint, incoming);
  });
}

/**
 * D-20: the form of an error if the operation is not known, or the caller must not know it. The edge of the address decides the form of the error.
 * Without an edge, the parameter `oauth_token` decides the form of the error; for a caller with a live token it also decides about an unknown edge. A
 * path that no endpoint can serve is refused before tokens are checked.
 */
export function formByShape(request: GraphRequest, { address, credentials }: Reached, registry: Registry): ErrorForm {
  const edge = address?.edge;
  if (registry.isFlatEdge(edge)) return "flat";
  if (request.query.oauth_token === undefined || (edge !== undefined && (registry.isEdge(edge) || registry.isLiteral(edge)))) return "wrapped";
  const isBareId = address?.id !== undefined && edge === undefined;
  const leadsNowhere = address === undefined || address.unknown !== undefined;
  return leadsNowhere || isBareId || credentials?.[0] !== undefined ? "flat" : "wrapped";
}

/**
 * D-20, D-21: the error for a node that does not exist, that the caller may not see, or that does not support the method. A node that is missing,
 * hidden or does not support the method causes the same error.
 */
export function notFound({ request, world }: Pick<Incoming, "request" | "world">, { address, method }: Addressed): GraphError {
  const id = address.id ?? address.edge ?? "";
  return method === "GET" && isIntentAddress({ request, world }, address) ? unknownObject404(id) : unsupportedRequest(method, id);
}

/** Whether a GET of the address looks like the operation H7, which reads migration intents. */
function isIntentAddress({ request, world }: Pick<Incoming, "request" | "world">, address: Address): boolean {
  return isIntentPath({ request, world }, address) && request.query.oauth_token === undefined && hasBearer(request);
}

function isIntentPath({ request, world }: Pick<Incoming, "request" | "world">, { edge, version }: Address): boolean {
  return edge === undefined && request.surface === "base" && version !== undefined && world.calendar.migrationIntents.includes(version);
}

const hasBearer = ({ header }: GraphRequest): boolean => (header("authorization") ?? "") !== "";

const hasNoToken = (request: GraphRequest): boolean =>
  !hasBearer(request) && [request.query.access_token, request.query.oauth_token, request.body.access_token].every((token) => token === undefined);

/** The error that a handler throws if its node was deleted after the step `node` had found it. */
export const notFoundNode = ({ graphRequest, node, world }: Pick<ReadRequest, "graphRequest" | "node" | "world">): GraphError =>
  notFound({ request: graphRequest, world }, { address: addressOfNode(graphRequest, node.id), method: readMethod(graphRequest) });

function addressOfNode(request: GraphRequest, id: NodeRef["id"]): Address {
  const segments = segmentsOf(request.path);
  const version = segments[0] === undefined ? undefined : parseVersion(segments[0]);
  return { version, id, edge: segments[version === undefined ? 1 : 2], prefix: undefined };
}

/** Chooses the version. Throws `unknownPath` or `versionDeprecated` if the endpoint does not serve the version of the path. */
export function chooseVersion({ request, world, now }: Incoming, visible: Visible): Versioned {
  const { access, names } = visible.endpoint;
  const { app } = visible.caller;
  const requested = visible.address.version;
  const served = servedVersion({ rule: access.versions, requested, app, calendar: world.calendar, now, names, path: request.path });
  return { ...visible, served };
}

/**
 * VER-5c: whether this is the app's first marketing request, which permanently fixes the oldest version that the app may use. A malformed request
 * does not count as the app's first marketing request.
 */
export const isFirstMarketingRequest = ({ request, isInside }: Incoming, { endpoint, caller }: Versioned): boolean =>
  isInside !== true && isMarketing(endpoint.access.versions) && caller.app.marketing_first_used_time === 0 && request.defect === undefined;

export async function recordMarketingUse({ world }: Incoming, { caller: { app } }: Versioned): Promise<void> {
  await world.database.write((tx) => world.ports.get("app_writes").recordMarketingUse(tx, app.id, unixSeconds(world.clock)));
}

/**
 * VER-7h: returns a function that says whether a migration is on for the request. A wrong `migrations_override` is refused even if the operation does
 * not depend on a migration.
 */
export function migrationsOf({ request, world, now }: Incoming, { caller: { app } }: Versioned): ReadRequest["isMigrated"] {
  const override = readMigrationsOverride(request.query.migrations_override ?? request.body.migrations_override, world.calendar.migrations, now);
  return (name, as = app) => {
    const window = world.calendar.migrations.find((known) => known.name === name);
    return window !== undefined && isMigrationOn(window, as, override, now);
  };
}
