/** Makes the OpenAPI responses of an operation: its 200, and every other status with the form of its errors (D-20). */
import { type DeclaredError, definitionOf } from "#kernel/errors";
import { withoutCitations } from "#kernel/text";
import { publicSchema } from "../../schema/public-schema.ts";
import type { ErrorForm } from "../operation.ts";
import type { Endpoint, Registry } from "../registry.ts";
import { commonErrors, responseSchema } from "../response-schemas.ts";
import { edgeOf, methodOf, type OpenapiOptions, pascal, typeOf } from "./addresses.ts";
import { type Document, errorSchemas, type NamedSchemas } from "./schemas.ts";

const header = (description: string, schema: Document): Document => ({ description, schema });
const usage = (of: string) =>
  header(`The percentage of its requests that the ${of} has used.`, { type: "string", contentMediaType: "application/json" });

export const responseHeaders: Readonly<Record<string, Document>> = {
  "x-pf-trace-id": header("The request's trace id, as in an error's pftrace_id.", { type: "string" }),
  "pf-api-version": header("The version that served the request.", { type: "string" }),
  "x-app-usage": usage("app"),
  "x-business-use-case-usage": usage("page or account"),
  etag: header("The response's entity tag, for If-None-Match.", { type: "string" }),
  "retry-after": header("The number of seconds after which the caller should send the request again.", { type: "string", pattern: "^[0-9]+$" }),
  "www-authenticate": header("The challenge of RFC 6750.", { type: "string" }),
  "x-ad-api-version-warning": header("The requested version is deprecated, and a later one served the request.", { type: "string" }),
  deprecation: header("The time since which the operation is deprecated (RFC 9745).", { type: "string" }),
  link: header("The address of a page about the deprecation.", { type: "string" }),
};

const everywhere = ["x-pf-trace-id", "pf-api-version", "x-app-usage", "x-business-use-case-usage"];

function headersOf(status: number, endpoints: readonly Endpoint[]): Document {
  const isMarketing = endpoints.some(({ access }) => access.versions.startsWith("marketing"));
  const names = [
    ...everywhere,
    ...((status === 200 || status === 304) && endpoints.some((endpoint) => methodOf(endpoint) === "GET") ? ["etag"] : []),
    ...(status === 401 ? ["www-authenticate"] : []),
    ...(status === 429 || status === 503 ? ["retry-after"] : []),
    ...(isMarketing ? ["x-ad-api-version-warning"] : []),
    ...new Set(endpoints.flatMap(({ access }) => Object.keys(access.headers ?? {}))),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

export function responsesOf(endpoints: readonly Endpoint[], registry: Registry, schemas: NamedSchemas, { profile }: OpenapiOptions): Document {
  const successes = endpoints.map((endpoint) => ({ ...successOf(endpoint, schemas, profile), type: typeOf(endpoint) }));
  const responses: Document = { "200": { description: "Done.", headers: headersOf(200, endpoints), ...json(anyOf(successes)) } };
  if (endpoints.some((endpoint) => methodOf(endpoint) === "GET"))
    responses["304"] = { description: "The caller already has this response, as its If-None-Match shows.", headers: headersOf(304, endpoints) };
  const forms = errorSchemas(profile);
  for (const [status, errors] of errorsByStatus(endpoints, registry)) {
    const references = [...errors.forms].sort().map((form) => ({ schema: schemas.add(forms[form].name, forms[form].schema) }));
    responses[String(status)] = {
      description: [...errors.whens].join("\n\n"),
      headers: headersOf(status, endpoints),
      ...json(anyOf(references)),
    };
  }
  return responses;
}

const json = (schema: Document): Document => ({ content: { "application/json": { schema } } });

export interface Alternative {
  readonly schema: Document;
  /** The node type that the schema describes. */
  readonly type?: string;
}

/**
 * Makes one schema for all node types that share a path. The schemas of the node types may overlap, so they are combined with `anyOf` and not with
 * `oneOf`.
 */
export function anyOf(alternatives: readonly Alternative[]): Document {
  const [only] = alternatives;
  if (only !== undefined && alternatives.length === 1) return only.schema;
  return { anyOf: alternatives.map(({ schema, type }) => (type === undefined ? schema : { ...schema, "x-plaza-type": type })) };
}

function successOf(endpoint: Endpoint, schemas: NamedSchemas, profile: OpenapiOptions["profile"]): Alternative {
  const schema = publicSchema(responseSchema(endpoint, profile));
  const name = pascal(endpoint.access.operation);
  if (endpoint.reading !== undefined) return { schema: schemas.add(pascal(typeOf(endpoint)), schema) };
  const contract = endpoint.served?.contract;
  if (contract?.kind === "list") {
    const { data } = (schema as { properties: { data: { items: Document } } }).properties;
    schemas.add(`${name}Item`, data.items);
  }
  // The second alternative of the response's schema is the node after the write, from which `fields` selects.
  if (contract?.kind === "write" && contract.readBack !== undefined) schemas.add(`${name}Node`, (schema.anyOf as Document[])[1] as Document);
  return { schema: schemas.add(responseName(endpoint, schema), schema) };
}

/** Names in the document for responses that several operations have. Each of these responses has a single key, by which its name is found. */
const sharedNames: Readonly<Record<string, string>> = { success: "Success", id: "Created" };

export const responseName = ({ access }: Endpoint, { properties = {} }: Document): string =>
  sharedNames[Object.keys(properties as object).join()] ?? `${pascal(access.operation)}Response`;

interface StatusErrors {
  readonly whens: Set<string>;
  readonly forms: Set<ErrorForm>;
}

/** The errors that a request can get before the server has found its operation. Errors before the operation is found always have the wrapped form. */
const httpErrors: readonly DeclaredError[] = ["internalError", "invalidParameter", "bodyTooLarge", "headersTooLarge", "requestTooSlow"];

function errorsByStatus(endpoints: readonly Endpoint[], registry: Registry): [number, StatusErrors][] {
  const statuses = new Map<number, StatusErrors>();
  const add = (error: DeclaredError, form: ErrorForm) => {
    const entry = definitionOf(error);
    const isFlat = form === "flat";
    const status = isFlat ? (entry.flatStatus ?? entry.status) : entry.status;
    const errors = statuses.get(status) ?? { whens: new Set(), forms: new Set() };
    const subcode = entry.subcode === undefined ? "" : `, subcode ${entry.subcode}`;
    errors.whens.add(`Code ${isFlat ? (entry.flatCode ?? entry.code) : entry.code}${subcode}: ${withoutCitations(entry.when)}.`);
    errors.forms.add(form);
    statuses.set(status, errors);
  };
  for (const endpoint of endpoints) {
    const { access } = endpoint;
    const forms = new Set([access.errorForm, ...formsByShape(endpoint, registry)]);
    for (const error of commonErrors) if (error !== "unknownObject404" || isNodeRead(endpoint)) for (const form of forms) add(error, form);
    for (const error of access.errors) add(error, access.errorForm);
  }
  for (const error of httpErrors) add(error, "wrapped");
  return [...statuses].sort(([a], [b]) => a - b);
}

/** D-21: whether the endpoint reads a node by its id. If the endpoint reads a node, a missing migration intent has an error of its own. */
const isNodeRead = (endpoint: Endpoint): boolean => methodOf(endpoint) === "GET" && edgeOf(endpoint) === undefined;

/** D-20: the forms that an error of a request can have before the operation is found. */
function formsByShape(endpoint: Endpoint, registry: Registry): readonly ErrorForm[] {
  const edge = edgeOf(endpoint);
  if (edge === undefined) return ["flat", "wrapped"];
  return [registry.isFlatEdge(edge) ? "flat" : "wrapped"];
}
