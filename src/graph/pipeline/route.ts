/** Steps 2 to 4: from an address to an endpoint and a node, and what is said where there is none (D-04, D-20, D-21). */
import type { NodeRef } from "#auth/node-ref";
import { type GraphError, invalidParameter, unknownObject404, unknownPath, unsupportedRequest } from "#kernel/errors";
import { formatVersion, parseVersion } from "#kernel/versions";
import type { ErrorForm, ReadRequest } from "../contract/operation.ts";
import type { Endpoint, Registry } from "../contract/registry.ts";
import { isListed } from "../versions/resolve.ts";
import { fixedVersions } from "../versions/surfaces.ts";
import type { World } from "../worlds/world.ts";
import { type Address, parseAddress, segmentsOf } from "./address.ts";
import type { GraphRequest } from "./request.ts";

const methods = ["GET", "POST", "DELETE"] as const;

/** D-04: `method=` on a POST overrides the verb; HEAD is GET without a body. */
export function effectiveMethod(request: GraphRequest): string {
  if (request.method === "HEAD") return "GET";
  if (request.method !== "POST") return request.method;
  const override = request.query.method ?? request.body.method;
  if (override === undefined) return "POST";
  const method = typeof override === "string" ? override.toUpperCase() : "";
  if (method !== "GET" && method !== "POST" && method !== "DELETE") throw invalidParameter("method", "must be one of get, post, delete");
  return method;
}

/** Throws `unknownPath` for a path that leads nowhere by its shape or its version. */
export function addressOf(request: GraphRequest, registry: Registry, world: World): Address {
  const address = parseAddress(request.path, fixedVersions[request.surface] === undefined, registry);
  if (address.version !== undefined && !isListed(world.calendar, address.version)) throw unknownPath(`/${formatVersion(address.version)}`);
  if (address.prefix !== undefined && !registry.isUnder(address.prefix, address.edge)) throw unknownPath(request.path);
  return address;
}

/** An endpoint of another surface is none here. */
export function endpointOf(
  registry: Registry,
  world: World,
  request: GraphRequest,
  method: string,
  { edge }: Address,
  node: NodeRef | undefined,
): Endpoint | undefined {
  const endpoint = node !== undefined ? registry.find(node.type, method, edge) : edge === undefined ? undefined : registry.findLiteral(method, edge);
  return isShownOn(endpoint, request, world) ? endpoint : undefined;
}

/** D-04: an address without an id that this surface serves, by whatever method. */
export const isLiteralOn = (registry: Registry, world: World, request: GraphRequest, { id, edge }: Address): boolean =>
  id === undefined && edge !== undefined && methods.some((method) => isShownOn(registry.findLiteral(method, edge), request, world));

function isShownOn(endpoint: Endpoint | undefined, request: GraphRequest, world: World): boolean {
  if (endpoint === undefined) return false;
  const { surfaces, clientsSurfaces } = endpoint.access;
  return surfaces.includes(request.surface) || (world.profile === "clients" && clientsSurfaces?.includes(request.surface) === true);
}

/** D-20: the form that the request's own shape asks for, where no operation is known or may be known. */
export const formByShape = (request: GraphRequest, edge: string | undefined, registry: Registry): ErrorForm =>
  registry.isFlatEdge(edge) || request.query.oauth_token !== undefined ? "flat" : "wrapped";

/** D-20, D-21: the one response for what does not exist, may not be seen, or does not support the method. */
export function notFound(request: GraphRequest, method: string, address: Address, world: World): GraphError {
  const id = address.id ?? address.edge ?? "";
  const isBearerAlone =
    request.query.access_token === undefined && request.query.oauth_token === undefined && request.body.access_token === undefined;
  const isIntentVersion = address.version !== undefined && world.calendar.migrationIntents.includes(address.version);
  return method === "GET" && address.edge === undefined && request.surface === "base" && isBearerAlone && isIntentVersion
    ? unknownObject404(id)
    : unsupportedRequest(method, id);
}

/** For a handler that finds its own node gone: deleted between the directory's look and its own. */
export const notFoundNode = ({ graphRequest, node, world }: Pick<ReadRequest, "graphRequest" | "node" | "world">): GraphError =>
  notFound(graphRequest, effectiveMethod(graphRequest), addressOfNode(graphRequest, node.id), world);

function addressOfNode(request: GraphRequest, id: NodeRef["id"]): Address {
  const segments = segmentsOf(request.path);
  const version = segments[0] === undefined ? undefined : parseVersion(segments[0]);
  return { version, id, edge: segments[version === undefined ? 1 : 2], prefix: undefined };
}
