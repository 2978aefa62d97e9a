/**
 * Makes the OpenAPI 3.1 document of the control API from its routes. For the routes of nodes, the document has a path for each key of the world file.
 */
import type { ControlRoute } from "#control-contract/route";
import type { WorldSection } from "#graph/contract/feature";
import { type PlainSchema, returnedSchema, sentSchema } from "#graph/schema/public-schema";
import { hasIdentity } from "#graph/worlds/file/import-export";
import { ownSchemas } from "#graph/worlds/settings";
import { tokenEntry } from "#graph/worlds/tokens";
import { entryName, errorResponses, errorSchema, json, responsesOf, schemaRef } from "./responses.ts";

export function openapiOf(routes: readonly ControlRoute[], sections: readonly WorldSection[], serverUrl: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    // A path with an id exists only for sections whose entries have ids. Nodes of the kinds that are called records have no ids.
    const addressed = route.path.includes("{id}") ? sections.filter(hasIdentity) : sections;
    for (const section of route.path.includes("{key}") ? addressed : [undefined]) {
      const path = section === undefined ? route.path : route.path.replace("{key}", section.key);
      paths[path] ??= {};
      (paths[path] as Record<string, unknown>)[route.method.toLowerCase()] = operationOf(route, section, path);
    }
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Plaza control API",
      version: "1",
      contact: { name: "Plaza's developers" },
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      description: "Controls a running Plaza: its worlds, nodes, tokens and time. Times are Unix seconds.",
    },
    servers: [{ url: serverUrl }],
    security: [{ controlKey: [] }],
    tags: [...new Set(Object.keys(paths).map(tagOf))].map((name) => ({ name, description: `Routes of ${name}.` })),
    paths,
    components: {
      securitySchemes: { controlKey: { type: "http", scheme: "bearer", description: "The control key, or a key that was created with it." } },
      responses: errorResponses,
      schemas: { Error: errorSchema, world_file: worldFileSchema(sections), ...worldSchemas, ...entrySchemas(sections) },
    },
  };
}

/** Makes two schemas for each key of the world file: one for entries in responses, and one for entries in a world file. */
const entrySchemas = (sections: readonly WorldSection[]): Record<string, PlainSchema> =>
  Object.fromEntries(
    sections.flatMap(({ key, entry }) => [
      [key, returnedSchema(entry)],
      [entryName(key), sentSchema(entry)],
    ]),
  );

const orNull = (schema: PlainSchema): PlainSchema =>
  schema.type === "object" ? { ...schema, type: ["object", "null"] } : { anyOf: [schema, { type: "null" }] };

/** The schemas of the keys of a world file that describe the world itself. */
const worldSchemas: Record<string, PlainSchema> = Object.fromEntries(
  Object.entries(ownSchemas).map(([key, schema]) => [key, orNull(sentSchema(schema))]),
);

/** Makes the schema of a world file: the keys of the world itself, and a list of entries for each other key. */
function worldFileSchema(sections: readonly WorldSection[]): PlainSchema {
  const own = Object.keys(worldSchemas).map((key) => [key, schemaRef(key)]);
  const lists = sections.map(({ key }) => [key, listOrNull(schemaRef(entryName(key)))]);
  const $schema = { description: "the schema of the file for an editor; Plaza does not read it" };
  const properties = { $schema, ...Object.fromEntries([...own, ...lists]), tokens: listOrNull(sentSchema(tokenEntry)) };
  return { type: "object", properties, additionalProperties: false };
}

/** Makes the schema of a list. A list in a world file may be null, because YAML reads a key without a value as null. */
const listOrNull = (items: PlainSchema): PlainSchema => ({ type: ["array", "null"], items });

function operationOf(route: ControlRoute, section: WorldSection | undefined, path: string): Record<string, unknown> {
  const body = bodyOf(route, section);
  return {
    operationId: section === undefined ? route.operation : `${route.operation}_${section.key}`,
    summary: route.summary,
    description: route.summary,
    tags: [tagOf(path)],
    ...(route.needsNoKey === true ? { security: [] } : {}),
    parameters: [...pathParameters(path), ...queryParameters(route)],
    ...(body === undefined ? {} : { requestBody: { required: true, content: body } }),
    responses: responsesOf(route, section),
  };
}

/** Returns the group to which a path belongs: the segment after the world's name, or the first segment if the path has no world. */
function tagOf(path: string): string {
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== "v1" && !segment.startsWith("{"));
  return (segments[0] === "worlds" ? segments[1] : segments[0]) ?? "worlds";
}

const pathParameters = (path: string) =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
    ...(name === "w" ? { description: "the name of a world; `default` is the first" } : {}),
  }));

const queryParameters = ({ query }: ControlRoute) =>
  Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: "query",
    required: query?.required?.includes(name) === true,
    schema: sentSchema(schema),
  }));

/** The schemas of a request's body, by media type. */
type Content = Readonly<Record<string, { readonly schema: PlainSchema }>>;

/** The schema of a world file. A world file may be null, because YAML reads a file with only comments as null. */
const worldFile: PlainSchema = { anyOf: [schemaRef("world_file"), { type: "null" }] };

/** Describes the body of a request to a route; returns undefined if the request has no body. */
function bodyOf({ body, content = {}, method }: ControlRoute, section: WorldSection | undefined): Content | undefined {
  if (body === undefined) return undefined;
  if (body === "text") return { "application/yaml": { schema: worldFile }, ...json(worldFile) };
  if (body === "file" || body === "form")
    return Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema: sentSchema(schema) }]));
  if (body !== "entry") return json(sentSchema(body));
  const { key, entry, identity } = section as WorldSection;
  if (method === "PATCH") return json(withoutNeeds(sentSchema(entry), () => true));
  // In the body, the id of a node is not required, because a node without an id gets a new id.
  return json(identity === undefined ? withoutNeeds(sentSchema(entry), (name) => name === "id") : schemaRef(entryName(key)));
}

/** Makes the keys that `isFree` selects optional in a schema, because a request may leave these keys out. */
function withoutNeeds({ required = [], ...schema }: PlainSchema, isFree: (name: string) => boolean): PlainSchema {
  const needed = (required as string[]).filter((name) => !isFree(name));
  return needed.length === 0 ? schema : { ...schema, required: needed };
}
