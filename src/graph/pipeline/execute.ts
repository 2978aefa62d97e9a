/** Steps 7 and 9 to 11: parameters, the handler, the version's changes, the fields. */
import type { AuthorizationCheck } from "#auth/authorize";
import type { NodeRef } from "#auth/node-ref";
import { BoundedMap } from "#kernel/bounded-map";
import { invalidParameter } from "#kernel/errors";
import { parseSelection, type Selection } from "#kernel/selection";
import { detached } from "#kernel/text";
import type { Reader } from "#storage/database";
import type { Row } from "#storage/sql";
import type { ListOperation, ListRequest, ListResult, NodeType, OperationRequest, ReadRequest, WriteOperation } from "../contract/operation.ts";
import type { Endpoint, Registry } from "../contract/registry.ts";
import { pagingOf, readPageRequest } from "../response/paging.ts";
import { type FieldAccess, readableOf } from "./fields/field-policies.ts";
import { metadataOf } from "./fields/metadata.ts";
import { type Projection, projectionOf, projectRow, projectRowWithReads } from "./fields/projection.ts";
import type { GraphRequest, Parameters } from "./request.ts";
import { notFoundNode } from "./route.ts";

type HandlerOf<Kind> = Extract<NonNullable<Endpoint["served"]>, { contract: { kind: Kind } }>;

export async function execute(registry: Registry, endpoint: Endpoint, request: ReadRequest, check: readonly AuthorizationCheck[]): Promise<unknown> {
  const { operation, policy } = endpoint.access;
  const source = registry.changes.upParams(operation, request.version, parametersOf(request.graphRequest));
  const selection = selectionOf(source.fields);
  const response = await responseOf(registry, endpoint, request, source, selection, { policy, check });
  return registry.changes.downResponse(operation, request.version, response);
}

/** D-34, D-41: bodies carry parameters on every method, and the body wins over the query. */
function parametersOf(request: GraphRequest): Parameters {
  if (isEmpty(request.body)) return request.query;
  return isEmpty(request.query) ? request.body : { ...request.query, ...request.body };
}

function isEmpty(parameters: Parameters): boolean {
  for (const _ in parameters) return false;
  return true;
}

function selectionOf(fields: unknown): Selection | undefined {
  if (fields === undefined || fields === "") return undefined;
  if (typeof fields === "string") return knownSelection(fields);
  if (Array.isArray(fields) && fields.every((field) => typeof field === "string")) return parseSelection(fields.join(","));
  throw invalidParameter("fields", "must be a comma-separated string");
}

/** Clients ask for the same fields again and again. At most 512 texts of 256 characters, and what they resolve to. */
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

function responseOf(
  registry: Registry,
  endpoint: Endpoint,
  request: ReadRequest,
  source: Parameters,
  selection: Selection | undefined,
  access: FieldAccess,
): Promise<unknown> {
  const { reader } = request.world.database;
  if (endpoint.reading !== undefined) return readNode(registry, endpoint.reading, request, reader, selection, access, isAsked(source.metadata));
  const { served } = endpoint;
  if (served === undefined) throw new Error(`${endpoint.access.operation} has neither a handler nor declared fields`);
  const params = endpoint.readParams(source);
  switch (served.contract.kind) {
    case "list":
      return list(served as HandlerOf<"list">, request, params, source, reader, selection, access);
    case "read":
      return (served as HandlerOf<"read">).handle(withParams(request, params), reader);
    case "write":
      return write(registry, served as HandlerOf<"write">, withParams(request, params), selection, access);
  }
}

/** Written out: measured, a spread costs more than the rest of this step. */
const withParams = ({ node, caller, version, world, graphRequest, isMigrated }: ReadRequest, params: unknown): OperationRequest => ({
  node,
  params,
  caller,
  version,
  world,
  graphRequest,
  isMigrated,
});

const isAsked = (flag: unknown): boolean => flag === "1" || flag === 1 || flag === "true" || flag === true;

async function readNode(
  registry: Registry,
  reading: NonNullable<NodeType["reading"]>,
  request: ReadRequest,
  reader: Reader,
  selection: Selection | undefined,
  access: FieldAccess,
  hasMetadata: boolean,
): Promise<Record<string, unknown>> {
  const projection = projectionOf(reading.set, selection, request.world.profile);
  const row = await reading.find(request, reader, request.node);
  if (row === undefined) throw notFoundNode(request);
  const shown = projection.policy === access.policy ? projection : await readableOf(projection, access, request.node, "refused");
  const response = await projectOne(request, reader, row, shown);
  return hasMetadata ? { ...response, metadata: await metadataOf(registry, reading.set, request, access) } : response;
}

const projectOne = (request: ReadRequest, reader: Reader, row: Row, projection: Projection) =>
  projection.needsReads ? projectRowWithReads(request, reader, row, projection) : projectRow(row, projection);

async function list(
  served: HandlerOf<"list">,
  request: ReadRequest,
  params: unknown,
  source: Parameters,
  reader: Reader,
  selection: Selection | undefined,
  access: FieldAccess,
): Promise<unknown> {
  const contract: ListOperation = served.contract;
  const { world, graphRequest } = request;
  const name = `${contract.operation} ${request.node.id}`;
  const projection = projectionOf(contract.items, selection, world.profile);
  const page = readPageRequest(source, name, world.cursors, contract.keyColumns ?? 1);
  const { node, caller, version, isMigrated } = request;
  const listRequest: ListRequest = { node, params, caller, version, world, graphRequest, isMigrated, page };
  const found: ListResult<Row> = await served.handle(listRequest, reader);
  const data: Record<string, unknown>[] = [];
  const isOpen = projection.policy === access.policy;
  for (const row of found.rows) {
    const shown = isOpen ? projection : await readableOf(projection, access, contract.nodeOf?.(row) ?? node, "refused");
    data.push(shown.needsReads ? await projectRowWithReads(request, reader, row, shown) : projectRow(row, shown));
  }
  const paging = pagingOf(found, name, world.cursors, graphRequest, contract.cursorsOnly === true);
  return found.extras === undefined ? { data, paging } : { data, paging, ...found.extras };
}

async function write(
  registry: Registry,
  served: HandlerOf<"write">,
  request: OperationRequest,
  selection: Selection | undefined,
  access: FieldAccess,
): Promise<unknown> {
  const contract: WriteOperation = served.contract;
  if (served.submit !== undefined) return served.submit(request);
  const readBack = selection === undefined ? undefined : contract.readBack;
  // A wrong selection is refused before anything is written.
  const projection = readBack === undefined ? undefined : projectionOf(readBack.set, selection, request.world.profile);
  const { database } = request.world;
  const prepared = await served.prepare?.(request, database.reader);
  const response = await database.write((tx) => served.handle(request, tx, prepared));
  if (readBack === undefined || projection === undefined) return response;
  const id = (response as { id?: OperationRequest["node"]["id"] }).id ?? request.node.id;
  const reading = registry.types.find(({ type }) => type === readBack.type)?.reading;
  const node: NodeRef = { id, type: readBack.type, owner: request.node.owner };
  const row = await reading?.find(request, database.reader, node);
  if (row === undefined) return response;
  // What is written is written: a field that is refused does not make an error of it.
  const shown = projection.policy === access.policy ? projection : await readableOf(projection, access, node, "left out");
  return projectOne(request, database.reader, row, shown);
}
