/**
 * The step `parse`: reads parameters, fields and page by the contract. The step `parse` does not read the database. After the step `parse`,
 * parameters are well-formed, so no later step checks their form.
 */
import type { AuthorizationCheck } from "#auth/authorize";
import { isDataAccessOver } from "#auth/token";
import { BoundedMap } from "#kernel/bounded-map";
import { invalidParameter } from "#kernel/errors";
import { parseSelection, type Selection } from "#kernel/selection";
import { suggestion } from "#kernel/suggestion";
import { detached } from "#kernel/text";
import {
  type ListRequest,
  type NodeType,
  type OperationRequest,
  type Place,
  parametersOfAll,
  type ReadRequest,
  type Served,
} from "../contract/operation.ts";
import type { Endpoint } from "../contract/registry.ts";
import { parseJsonParameter } from "../response/json.ts";
import { readPageRequest } from "../response/paging.ts";
import type { ServedIn } from "../schema/schema-node.ts";
import type { Profile } from "../worlds/world.ts";
import type { FieldAccess } from "./fields/field-policies.ts";
import { type Projection, projectionOf } from "./fields/projection.ts";
import { isEmpty, isYes, textOf } from "./parameters.ts";
import type { GraphRequest, Parameters } from "./request.ts";
import { migrationsOf } from "./route.ts";
import type { Incoming, Versioned } from "./stages.ts";

type ServedOf<Kind> = Extract<Served, { contract: { kind: Kind } }>;

/** A read of a node by its id, which needs no handler of the feature. */
export interface ParsedNode {
  readonly kind: "node";
  readonly request: ReadRequest;
  readonly reading: NonNullable<NodeType["reading"]>;
  readonly projection: Projection;
  readonly access: FieldAccess;
  readonly hasMetadata: boolean;
}

export interface ParsedList {
  readonly kind: "list";
  readonly request: ListRequest;
  readonly served: ServedOf<"list">;
  /** The name of the list, which its cursors contain. A cursor works only with the list for which it was made, whose name it contains. */
  readonly name: string;
  readonly projection: Projection;
  readonly access: FieldAccess;
}

export interface ParsedRead {
  readonly kind: "read";
  readonly request: OperationRequest;
  readonly served: ServedOf<"read">;
}

export interface ParsedWrite {
  readonly kind: "write";
  readonly request: OperationRequest;
  readonly served: ServedOf<"write">;
  /** D-33: the fields of the node that are read after the write. Undefined if no fields of the node are read. */
  readonly projection: Projection | undefined;
  readonly access: FieldAccess;
}

export type Parsed = ParsedNode | ParsedList | ParsedRead | ParsedWrite;

/** Reads the parameters of the request. Throws the error that decoding the request has found (`defect`), or `invalidParameter`. */
export function parse(incoming: Incoming, versioned: Versioned, check: readonly AuthorizationCheck[]): Parsed {
  const { request: graphRequest, world, registry, now } = incoming;
  if (graphRequest.defect !== undefined) throw graphRequest.defect;
  const { endpoint, subject: node, caller, served: byVersion } = versioned;
  const { version } = byVersion;
  const isMigrated = migrationsOf(incoming, versioned);
  const { places, isClosed, aliases } = endpoint.served?.contract ?? {};
  const named = aliases === undefined || world.profile === "strict" ? graphRequest : withoutAliases(graphRequest, aliases);
  if (places !== undefined) checkPlaces(named, places, world.profile);
  const source = registry.changes.upParams(endpoint.access.operation, version, parametersOf(named));
  if (isClosed === true && world.profile === "strict") refuseUndeclared(source, endpoint.paramNames);
  // Some operations have a parameter `fields` of their own, which does not select fields of the response.
  const selection = endpoint.paramNames.includes("fields") ? undefined : selectionOf(source.fields);
  const access: FieldAccess = { policy: endpoint.access.policy, check };
  const { reading, served } = endpoint;
  if (reading !== undefined) {
    const request: ReadRequest = { node, caller, version, world, graphRequest, isMigrated };
    const projection = projectionOf(reading.set, selection, world.profile, registry.isField);
    return { kind: "node", request, reading, projection, access, hasMetadata: isYes(source.metadata) };
  }
  if (served === undefined) throw new Error(`${endpoint.access.operation} has neither a handler nor declared fields`);
  const { contract } = served;
  const sent: OperationRequest<Parameters> = { node, params: withFiles(source, graphRequest), caller, version, world, graphRequest, isMigrated };
  const params = readParams(endpoint, sent, registry.servedIn(world, now));
  if (contract.kind === "list") {
    const name = `${contract.operation} ${node.id}`;
    const projection = projectionOf(contract.items, selection, world.profile, registry.isField);
    const page = readPageRequest(source, name, world.cursors, contract.keyColumns ?? 1);
    const request: ListRequest = { node, params, caller, version, world, graphRequest, isMigrated, page };
    return { kind: "list", request, served: served as ServedOf<"list">, name, projection, access };
  }
  const request: OperationRequest = { node, params, caller, version, world, graphRequest, isMigrated };
  if (contract.kind === "read") return { kind: "read", request, served: served as ServedOf<"read"> };
  return writeOf(incoming, request, served as ServedOf<"write">, selection, access);
}

function readParams(endpoint: Endpoint, sent: OperationRequest<Parameters>, where: ServedIn): Record<string, unknown> {
  try {
    return endpoint.readParams(sent.params, where);
  } catch (error) {
    const { served } = endpoint;
    if (served !== undefined && "refused" in served) served.refused?.(sent, error);
    throw error;
  }
}

/**
 * The write with its checked parameters, ready to be handled. A wrong `fields` selection is refused before anything is written. An intake, which is a
 * write that shares its transaction with other writes, does not return fields of a node.
 */
function writeOf(
  { world, registry, now }: Incoming,
  request: OperationRequest,
  served: ServedOf<"write">,
  selection: Selection | undefined,
  access: FieldAccess,
): ParsedWrite {
  const readBack = selection === undefined || served.submit !== undefined ? undefined : served.contract.readBack;
  const projection = readBack === undefined ? undefined : projectionOf(readBack.set, selection, world.profile, registry.isField);
  // D-11: the write succeeds, but the response has no data of a person whose data the app may no longer read.
  const isReadable = projection !== undefined && !access.check.some(({ input }) => isDataAccessOver(input.token, now));
  return { kind: "write", request, served, projection: isReadable ? projection : undefined, access };
}

function selectionOf(fields: unknown): Selection | undefined {
  // D-34: null means that the client left the parameter out.
  if (fields === undefined || fields === null || fields === "") return undefined;
  if (typeof fields === "string" && !fields.startsWith("[")) return knownSelection(fields);
  // D-161: a JSON text is not split at commas, because nested selections contain commas, too.
  const list = typeof fields === "string" ? parseJsonParameter(fields, "fields") : fields;
  if (Array.isArray(list) && list.every((field) => typeof field === "string")) return parseSelection(list.join(","));
  throw invalidParameter("fields", "must be a comma-separated string");
}

/**
 * The greatest number of cached selections. The cache of selections saves time because clients ask for the same fields many times. A text in the
 * cache of selections has at most 256 characters.
 */
const SELECTIONS_MAX = 512;
const SELECTION_CHARACTERS_MAX = 256;
const selections = new BoundedMap<string, Selection>(SELECTIONS_MAX);

function knownSelection(text: string): Selection {
  const known = selections.get(text);
  if (known !== undefined) return known;
  const selection = parseSelection(text);
  if (text.length <= SELECTION_CHARACTERS_MAX) selections.set(detached(text), selection);
  return selection;
}

/** The parameters of the query and those of the body (D-34, D-40, D-41, D-50). */
type Placed = Pick<GraphRequest, "query" | "body">;

/**
 * All parameters of a request. A request may have a body with every method, and a parameter in the body replaces the query parameter with the same
 * name.
 */
export function parametersOf({ query, body }: Placed): Parameters {
  if (isEmpty(body)) return query;
  if (isEmpty(query)) return body;
  const parameters: Record<string, unknown> = { ...query, ...body };
  // D-41: null in the body does not replace a value that the query has.
  for (const name in query) if (body[name] === null) parameters[name] = query[name];
  return parameters;
}

/** The parameters, to which the files of multipart/form-data are added as values of the parameters with their names. */
const withFiles = (parameters: Parameters, { files }: Pick<GraphRequest, "files">): Parameters =>
  files.size === 0 ? parameters : { ...parameters, ...Object.fromEntries(files) };

/**
 * Checks the parameters that belong only in the query or only in the body. Throws `invalidParameter` if the query and the body have different values
 * for a parameter, and in the profile `strict` also if only the wrong one has the parameter.
 */
export function checkPlaces({ query, body }: Placed, places: Readonly<Record<string, Place>>, profile: Profile): void {
  for (const name in places) {
    const inQuery = query[name] ?? undefined;
    const inBody = body[name] ?? undefined;
    if (inQuery !== undefined && inBody !== undefined && textOf(inQuery) !== textOf(inBody)) {
      throw invalidParameter(name, "must not have one value in the query and another in the body");
    }
    const place = places[name];
    const isMisplaced = place === "query" ? inQuery === undefined && inBody !== undefined : inBody === undefined && inQuery !== undefined;
    if (isMisplaced && profile === "strict") throw invalidParameter(name, `must be in the ${place}`);
  }
}

/**
 * The parameters of the query and of the body, each under the interface's own names. Throws `invalidParameter` if the query or the body has two
 * values for one name (D-40).
 */
function withoutAliases({ query, body }: Placed, aliases: Readonly<Record<string, string>>): Placed {
  return { query: underOwnNames(query, aliases), body: underOwnNames(body, aliases) };
}

function underOwnNames(parameters: Parameters, aliases: Readonly<Record<string, string>>): Parameters {
  const own: Record<string, unknown> = { ...parameters };
  for (const [alias, name] of Object.entries(aliases)) {
    const value = parameters[alias] ?? undefined;
    if (value === undefined) continue;
    own[name] ??= value;
    if (textOf(own[name]) !== textOf(value)) throw invalidParameter(name, `must have the same value as ${alias}`);
  }
  return own;
}

/** D-50, D-57: throws `invalidParameter` for a parameter that is neither general (D-315) nor one of `names`. */
export function refuseUndeclared(parameters: Parameters, names: readonly string[]): void {
  for (const name in parameters) {
    if (!parametersOfAll.has(name) && !names.includes(name)) throw invalidParameter(name, `is not known here${suggestion(name, names)}`);
  }
}
