/** OpenAPI 3.1 of the control API, made from its routes. Nodes have a path for each key of the world file. */
import type { ControlRoute } from "#control-contract/route";
import type { WorldSection } from "#graph/contract/feature";
import { type PlainSchema, returnedSchema, sentSchema } from "#graph/schema/public-schema";
import { hasIdentity } from "#graph/worlds/file/import-export";
import { ownSchemas } from "#graph/worlds/settings";
import { tokenEntry } from "#graph/worlds/tokens";
import { bodyOf } from "./bodies.ts";
import { entryName, schemaRef } from "./names.ts";
import { errorResponses, errorSchema, responsesOf } from "./responses.ts";

export function openapiOf(routes: readonly ControlRoute[], sections: readonly WorldSection[], serverUrl: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    // Records have no id to address one by.
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
      description: "Steers a running Plaza: its worlds, nodes, tokens and time. Times are Unix seconds.",
    },
    servers: [{ url: serverUrl }],
    security: [{ controlKey: [] }],
    tags: [...new Set(Object.keys(paths).map(tagOf))].map((name) => ({ name, description: `Routes of ${name}.` })),
    paths,
    components: {
      securitySchemes: { controlKey: { type: "http", scheme: "bearer", description: "The control key, or one that was made with it." } },
      responses: errorResponses,
      schemas: { Error: errorSchema, world_file: worldFileSchema(sections), ...worldSchemas, ...entrySchemas(sections) },
    },
  };
}

/** Of each kind of node, as it is returned, and as a world file has it. */
const entrySchemas = (sections: readonly WorldSection[]): Record<string, PlainSchema> =>
  Object.fromEntries(
    sections.flatMap(({ key, entry }) => [
      [key, returnedSchema(entry)],
      [entryName(key), sentSchema(entry)],
    ]),
  );

const orNull = (schema: PlainSchema): PlainSchema =>
  schema.type === "object" ? { ...schema, type: ["object", "null"] } : { anyOf: [schema, { type: "null" }] };

/** The keys of a world file that are about the world itself. */
const worldSchemas: Record<string, PlainSchema> = Object.fromEntries(
  Object.entries(ownSchemas).map(([key, schema]) => [key, orNull(sentSchema(schema))]),
);

/** What an import reads: the world's own keys, and a list for each kind of entry. */
function worldFileSchema(sections: readonly WorldSection[]): PlainSchema {
  const own = Object.keys(worldSchemas).map((key) => [key, schemaRef(key)]);
  const lists = sections.map(({ key }) => [key, listOrNull(schemaRef(entryName(key)))]);
  const $schema = { description: "where an editor finds the schema of the file; Plaza does not read it" };
  const properties = { $schema, ...Object.fromEntries([...own, ...lists]), tokens: listOrNull(sentSchema(tokenEntry)) };
  return { type: "object", properties, additionalProperties: false };
}

/** A key with nothing after it is an empty list. */
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

/** What a path is about: the segment after the world's name, or the first one. */
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
    ...(name === "w" ? { description: "a world's name; `default` is the first" } : {}),
  }));

const queryParameters = ({ query }: ControlRoute) =>
  Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: "query",
    required: query?.required?.includes(name) === true,
    schema: sentSchema(schema),
  }));
