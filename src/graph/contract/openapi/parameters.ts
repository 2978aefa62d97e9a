/** Makes the OpenAPI parameters of an operation in path, query and headers, and its request body. */
import type { TSchema } from "typebox";
import { principalTypes } from "#auth/token";
import { formatVersion } from "#kernel/versions";
import { isFile, publicSchema, requestSchema } from "../../schema/public-schema.ts";
import { having, type ServedIn, SHAPE_OF } from "../../schema/schema-node.ts";
import { isMarketing } from "../../versions/resolve.ts";
import { parametersOfAll } from "../operation.ts";
import type { Endpoint } from "../registry.ts";
import { methodOf, type OpenapiOptions, pascal, type Served, typeOf, versionsOf } from "./addresses.ts";
import { anyOf } from "./responses.ts";
import type { Document, NamedSchemas } from "./schemas.ts";

export const sharedParameters: Readonly<Record<string, Document>> = {
  fields: query("fields", "The fields to return, separated by commas; the fields of a nested object as `a{b,c}`.", { type: "string" }),
  limit: query("limit", "The greatest number of objects on a page. A larger number than 100 counts as 100.", {
    type: "integer",
    minimum: 1,
    default: 25,
  }),
  before: query("before", "Returns the page before this cursor; cannot be combined with `after`.", { type: "string" }),
  after: query("after", "Returns the page after this cursor; cannot be combined with `before`.", { type: "string" }),
  // D-15: the parameter has no pattern, because the server does not check the proof if the token is an app token.
  appsecret_proof: query("appsecret_proof", "The HMAC-SHA256 of the access token with the app's secret as key, in hex, for apps that require it.", {
    type: "string",
  }),
  if_none_match: {
    name: "If-None-Match",
    in: "header",
    description:
      "The entity tags of responses that the caller already has. If the new response has one of these tags, its status is 304 and it has no body.",
    schema: { type: "string" },
  },
};

function query(name: string, description: string, schema: Document): Document {
  return { name, in: "query", description, schema };
}

const shared = (name: string): Document => ({ $ref: `#/components/parameters/${name}` });

export function parametersOf({ path, method, endpoints }: Served, schemas: NamedSchemas, where: ServedIn, options: OpenapiOptions): Document[] {
  const isOf = (is: (endpoint: Endpoint) => boolean): boolean => endpoints.some(is);
  const isList = isOf(({ served }) => served?.contract.kind === "list");
  const names = [
    ...(isOf(takesFields) ? ["fields"] : []),
    ...(isList ? ["limit", "before", "after"] : []),
    "appsecret_proof",
    ...(method === "GET" ? ["if_none_match"] : []),
  ];
  return [
    ...pathParameters(path, endpoints, options),
    ...ownParameters(endpoints, schemas, where),
    ...headerParameters(endpoints),
    ...names.map(shared),
  ];
}

/** D-33, D-38: whether the parameter `fields` selects from the operation's response. */
export function takesFields({ reading, served }: Endpoint): boolean {
  if (reading !== undefined || served?.contract.kind === "list") return true;
  return served?.contract.kind === "write" && served.contract.readBack !== undefined;
}

function pathParameters(path: string, endpoints: readonly Endpoint[], options: OpenapiOptions): Document[] {
  const parameters: Document[] = [];
  if (path.includes("{version}")) parameters.push(versionParameter(endpoints, options));
  if (path.includes("{id}")) {
    const isPrincipal = endpoints.some(({ nodeType }) => nodeType !== undefined && principalTypes.has(nodeType));
    const description = isPrincipal ? "A node's id, or `me` for the node of the token: its user, page, account or app." : "A node's id.";
    const pattern = isPrincipal ? "^([1-9][0-9]{0,18}|me)$" : "^[1-9][0-9]{0,18}$";
    parameters.push({ name: "id", in: "path", required: true, description, schema: { type: "string", pattern } });
  }
  return parameters;
}

function versionParameter(endpoints: readonly Endpoint[], options: OpenapiOptions): Document {
  const texts = ["The interface version."];
  if (endpoints.some(({ access }) => access.versions === "platform")) texts.push("Without this segment, the request uses the app's default version.");
  if (endpoints.some(({ access }) => isMarketing(access.versions))) {
    const ended = options.calendar.marketing
      .filter(({ until }) => until !== undefined && until <= options.now)
      .map(({ version }) => formatVersion(version));
    texts.push("An app cannot use a marketing version that is older than the newest one at the app's first use of the marketing interface.");
    if (ended.length > 0) texts.push(`A request in a deprecated version (${ended.join(", ")}) may be upgraded to a later version.`);
  }
  const schema = { type: "string", enum: versionsOf(endpoints, options) };
  return { name: "version", in: "path", required: true, description: texts.join(" "), schema };
}

export interface OwnParameter {
  readonly name: string;
  readonly schema: TSchema;
  readonly isRequired: boolean;
}

/**
 * The operation's parameters that a request has in the query or in the body (D-34, D-40). If a parameter may be in the query and in the body,
 * documents put it where requests with this method usually have it.
 */
export function paramsIn(place: "query" | "body", endpoint: Endpoint): OwnParameter[] {
  const contract = endpoint.served?.contract;
  if (contract === undefined) return [];
  const { properties, required = [] } = contract.params;
  const usual = methodOf(endpoint) === "POST" ? "body" : "query";
  return Object.entries(properties)
    .filter(([name]) => (contract.places?.[name] ?? usual) === place)
    .map(([name, schema]) => ({ name, schema: schema as TSchema, isRequired: (required as readonly string[]).includes(name) }));
}

/** The query parameters of the operations that share a path. A parameter is required if all operations of the path require it. */
function ownParameters(endpoints: readonly Endpoint[], schemas: NamedSchemas, where: ServedIn): Document[] {
  const byName = Map.groupBy(
    endpoints.flatMap((endpoint) => paramsIn("query", endpoint)),
    ({ name }) => name,
  );
  return [...byName].map(([name, found]) => {
    const own = found.map((one) => requestSchema(one.schema, where));
    const texts = new Map(own.map((one) => [JSON.stringify(one), one]));
    const schema = anyOf([...texts.values()].map((one) => ({ schema: schemas.referred(one) })));
    const required = found.length === endpoints.length && found.every(({ isRequired }) => isRequired);
    // D-161: there are several ways to write a list of plain values. Documents show only the notation with commas in a single parameter.
    const isSeparated = found.every(({ schema: one }) => isListOfPlainValues(one));
    // If the descriptions of the alternatives differ, each alternative keeps its own description.
    const [description = `The parameter \`${name}\`.`] = own.flatMap((one) => (typeof one.description === "string" ? [one.description] : []));
    return {
      ...query(name, description, schema),
      required,
      ...(isSeparated ? { style: "form", explode: false } : {}),
    };
  });
}

function isListOfPlainValues(schema: TSchema): boolean {
  const { type, items } = schema as { type?: string; items?: { type?: string } };
  return type === "array" && items?.type !== "object" && items?.type !== "array";
}

function headerParameters(endpoints: readonly Endpoint[]): Document[] {
  const headers = new Map(endpoints.flatMap(({ access }) => Object.entries(access.requestHeaders ?? {})));
  return [...headers].map(([name, { description, schema, isRequired = false }]) => ({
    ...{ name, in: "header", required: isRequired, description },
    schema: asEnum(publicSchema(schema)),
  }));
}

/** Writes a constant as an `enum` with one value, because generators do not support constants in headers. */
function asEnum({ const: constant, ...schema }: Document): Document {
  return constant === undefined ? schema : { ...schema, enum: [constant] };
}

/**
 * The request body: JSON, a form whose lists and objects are JSON text (D-34), or a multipart form with files. The request body is undefined if the
 * method has no body.
 */
export function bodyOf({ method, endpoints }: Served, schemas: NamedSchemas, where: ServedIn): Document | undefined {
  if (method !== "POST") return undefined;
  const bodiesWith = (takesFiles: boolean) =>
    endpoints.map((endpoint) => ({ ...bodyOfOne(endpoint, schemas, where, takesFiles), type: typeOf(endpoint) }));
  const bodies = bodiesWith(false);
  const schema = anyOf(bodies);
  const structured = new Set(bodies.flatMap(({ structured: names }) => names));
  const encoding = Object.fromEntries([...structured].map((name) => [name, { contentType: "application/json" }]));
  const formOf = (body: Document) => (structured.size === 0 ? { schema: body } : { schema: withProperties(body, structured), encoding });
  return {
    required: bodies.every(({ isRequired }) => isRequired),
    content: {
      "application/json": { schema },
      "application/x-www-form-urlencoded": formOf(schema),
      "multipart/form-data": formOf(anyOf(bodiesWith(true))),
    },
  };
}

/**
 * Adds the names under `encoding` as properties of the schema. A key of `encoding` must be a property of the schema (OpenAPI 3.1, 4.8.15.1), and
 * generators do not look for properties inside an `anyOf`.
 */
const withProperties = (schema: Document, names: ReadonlySet<string>): Document =>
  schema.anyOf === undefined ? schema : { type: "object", properties: Object.fromEntries([...names].map((name) => [name, {}])), ...schema };

function bodyOfOne(endpoint: Endpoint, schemas: NamedSchemas, where: ServedIn, takesFiles: boolean) {
  const contract = endpoint.served?.contract;
  const all = paramsIn("body", endpoint).map((one) => ({ ...one, schema: requestSchema(one.schema, where) }));
  const params = takesFiles ? all : all.filter(({ schema }) => !isFile(schema));
  const { properties: _, required: __, type: ___, ...rules } = requestSchema(contract?.params, where);
  const { required: neededWithoutFile = [], ...more } = params.length === all.length ? (rules as Rules) : withoutFiles(rules, params);
  const aliases = where.profile === "clients" ? Object.entries(contract?.aliases ?? {}) : [];
  const named = new Map(params.map(({ name, schema }) => [name, schema]));
  const properties: Document = { ...Object.fromEntries(named), ...Object.fromEntries(aliases.map(([alias, name]) => [alias, named.get(name)])) };
  const required = [...params.filter(({ isRequired }) => isRequired).map(({ name }) => name), ...neededWithoutFile];
  const firm = required.filter((name) => !aliases.some(([, own]) => own === name));
  const either = aliases.flatMap(([alias, name]) => (required.includes(name) ? [having(name), having(alias)] : []));
  const schema: Document = {
    ...{ type: "object", properties, ...(firm.length === 0 ? {} : { required: firm }) },
    ...(either.length === 0 ? {} : { anyOf: either }),
    ...more,
  };
  // D-50: in addition to the declared parameters, the operation accepts only general parameters.
  if (where.profile === "strict" && contract?.isClosed === true) {
    for (const name of parametersOfAll) properties[name] ??= {};
    schema.additionalProperties = false;
  }
  const structured = params.map(({ name }) => name).filter((name) => isStructured(properties[name] as Document));
  const name = `${pascal(endpoint.access.operation)}${params.some(({ schema: one }) => isFile(one)) ? "Form" : "Request"}`;
  return {
    schema: params.length === 0 ? schema : schemas.add(name, { ...schema, [SHAPE_OF]: name }),
    structured,
    isRequired: required.length > 0,
  };
}

interface Rules extends Document {
  readonly required?: readonly string[];
  readonly anyOf?: readonly Rules[];
}

/** The rules about several parameters, as they apply to a body that cannot have files. Rules that require a file are left out. */
function withoutFiles(rules: Document, params: readonly OwnParameter[]): Rules {
  const isPossible = ({ required = [] }: Rules): boolean => required.every((name) => params.some((one) => one.name === name));
  const possible = (_: string, value: unknown): unknown => {
    const { anyOf, not, ...others } = (value ?? {}) as { anyOf?: Rules[]; not?: Rules };
    if (anyOf === undefined && not === undefined) return value;
    const choices = anyOf?.filter(isPossible) ?? [];
    return {
      ...others,
      ...(not === undefined || !isPossible(not) ? {} : { not }),
      ...(choices.length > 1 ? { anyOf: choices } : choices[0]),
    };
  };
  const { properties: _, ...rest } = JSON.parse(JSON.stringify(rules, possible)) as Rules;
  return rest;
}

const isStructured = ({ type, anyOf: choices = [] }: Document): boolean =>
  type === "object" || type === "array" || (choices as Document[]).some(isStructured);
