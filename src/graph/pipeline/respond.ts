/** The step `respond`: the fields that were asked and may be read, in the words of the version that serves. */
import type { NodeRef } from "#auth/node-ref";
import type { Row } from "#storage/sql";
import type { ListResult, ReadRequest } from "../contract/operation.ts";
import type { Registry } from "../contract/registry.ts";
import { pagingOf } from "../response/paging.ts";
import { withDebug } from "./debug.ts";
import { readableOf } from "./fields/field-policies.ts";
import { metadataOf } from "./fields/metadata.ts";
import { type Projection, projectRow, projectRowWithReads } from "./fields/projection.ts";
import type { Handled } from "./handle.ts";
import type { ParsedList, ParsedNode, ParsedWrite } from "./parse.ts";
import { notFoundNode } from "./route.ts";
import type { Incoming, Versioned } from "./stages.ts";

/** Throws, or rejects with, what a field that was asked by name is refused for (D-16, D-21). */
export function respond(incoming: Incoming, versioned: Versioned, handled: Handled): unknown {
  const shown = withFields(incoming.registry, handled);
  return shown instanceof Promise
    ? shown.then((later) => inVersion(incoming, versioned, handled, later))
    : inVersion(incoming, versioned, handled, shown);
}

function inVersion(incoming: Incoming, versioned: Versioned, handled: Handled, response: unknown): unknown {
  const { endpoint, served } = versioned;
  const changed = incoming.registry.changes.downResponse(endpoint.access.operation, served.version, response);
  return withDebug(incoming, versioned, handled, changed);
}

/** Without a promise where no field needs another look at the database. */
function withFields(registry: Registry, handled: Handled): unknown {
  switch (handled.kind) {
    case "node":
      return nodeResponse(registry, handled.parsed, handled.row);
    case "list":
      return listResponse(handled.parsed, handled.found);
    case "read":
      return handled.response;
    case "write":
      return handled.parsed.projection === undefined
        ? handled.response
        : readBack(registry, handled.parsed, handled.parsed.projection, handled.response);
  }
}

function nodeResponse(registry: Registry, parsed: ParsedNode, row: Row | undefined): unknown {
  const { request, projection, access, hasMetadata } = parsed;
  if (row === undefined) throw notFoundNode(request);
  const isAtOnce = projection.policy === access.policy && !projection.needsReads && !hasMetadata;
  return isAtOnce ? projectRow(row, projection) : nodeResponseLater(registry, parsed, row);
}

async function nodeResponseLater(registry: Registry, parsed: ParsedNode, row: Row): Promise<Record<string, unknown>> {
  const { request, reading, projection, access, hasMetadata } = parsed;
  const readable = projection.policy === access.policy ? projection : await readableOf(projection, access, request.node, "refused");
  const response = await projected(request, row, readable);
  return hasMetadata ? { ...response, metadata: await metadataOf(registry, reading.set, request, access) } : response;
}

const projected = (request: ReadRequest, row: Row, projection: Projection) =>
  projection.needsReads ? projectRowWithReads(request, request.world.database.reader, row, projection) : projectRow(row, projection);

function listResponse(parsed: ParsedList, found: ListResult<Row>): unknown {
  const { projection, access } = parsed;
  if (projection.needsReads || projection.policy !== access.policy) return itemsLater(parsed, found).then((data) => envelope(parsed, found, data));
  return envelope(
    parsed,
    found,
    found.rows.map((row) => projectRow(row, projection)),
  );
}

async function itemsLater({ request, served, projection, access }: ParsedList, { rows }: ListResult<Row>): Promise<Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = [];
  const isOpen = projection.policy === access.policy;
  for (const row of rows) {
    const readable = isOpen ? projection : await readableOf(projection, access, served.contract.nodeOf?.(row) ?? request.node, "refused");
    items.push(await projected(request, row, readable));
  }
  return items;
}

function envelope({ request, served, name }: ParsedList, found: ListResult<Row>, data: readonly Record<string, unknown>[]): unknown {
  const { page, graphRequest, world } = request;
  const isCursorsOnly = served.contract.cursorsOnly === true;
  const paging = pagingOf(found, { list: name, cursors: world.cursors, page, request: graphRequest, isCursorsOnly });
  return found.extras === undefined ? { data, paging } : { data, paging, ...found.extras };
}

/** D-33: the node of the `id` that the write responds with, or the addressed node itself. */
async function readBack(registry: Registry, parsed: ParsedWrite, projection: Projection, response: unknown): Promise<unknown> {
  const { request, served, access } = parsed;
  const type = served.contract.readBack?.type ?? request.node.type;
  const node: NodeRef = { id: (response as { id?: NodeRef["id"] }).id ?? request.node.id, type, owner: request.node.owner };
  const reading = registry.types.find((known) => known.type === type)?.reading;
  const row = await reading?.find(request, request.world.database.reader, node);
  if (row === undefined) return response;
  // What is written is written: a field that is refused does not make an error of it.
  const readable = projection.policy === access.policy ? projection : await readableOf(projection, access, node, "left out");
  return projected(request, row, readable);
}
