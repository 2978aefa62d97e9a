/** The step `respond`: makes the response from the selected fields that the caller may read, in the version that serves the request. */
import type { NodeRef } from "#auth/token";
import { GraphError, invalidParameter } from "#kernel/errors";
import { type Awaitable, chain } from "#kernel/turns";
import { formatVersion } from "#kernel/versions";
import type { Row } from "#storage/sql";
import { type FieldSet, generalParameters, type ListResult, type ReadRequest } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import { pagingOf } from "../response/paging.ts";
import { upgradeWarning } from "../versions/resolve.ts";
import { type FieldAccess, readableOf, refusalsOn } from "./fields/field-policies.ts";
import { type ProjectionSource, projectRow, projectRows, type ReadPart } from "./fields/project.ts";
import type { Projection } from "./fields/projection.ts";
import type { Parsed, ParsedList, ParsedNode, ParsedWrite } from "./parse.ts";
import { upgradesOf } from "./render.ts";
import { notFoundNode } from "./route.ts";
import type { Incoming, Versioned } from "./stages.ts";

/**
 * Makes the response from the result of the step `handle`. Returns the response or a promise of the response. Throws or rejects if the caller named a
 * field that the caller may not read (D-16, D-21).
 */
export function respond(incoming: Incoming, versioned: Versioned, parsed: Parsed, result: unknown, readPart: ReadPart): unknown {
  return chain(withFields(incoming.registry, parsed, result, readPart), (shown) => inItsVersion(incoming, versioned, parsed, shown));
}

/** Undoes the changes of newer versions in the response, down to the version that serves the request. */
function inItsVersion(incoming: Incoming, versioned: Versioned, parsed: Parsed, shown: unknown): unknown {
  const { endpoint, served } = versioned;
  return withDebug(incoming, versioned, parsed, incoming.registry.changes.downResponse(endpoint.access.operation, served.version, shown));
}

/** The response with its selected fields, or a promise of this response. */
function withFields(registry: Registry, parsed: Parsed, result: unknown, readPart: ReadPart): unknown {
  switch (parsed.kind) {
    case "node":
      if (result === undefined) throw notFoundNode(parsed.request);
      return nodeOf(registry, sourceOf(parsed.request, readPart), parsed, result as Row);
    case "list":
      return listOf(sourceOf(parsed.request, readPart), parsed, result as ListResult<Row>);
    case "read":
      return result;
    case "write":
      if (parsed.projection === undefined) return result;
      return readBack(registry, sourceOf(parsed.request, readPart), parsed, parsed.projection, result);
  }
}

const sourceOf = (request: ReadRequest, readPart: ReadPart): ProjectionSource => ({ request, reader: request.world.database.reader, readPart });

/** The node's object in the response, or a promise of this object. */
function nodeOf(registry: Registry, source: ProjectionSource, parsed: ParsedNode, row: Row): Awaitable<Item> {
  const { projection, access, hasMetadata } = parsed;
  if (projection.policy === access.policy && !hasMetadata) return projected(source, row, projection);
  return readableNode(registry, source, parsed, row);
}

async function readableNode(registry: Registry, source: ProjectionSource, parsed: ParsedNode, row: Row): Promise<Item> {
  const { request, reading, projection, access, hasMetadata } = parsed;
  const readable = projection.policy === access.policy ? projection : await readableOf(projection, access, request.node, "refused");
  const response = await projected(source, row, readable);
  return hasMetadata ? { ...response, metadata: await metadataOf(registry, reading.set, request, access) } : response;
}

function projected(source: ProjectionSource, row: Row, projection: Projection): Awaitable<Item> {
  if (!projection.needsReads) return projectRow(source.request, row, projection);
  return projectRows(source, [row], projection).then(([response = {}]) => response);
}

/** The items of a list, or a promise of these items. */
function itemsOf(source: ProjectionSource, parsed: ParsedList, { rows }: ListResult<Row>): Awaitable<Items> {
  const { request, projection, access } = parsed;
  if (projection.policy !== access.policy) return readableItems(source, parsed, rows);
  return projection.needsReads ? projectRows(source, rows, projection) : rows.map((row) => projectRow(request, row, projection));
}

type Item = Record<string, unknown>;
type Items = readonly Item[];

async function readableItems(source: ProjectionSource, { request, served, projection, access }: ParsedList, rows: readonly Row[]): Promise<Items> {
  const items: Record<string, unknown>[] = [];
  for (const row of rows) {
    const readable = await readableOf(projection, access, served.contract.nodeOf?.(row) ?? request.node, "refused");
    items.push(await projected(source, row, readable));
  }
  return items;
}

/** The response to the read of a list, or a promise of this response. */
const listOf = (source: ProjectionSource, parsed: ParsedList, found: ListResult<Row>): Awaitable<unknown> =>
  chain(itemsOf(source, parsed, found), (data) => pageOf(parsed, found, data));

function pageOf({ request, served, name }: ParsedList, found: ListResult<Row>, data: Items): unknown {
  const { page, graphRequest, world } = request;
  const isCursorsOnly = served.contract.cursorsOnly === true;
  const paging = pagingOf(found, { list: name, cursors: world.cursors, page, request: graphRequest, isCursorsOnly });
  return found.extras === undefined ? { data, paging } : { data, paging, ...found.extras };
}

/** D-33: reads the node whose `id` is in the write's response, or else the addressed node. */
async function readBack(
  registry: Registry,
  source: ProjectionSource,
  { request, served, access }: ParsedWrite,
  projection: Projection,
  response: unknown,
): Promise<unknown> {
  const type = served.contract.readBack?.type ?? request.node.type;
  const node: NodeRef = { id: (response as { id?: NodeRef["id"] }).id ?? request.node.id, type, owner: request.node.owner };
  const reading = registry.types.find((known) => known.type === type)?.reading;
  const row = await reading?.find(request, request.world.database.reader, node);
  if (row === undefined) return response;
  // The write has succeeded, so a field that the caller may not read is left out and does not turn the response into an error.
  const readable = projection.policy === access.policy ? projection : await readableOf(projection, access, node, "left out");
  return projected({ ...source, readPart: (part) => source.readPart(part).catch(leftOut) }, row, readable);
}

function leftOut(error: unknown): undefined {
  if (!(error instanceof GraphError)) throw error;
}

/**
 * D-34: a message that `debug=all` adds to a response. A message of `debug=all` is about an ignored parameter or field, or about the version that
 * served the request.
 */
interface DebugMessage {
  readonly type: "info" | "warning";
  readonly message: string;
}

const levels: Readonly<Record<string, readonly DebugMessage["type"][]>> = {
  all: ["info", "warning"],
  info: ["info", "warning"],
  warning: ["warning"],
};

export function withDebug(incoming: Incoming, { endpoint, address, served }: Versioned, parsed: Parsed, response: unknown): unknown {
  const { request } = incoming;
  const level = request.query.debug ?? request.body.debug;
  if (level === undefined) return response;
  const shown = typeof level === "string" && Object.hasOwn(levels, level) ? levels[level] : undefined;
  if (shown === undefined) throw invalidParameter("debug", "must be one of all, info, warning");
  const messages: DebugMessage[] = [];
  const ignored = Object.keys({ ...request.query, ...request.body }).filter(
    (name) => !generalParameters.has(name) && !endpoint.paramNames.includes(name),
  );
  for (const name of ignored) messages.push({ type: "warning", message: `The parameter ${name} is not known here and was ignored.` });
  for (const name of leftOutOf(parsed)) messages.push({ type: "warning", message: `The field ${name} is not known here and was left out.` });
  const notes = parsed.kind === "write" ? (parsed.served.notes?.(parsed.request) ?? []) : [];
  for (const message of notes) messages.push({ type: "warning", message });
  if (address.version === undefined)
    messages.push({ type: "info", message: `The request named no version; ${formatVersion(served.version)} served it.` });
  for (const message of new Set(upgradesOf(incoming, { served }).map(upgradeWarning))) messages.push({ type: "warning", message });
  return { ...(response as object), __debug__: { messages: messages.filter(({ type }) => shown.includes(type)) } };
}

const leftOutOf = (parsed: Parsed): readonly string[] => (parsed.kind === "read" ? [] : (parsed.projection?.leftOut ?? []));

/** D-34: the key that `metadata=1` adds to a node: the node's type, its fields, and the addresses of its edges. */
interface Metadata {
  readonly type: string;
  readonly fields: readonly { name: string; type: string }[];
  /** The addresses of the edges, without a token. */
  readonly connections: Readonly<Record<string, string>>;
}

export async function metadataOf(registry: Registry, set: FieldSet, request: ReadRequest, access: FieldAccess): Promise<Metadata> {
  const { node, version, world, graphRequest } = request;
  const refusalOf = refusalsOn(node, access);
  const fields: { name: string; type: string }[] = [];
  for (const [name, { schema, onlyIn, policy, edge }] of Object.entries(set.fields)) {
    // `metadata=1` lists the edges under `connections`.
    if (edge !== undefined) continue;
    if (onlyIn !== undefined && onlyIn !== world.profile) continue;
    // D-16: `metadata=1` does not list a field that the caller may not read.
    if ((await refusalOf(policy)) !== undefined) continue;
    fields.push({ name, type: String((schema as { type?: unknown }).type ?? "mixed") });
  }
  const edges = registry
    .operationsOn(node.type)
    .filter(({ served, access }) => served?.contract.method === "GET" && access.surfaces.includes(graphRequest.surface))
    .map(({ served }) => served?.contract.edge)
    .filter((edge) => edge !== null && edge !== undefined);
  const connections = Object.fromEntries(edges.map((edge) => [edge, `${graphRequest.baseUrl}/${formatVersion(version)}/${node.id}/${edge}`]));
  return { type: node.type, fields, connections };
}
