/**
 * OpenAPI 3.1 of the five surfaces, made from the contracts (operating.md: Also on the graph's own address).
 *
 * An address such as `/{id}` serves many node types: it is one path whose schemas are a `oneOf`, each with `x-plaza-type`.
 * `?type=label` gives the document of one node type alone, for generators and fuzzers.
 */
import { type TObject, type TSchema, Type } from "typebox";
import { type Place, placeNames, schemes } from "#auth/schemes";
import { type DeclaredError, definitionOf } from "#kernel/errors";
import { withoutCitations } from "#kernel/text";
import { formatVersion } from "#kernel/versions";
import type { SurfaceName } from "../pipeline/request.ts";
import type { VersionCalendar } from "../versions/calendar.ts";
import { fixedVersions } from "../versions/surfaces.ts";
import type { Profile } from "../worlds/world.ts";
import { commonErrors } from "./common-errors.ts";
import type { ErrorForm } from "./operation.ts";
import type { Endpoint, Registry } from "./registry.ts";
import { responseSchema } from "./response-schemas.ts";

export interface OpenapiOptions {
  readonly profile: Profile;
  readonly calendar: VersionCalendar;
  /** The absolute address of each surface. */
  readonly addresses: Readonly<Record<SurfaceName, string>>;
  /** Operations on this node type alone. */
  readonly type?: string;
}

type Document = Record<string, unknown>;

/** What an address serves by one method: an operation for each node type that has it. */
interface Served {
  readonly path: string;
  readonly method: string;
  readonly surfaces: Set<SurfaceName>;
  readonly endpoints: Endpoint[];
}

export function openapiDocument(registry: Registry, options: OpenapiOptions): Document {
  const served = addresses(registry, options);
  const paths: Record<string, Document> = {};
  for (const one of served) {
    const item = paths[one.path] ?? { servers: serversOf(one, options), parameters: pathParameters(one.path, options) };
    paths[one.path] = item;
    item[one.method.toLowerCase()] = operationOf(one, options);
  }
  const tags = [...new Set(served.flatMap(({ endpoints }) => endpoints.map(tagOf)))].sort();
  return {
    openapi: "3.1.0",
    info: {
      title: "Plaza",
      version: formatVersion(options.calendar.platform.at(-1)?.version ?? 0),
      summary: "Pages, labels, personas, required actions, live video, messaging, media, insights, catalogs and app events.",
      description: "The graph interface on its five surfaces. Every path names the addresses at which it is served.",
      contact: { name: "Plaza's developers" },
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: options.addresses.base, description: "The main host" }],
    security: [],
    tags: tags.map((name) => ({ name, description: `Operations on nodes of the type ${name}.` })),
    paths,
    components: componentsUsed(paths),
  };
}

/** A document of one node type holds only the components that it uses. */
function componentsUsed(paths: Document): Document {
  const text = JSON.stringify(paths);
  const used = (all: Document, mark: (name: string) => string): Document =>
    Object.fromEntries(
      Object.entries(all).filter(([name]) =>
        mark(name)
          .split(" ")
          .some((one) => text.includes(one)),
      ),
    );
  return {
    securitySchemes: used(securitySchemes, (name) => `{"${name}":[] ,"${name}":[]`),
    schemas: used(errorSchemas, (name) => `schemas/${name}"`),
  };
}

function addresses(registry: Registry, { profile, type }: OpenapiOptions): Served[] {
  const found = new Map<string, Served>();
  for (const endpoint of registry.endpoints) {
    if (type !== undefined && typeOf(endpoint) !== type) continue;
    const { access } = endpoint;
    const surfaces = [...access.surfaces, ...(profile === "clients" ? (access.clientsSurfaces ?? []) : [])];
    for (const surface of surfaces) {
      for (const path of pathsOf(endpoint, surface)) {
        const key = `${methodOf(endpoint)} ${path}`;
        const served = found.get(key) ?? { path, method: methodOf(endpoint), surfaces: new Set(), endpoints: [] };
        served.surfaces.add(surface);
        if (!served.endpoints.includes(endpoint)) served.endpoints.push(endpoint);
        found.set(key, served);
      }
    }
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

const methodOf = ({ served }: Endpoint): string => served?.contract.method ?? "GET";

/** The node type that an endpoint hangs on; the root's operations are tagged by their own literal. */
const typeOf = (endpoint: Endpoint): string => endpoint.nodeType ?? endpoint.served?.contract.edge ?? "root";
const tagOf = typeOf;

function pathsOf({ nodeType, served }: Endpoint, surface: SurfaceName): string[] {
  const edge = served?.contract.edge ?? undefined;
  const version = fixedVersions[surface] === undefined ? "/{version}" : "";
  const below = edge === undefined ? "" : `/${edge}`;
  if (nodeType === undefined) return [`${version}${below}`];
  const prefix = served?.contract.alsoUnder;
  return [`${version}/{id}${below}`, ...(prefix === undefined ? [] : [`${version}/${prefix}/{id}${below}`])];
}

const serversOf = ({ surfaces }: Served, { addresses: of }: OpenapiOptions) => [...surfaces].map((name) => ({ url: of[name], description: name }));

function pathParameters(path: string, { calendar }: OpenapiOptions): Document[] {
  const all = [...calendar.platform, ...calendar.marketing].map(({ version }) => version);
  const versions = [...new Set([...all, ...calendar.migrationIntents])].sort((one, other) => one - other).map(formatVersion);
  const parameters: Document[] = [];
  if (path.includes("{version}")) {
    parameters.push({
      name: "version",
      in: "path",
      required: true,
      description: "The interface version.",
      schema: { type: "string", enum: versions },
    });
  }
  if (path.includes("{id}")) {
    const schema = { type: "string", pattern: "^([1-9][0-9]{0,18}|me)$" };
    parameters.push({ name: "id", in: "path", required: true, description: "A node's id, or me for the token's own.", schema });
  }
  return parameters;
}

function operationOf({ path, method, endpoints }: Served, options: OpenapiOptions): Document {
  const first = endpoints[0] as Endpoint;
  const summaries = endpoints.map(summaryOf);
  const operation: Document = {
    operationId:
      endpoints.length === 1 && pathsOf(first, first.access.surfaces[0] as SurfaceName)[0] === path
        ? first.access.operation
        : `${method.toLowerCase()}${path.replace(/[^a-z_]/gi, "_")}`,
    summary: summaries.length === 1 ? summaries[0] : `${method} for ${endpoints.map(typeOf).join(", ")}`,
    description: `${summaries.join("\n\n")}\n\nClauses: ${endpoints.flatMap(({ access }) => access.clauses).join(", ") || "none"}.`,
    tags: [...new Set(endpoints.map(tagOf))],
    security: securityOf(first, options),
    parameters: queryParameters(first, method),
    responses: responsesOf(endpoints, options),
  };
  if (method === "POST") operation.requestBody = bodyOf(endpoints);
  return operation;
}

const summaryOf = ({ served, nodeType }: Endpoint): string =>
  withoutCitations(served?.contract.summary ?? `Reads a ${nodeType}: its declared fields.`);

const query = (name: string, description: string, schema: Document): Document => ({ name, in: "query", description, schema });

function queryParameters(endpoint: Endpoint, method: string): Document[] {
  const contract = endpoint.served?.contract;
  const parameters: Document[] = [];
  if (method !== "POST") {
    const { properties = {}, required = [] } = (contract?.params ?? {}) as Partial<TObject> & { required?: readonly string[] };
    for (const [name, schema] of Object.entries(properties)) {
      parameters.push({
        ...query(name, `The parameter ${name}.`, publicSchema(schema) as Document),
        required: (required as readonly string[]).includes(name),
      });
    }
  }
  if (endpoint.reading !== undefined || contract?.kind === "list") {
    parameters.push(query("fields", "Comma-separated fields; nesting as a{b,c}.", { type: "string" }));
  }
  if (contract?.kind === "list") {
    parameters.push(query("limit", "Most objects on a page; cut to 100.", { type: "integer", minimum: 1, default: 25 }));
    for (const name of ["before", "after"]) parameters.push(query(name, `The page ${name} this cursor.`, { type: "string" }));
  }
  return parameters;
}

/** The body of each node type; multipart and form carry the same parameters as JSON (D-34). */
function bodyOf(endpoints: readonly Endpoint[]): Document {
  const schema = oneOf(endpoints, (endpoint) => publicSchema(endpoint.served?.contract.params ?? Type.Object({})));
  const media = { schema };
  return { content: { "application/json": media, "application/x-www-form-urlencoded": media, "multipart/form-data": media } };
}

function responsesOf(endpoints: readonly Endpoint[], options: OpenapiOptions): Document {
  const success = oneOf(endpoints, (endpoint) => publicSchema(responseSchema(endpoint, options.profile)));
  const responses: Document = { "200": { description: "Done.", headers: commonHeaders, content: { "application/json": { schema: success } } } };
  for (const [status, whens] of errorStatuses(endpoints)) {
    const schema = oneOfForms(endpoints);
    responses[String(status)] = { description: `${[...whens].join("; ")}.`, headers: commonHeaders, content: { "application/json": { schema } } };
  }
  return responses;
}

function errorStatuses(endpoints: readonly Endpoint[]): [number, Set<string>][] {
  const statuses = new Map<number, Set<string>>();
  for (const { access } of endpoints) {
    for (const error of new Set<DeclaredError>([...commonErrors, ...access.errors])) {
      const entry = definitionOf(error);
      const status = access.errorForm === "flat" ? (entry.flatStatus ?? entry.status) : entry.status;
      statuses.set(status, (statuses.get(status) ?? new Set()).add(withoutCitations(entry.when)));
    }
  }
  return [...statuses].sort(([a], [b]) => a - b);
}

const errorRefs: Readonly<Record<ErrorForm, Document>> = {
  flat: { $ref: "#/components/schemas/FlatError" },
  wrapped: { $ref: "#/components/schemas/WrappedError" },
};

/** D-20: a request that leads nowhere gets its error in the form that its own shape asks for, so both forms may come. */
function oneOfForms(endpoints: readonly Endpoint[]): Document {
  const forms = new Set<ErrorForm>(["flat", "wrapped", ...endpoints.map(({ access }) => access.errorForm)]);
  return { oneOf: [...forms].map((form) => errorRefs[form]) };
}

function oneOf(endpoints: readonly Endpoint[], schemaOf: (endpoint: Endpoint) => unknown): unknown {
  const schemas = endpoints.map((endpoint) => ({ ...(schemaOf(endpoint) as Document), "x-plaza-type": typeOf(endpoint) }));
  return schemas.length === 1 ? schemas[0] : { oneOf: schemas };
}

/** A contract's schema as plain JSON. */
const publicSchema = (schema: TSchema): unknown => JSON.parse(JSON.stringify(schema));

const flatError = Type.Object({
  message: Type.String(),
  type: Type.Optional(Type.String()),
  code: Type.Integer(),
  error_subcode: Type.Optional(Type.Integer()),
  is_transient: Type.Optional(Type.Boolean()),
  error_data: Type.Optional(Type.Object({}, { additionalProperties: true })),
  error_user_title: Type.Optional(Type.String()),
  error_user_msg: Type.Optional(Type.String()),
  pftrace_id: Type.Optional(Type.String()),
});

const errorSchemas: Document = { FlatError: flatError, WrappedError: Type.Object({ error: flatError }) };

const commonHeaders = {
  "x-pf-trace-id": { description: "The request's trace id, as in an error's pftrace_id.", schema: { type: "string" } },
  "pf-api-version": { description: "The version that served the request.", schema: { type: "string" } },
};

/** The places for a token. A token in the body needs no scheme here: it is a parameter like others. */
const securitySchemes: Document = {
  access_token: { type: "apiKey", in: "query", name: "access_token", description: placeNames.access_token },
  oauth_token: { type: "apiKey", in: "query", name: "oauth_token", description: placeNames.oauth_token },
  bearer: { type: "http", scheme: "bearer", description: "Authorization: Bearer <ACCESS_TOKEN>" },
};

function securityOf({ access }: Endpoint, { profile }: OpenapiOptions): Document[] {
  const { places, need } = schemes[access.scheme] as { places: readonly Place[]; need: "all" | "one" };
  const inHead: readonly Place[] = profile === "clients" ? ["bearer", "access_token", "oauth_token"] : places.filter((place) => place !== "body");
  if (need === "all" && profile === "strict") return [Object.fromEntries(inHead.map((place) => [place, []]))];
  return inHead.map((place) => ({ [place]: [] }));
}
