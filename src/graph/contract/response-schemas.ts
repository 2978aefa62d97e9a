/**
 * Makes the schema of an operation's 200 response from its contract. Documents use the schema of the response, and tests check every response with
 * it.
 */
import { type TObject, type TSchema, Type } from "typebox";
import type { ErrorName } from "#kernel/errors";
import { SHAPE_OF } from "../schema/schema-node.ts";
import type { Field, FieldSet, ListOperation } from "./operation.ts";
import type { Endpoint } from "./registry.ts";

const closed = { additionalProperties: false };

/** The schema of `paging` (LIST-2 to LIST-9). The paging of the tagged-media edge has only cursors (LIST-14). */
const pagingSchema = (isCursorsOnly: boolean): TObject =>
  Type.Object(
    {
      cursors: Type.Object({ before: Type.Optional(Type.String()), after: Type.Optional(Type.String()) }, closed),
      ...(isCursorsOnly ? {} : { previous: Type.Optional(Type.String()), next: Type.Optional(Type.String()) }),
    },
    closed,
  );

/**
 * The schema of an object with all fields of the profile. Only required fields are in every response, so the schema requires no others. `shapeOf` is
 * the node type that the schema describes, because the schemas of two node types may have the same keys.
 */
function fieldSetSchema(set: FieldSet, profile: "strict" | "clients", shapeOf?: string): TObject {
  const required = set.required ?? ["id"];
  const properties: Record<string, TSchema> = {};
  for (const [name, field] of Object.entries(set.fields)) {
    if (field.onlyIn !== undefined && field.onlyIn !== profile) continue;
    const schema = fieldSchema(field, profile);
    properties[name] = required.includes(name) ? schema : Type.Optional(schema);
  }
  return Type.Object(properties, shapeOf === undefined ? closed : { ...closed, [SHAPE_OF]: shapeOf });
}

function fieldSchema({ schema, nested, reference, edge }: Field, profile: "strict" | "clients"): TSchema {
  if (edge !== undefined) return listSchema(edge, profile);
  if (reference?.set !== undefined) return fieldSetSchema(reference.set(), profile, reference.type);
  if (nested === undefined) return selectableSchema(schema);
  const one = fieldSetSchema(nested.set(), profile, nested.type === undefined ? undefined : `${nested.type}_reference`);
  return nested.isList === true ? Type.Object({ data: Type.Array(one) }, closed) : one;
}

/**
 * The schema of a value inside which a caller may select. D-38: only `id` is required inside a selectable object, because a selection may leave out
 * the other keys.
 */
function selectableSchema(schema: TSchema): TSchema {
  const { properties, items, required } = schema as { properties?: Record<string, TSchema>; items?: TSchema; required?: string[] };
  if (items !== undefined) return { ...schema, items: selectableSchema(items) };
  if (properties === undefined) return schema;
  const inner = Object.entries(properties).map(([name, property]) => [name, selectableSchema(property)]);
  const { required: _, ...open } = schema as TSchema & { required?: string[] };
  return { ...open, properties: Object.fromEntries(inner), ...(required?.includes("id") === true ? { required: ["id"] } : {}) };
}

function listSchema(contract: ListOperation, profile: "strict" | "clients"): TObject {
  const extras = contract.extras === undefined ? {} : (contract.extras as TObject).properties;
  const optionalExtras = Object.fromEntries(Object.entries(extras).map(([name, schema]) => [name, Type.Optional(schema as TSchema)]));
  return Type.Object(
    {
      data: Type.Array(fieldSetSchema(contract.items, profile, contract.itemType ?? `${contract.operation}Item`)),
      paging: Type.Optional(pagingSchema(contract.cursorsOnly === true)),
      ...optionalExtras,
    },
    closed,
  );
}

export function responseSchema(endpoint: Endpoint, profile: "strict" | "clients"): TSchema {
  if (endpoint.reading !== undefined) return fieldSetSchema(endpoint.reading.set, profile, endpoint.nodeType);
  const contract = endpoint.served?.contract;
  if (contract === undefined) throw new Error(`${endpoint.access.operation} has neither a handler nor declared fields`);
  if (contract.kind === "list") return listSchema(contract, profile);
  if (contract.kind === "write" && contract.readBack !== undefined)
    return Type.Union([contract.returns, fieldSetSchema(contract.readBack.set, profile, contract.readBack.type)]);
  return contract.returns;
}

/** The errors that every request may have. A contract lists only the errors of its own operation (D-14, D-20, D-21, D-22). */
export const commonErrors: readonly ErrorName[] = [
  "internalError",
  "databaseUnreachable",
  "overloaded",
  "appRateLimited",
  "edgeRateLimited",
  "permissionMissing",
  "taskMissing",
  "foreignPage",
  "tokenMissing",
  "tokenInvalid",
  "tokenExpired",
  "tokenRevoked",
  "tokenOfOtherApp",
  "invalidParameter",
  "unsupportedRequest",
  "unknownObject404",
  "unknownPath",
  "bodyTooLarge",
  "headersTooLarge",
  "requestTooSlow",
];
