/**
 * Makes the OpenAPI 3.1 document of the surfaces from the contracts (docs/interface/README.md).
 *
 * A path such as `/{id}` is used for many node types. The document has a path of several node types once, with an `anyOf` of the node types' schemas,
 * each with `x-plaza-type`. For generators and fuzzers, the options `type` and `surface` limit the document to one node type or one surface.
 */
import { type Place, placeNames, schemes } from "#auth/schemes";
import { withoutCitations } from "#kernel/text";
import { formatVersion } from "#kernel/versions";
import type { SurfaceName } from "../../pipeline/request.ts";
import { openMigrations } from "../../versions/migration-windows.ts";
import { isReleased, newestVersion } from "../../versions/resolve.ts";
import type { Profile } from "../../worlds/world.ts";
import type { Endpoint, Registry } from "../registry.ts";
import { edgeOf, type OpenapiOptions, pascal, type Served, servedAddresses, typeOf } from "./addresses.ts";
import { bodyOf, parametersOf, sharedParameters } from "./parameters.ts";
import { responseHeaders, responsesOf } from "./responses.ts";
import { type Document, NamedSchemas } from "./schemas.ts";

const ABOUT = `The graph interface. An operation whose address several node types share has a schema for each of them, marked \`x-plaza-type\`;
\`?type=label\` gives the document of one node type, \`?surface=ads\` that of one surface. A batch, a read of several \`ids\`, and the keys that
\`metadata\` and \`debug\` add to a response are not described here. Parameters that an operation does not name are ignored unless it says otherwise. A body may be JSON or a
form, which has only texts: in both, a number, true or false may be sent as text, and a list or an object as JSON text. Schemas show the JSON
form.`;

/**
 * A text that changes whenever the passing of world time changes the OpenAPI document. The texts of two documents can be compared only if the
 * documents have the same calendar and options.
 */
export const servedNow = ({ calendar, now }: Pick<OpenapiOptions, "calendar" | "now">): string =>
  [
    ...calendar.marketing.map(({ released, until = Number.POSITIVE_INFINITY }) => (until <= now ? 2 : released <= now ? 1 : 0)),
    ...calendar.platform.map((release) => (isReleased(release, now) ? 1 : 0)),
    ...openMigrations(calendar.migrations, now),
  ].join("");

export function openapiDocument(registry: Registry, options: OpenapiOptions): Document {
  const served = servedAddresses(registry, options);
  const schemas = new NamedSchemas();
  const main = options.surface ?? "base";
  const paths: Record<string, Document> = {};
  for (const one of served) {
    const item = paths[one.path] ?? {};
    paths[one.path] = item;
    item[one.method.toLowerCase()] = operationOf(one, registry, schemas, main, options);
  }
  const tags = [...new Set(served.flatMap(({ endpoints }) => endpoints.map(typeOf)))].sort();
  const components = { schemas: schemas.all(), parameters: sharedParameters, headers: responseHeaders, securitySchemes };
  return {
    openapi: "3.1.0",
    info: {
      title: "Plaza",
      version: formatVersion(newestVersion(options.calendar, options.now)),
      summary: "Pages, labels, personas, required actions, live video, messaging, media, insights, catalogs and app events.",
      description: ABOUT.replaceAll("\n", " "),
      contact: { name: "Plaza's developers" },
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: serversOf([main], options),
    security: [],
    tags: tags.map((name) => ({ name, description: `Operations on nodes of the type ${name}.` })),
    paths,
    components: usedComponents(components, paths),
  };
}

/** The components of the OpenAPI document to which its paths refer. The document leaves out the components to which no path refers. */
function usedComponents(components: Readonly<Record<string, Document>>, paths: Document): Document {
  const text = JSON.stringify([paths, components.schemas]);
  const isUsed = (kind: string, name: string): boolean =>
    kind === "securitySchemes" ? text.includes(`"${name}":[]`) : kind === "schemas" || text.includes(`"#/components/${kind}/${name}"`);
  return Object.fromEntries(
    Object.entries(components).map(([kind, all]) => [kind, Object.fromEntries(Object.entries(all).filter(([name]) => isUsed(kind, name)))]),
  );
}

const serversOf = (surfaces: Iterable<SurfaceName>, { addresses }: OpenapiOptions): Document[] =>
  [...surfaces].map((name) => ({ url: addresses[name], description: `The surface ${name}` }));

function operationOf(served: Served, registry: Registry, schemas: NamedSchemas, main: SurfaceName, options: OpenapiOptions): Document {
  const { endpoints, surfaces, method } = served;
  const summaries = [...new Set(endpoints.map(summaryOf))];
  const where = registry.servedIn(options, options.now);
  const requestBody = bodyOf(served, schemas, where);
  const isOfMain = surfaces.size === 1 && surfaces.has(main);
  return {
    operationId: nameOf(served),
    summary: summaries.length === 1 ? summaries[0] : `${method} for ${endpoints.map(typeOf).join(", ")}`,
    description: [...summaries, ...securityNotes(endpoints, options.profile)].join("\n\n"),
    tags: [...new Set(endpoints.map(typeOf))],
    ...(isOfMain ? {} : { servers: serversOf(surfaces, options) }),
    ...(endpoints.some(({ access }) => access.headers?.deprecation !== undefined) ? { deprecated: true } : {}),
    security: securityOf(endpoints, options.profile),
    parameters: parametersOf(served, schemas, where, options),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: responsesOf(endpoints, registry, schemas, options),
    "x-plaza-operations": endpoints.map(({ access }) => access.operation),
    "x-plaza-clauses": [...new Set(endpoints.flatMap(({ access }) => access.clauses))],
  };
}

/**
 * The name of the operation in the OpenAPI document. If several node types share the path, the operation's name is made from the method and the edge.
 */
function nameOf({ endpoints, method, suffix }: Served): string {
  const [only] = endpoints;
  if (only !== undefined && endpoints.length === 1) return `${only.access.operation}${suffix}`;
  return `${method.toLowerCase()}${pascal(edgeOf(only as Endpoint) ?? "node")}${suffix}`;
}

const summaryOf = ({ served, nodeType }: Endpoint): string =>
  withoutCitations(served?.contract.summary ?? `Reads a ${nodeType}: its declared fields.`);

/**
 * D-10, D-12: security schemes for the query parameters and the header that can have tokens. A token in the request body has no scheme, because it is
 * a parameter of the body.
 */
const securitySchemes: Readonly<Record<string, Document>> = {
  access_token: { type: "apiKey", in: "query", name: "access_token", description: placeNames.access_token },
  oauth_token: { type: "apiKey", in: "query", name: "oauth_token", description: placeNames.oauth_token },
  bearer: { type: "http", scheme: "bearer", description: "Authorization: Bearer <ACCESS_TOKEN>" },
};

/**
 * The alternative ways to send tokens, as the security requirements of the document. If one alternative has several schemes in one object, the
 * request needs a token for each of them.
 */
function securityOf(endpoints: readonly Endpoint[], profile: Profile): Document[] {
  const ways = endpoints.flatMap((endpoint) => waysOf(endpoint, profile));
  return [...new Map(ways.map((way) => [JSON.stringify(way), way])).values()];
}

function waysOf({ access }: Endpoint, profile: Profile): Document[] {
  if (profile === "clients") {
    const anyPlace: Document[] = [{ bearer: [] }, { access_token: [] }, { oauth_token: [] }];
    return access.tokenless === undefined ? anyPlace : [...anyPlace, {}];
  }
  const { places, need } = schemes[access.scheme] as { places: readonly Place[]; need: "all" | "one" };
  const named = places.filter((place) => place !== "body");
  return need === "all" ? [Object.fromEntries(named.map((place) => [place, []]))] : named.map((place) => ({ [place]: [] }));
}

/** Notes in the document about rules for tokens that security schemes cannot express. */
function securityNotes(endpoints: readonly Endpoint[], profile: Profile): string[] {
  const isOf = (is: (scheme: { places: readonly Place[]; need: string; developmentOnly?: readonly Place[] }) => boolean): boolean =>
    endpoints.some(({ access }) => is(schemes[access.scheme]));
  return [
    ...(profile === "strict" && isOf(({ need }) => need === "all")
      ? ["The tokens in the query, the body and the header must be the same, or must belong to the same app."]
      : []),
    ...(isOf(({ places }) => places.includes("body")) || profile === "clients" ? ["A token may also be in the body, as `access_token`."] : []),
    ...(profile === "strict" && isOf(({ developmentOnly }) => developmentOnly !== undefined)
      ? ["The query's `access_token` is accepted only while the app is in development mode."]
      : []),
  ];
}
