/**
 * Makes the objects of a response from rows, in the step `respond`. Values of selected fields that are not in the row are read from the database for
 * all rows at once (D-38).
 */
import { invalidParameter } from "#kernel/errors";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
import type { Row } from "#storage/sql";
import type { Field, Nested, ReadRequest } from "../../contract/operation.ts";
import { type Chosen, isPart, type Projection, valueWithin } from "./projection.ts";

/** A read that a field causes inside a response: a read of a node, or of an edge of a node. */
export interface Part {
  readonly id: NodeId;
  /** The edge of the node that is read. Undefined if the read is of the node itself. */
  readonly edge: string | undefined;
  /** The selected fields, written as in the parameter `fields`. */
  readonly fields: string | undefined;
}

/** Reads a node or an edge with the caller's rights. Resolves with the response, or with undefined if the caller cannot see the node. */
export type ReadPart = (part: Part) => Promise<unknown>;

export interface ProjectionSource {
  readonly request: ReadRequest;
  readonly reader: Reader;
  readonly readPart: ReadPart;
}

type Response = Record<string, unknown>;

/** D-38: the greatest number of objects that one field may have in its lists, over all rows of a response. */
const NESTED_OBJECTS_MAX = 10_000;

/**
 * Makes the object of a row with a projection that needs no further reads. This function is synchronous for speed, because nearly every response uses
 * it.
 */
export function projectRow(request: ReadRequest, row: Row, { chosen }: Projection): Response {
  const response: Response = {};
  for (const { name, field } of chosen) {
    const value = valueIn(request, row, name, field);
    if (value !== undefined && value !== null) response[name] = value;
  }
  return response;
}

export async function projectRows(source: ProjectionSource, rows: readonly Row[], { chosen }: Projection): Promise<Response[]> {
  const responses = rows.map((): Response => ({}));
  for (const one of chosen) {
    const values = await valuesOf(source, rows, one);
    responses.forEach((response, index) => {
      const value = values[index];
      if (value !== undefined && value !== null) response[one.name] = value;
    });
  }
  return responses;
}

async function valuesOf(source: ProjectionSource, rows: readonly Row[], chosen: Chosen): Promise<readonly unknown[]> {
  const { name, field, inner, keys } = chosen;
  const { request, reader } = source;
  if (isPart(field)) return partsOf(source, rows, chosen);
  if (field.nested !== undefined && inner !== undefined) return objectsOf(source, rows, name, field.nested, inner);
  const values = field.load === undefined ? rows.map((row) => valueIn(request, row, name, field)) : await field.load(request, reader, rows);
  return keys === undefined ? values : values.map((value) => valueWithin(value, keys));
}

const valueIn = (request: ReadRequest, row: Row, name: string, field: Field): unknown =>
  field.of === undefined ? row[name] : field.of(row, request);

/** Reads edges and references one after the other, because one row has only a few such fields and the rows of a list have none (D-38). */
async function partsOf({ readPart }: ProjectionSource, rows: readonly Row[], { field, fieldsOfPart: fields }: Chosen): Promise<unknown[]> {
  const { edge, reference } = field;
  const values: unknown[] = [];
  for (const row of rows) {
    if (reference === undefined) {
      values.push(await readPart({ id: nodeId(String(row.id)), edge: edge?.edge ?? undefined, fields }));
      continue;
    }
    const id = reference.idOf(row);
    // The caller may see the id of the referenced node, because the field shows the id. A separate read of the referenced node decides whether the
    // caller may see its other fields.
    const shown = id === null || fields === undefined ? undefined : await readPart({ id: nodeId(id), edge: undefined, fields });
    values.push(id === null ? undefined : (shown ?? { id }));
  }
  return values;
}

/** Makes the nested objects of a field for all rows at once. */
async function objectsOf(source: ProjectionSource, rows: readonly Row[], name: string, nested: Nested, inner: Projection): Promise<unknown[]> {
  const loaded = await nested.load(source.request, source.reader, rows);
  const objects = loaded.flatMap((one) => one ?? []) as Row[];
  if (objects.length > NESTED_OBJECTS_MAX) {
    throw invalidParameter("fields", `asks for more than ${NESTED_OBJECTS_MAX} objects of ${name}; ask for fewer items with limit`, { field: name });
  }
  const responses = (
    inner.needsReads ? await projectRows(source, objects, inner) : objects.map((row) => projectRow(source.request, row, inner))
  ).values();
  const next = () => responses.next().value as Response;
  return loaded.map((one) => {
    if (one === undefined) return undefined;
    return Array.isArray(one) ? { data: one.map(next) } : next();
  });
}
