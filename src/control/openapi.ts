/** OpenAPI 3.1 of the control API, made from its routes. Nodes have a path for each key of the world file. */
import { type TSchema, Type } from "typebox";
import { controlCodes } from "#control-contract/errors";
import { listOf } from "#control-contract/lists";
import type { ControlRoute } from "#control-contract/route";
import type { WorldSection } from "#graph/contract/feature";
import { publicSchema } from "#graph/schema/public-schema";
import { hasIdentity } from "#graph/worlds/file/import-export";
import { ownSchemas } from "#graph/worlds/settings";
import { tokenEntry } from "#graph/worlds/tokens";

const errorSchema = Type.Object({
  error: Type.Object({
    code: Type.Union(Object.keys(controlCodes).map((code) => Type.Literal(code))),
    message: Type.String(),
    parameter: Type.Optional(Type.String({ description: "the parameter, or the place in the body" })),
  }),
});

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: "a malformed body, parameter or entry",
  401: "no control key, or a wrong one",
  403: "the key may only read, or a sandbox was asked by a web page of another site or under a host name that it does not serve",
  404: "no such world, node, token or kind of node",
  409: "the id or token is taken",
  413: "the body is larger than allowed",
  422: "well formed, but refused: a reference to a node that does not exist, a world file that cannot be loaded, an expectation that was not met",
};

const json = (schema: unknown) => ({ content: { "application/json": { schema } } });
const entryRef = (key: string) => ({ $ref: `#/components/schemas/${key}` });

export function openapiOf(routes: readonly ControlRoute[], sections: readonly WorldSection[], serverUrl: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    // Records have no id to address one by.
    const addressed = route.path.includes("{id}") ? sections.filter(hasIdentity) : sections;
    const keys = route.path.includes("{key}") ? addressed.map(({ key }) => key) : [undefined];
    for (const key of keys) {
      const path = key === undefined ? route.path : route.path.replace("{key}", key);
      paths[path] ??= {};
      (paths[path] as Record<string, unknown>)[route.method.toLowerCase()] = operationOf(route, key, path);
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
      securitySchemes: { controlKey: { type: "http", scheme: "bearer" } },
      schemas: {
        Error: errorSchema,
        world_file: worldFileSchema(sections),
        ...Object.fromEntries(Object.entries(ownSchemas).map(([key, schema]) => [key, publicSchema(schema)])),
        ...Object.fromEntries(sections.map((section) => [section.key, publicSchema(section.entry)])),
      },
    },
  };
}

/** What an import reads: the world's own keys, and a list for each kind of entry. */
function worldFileSchema(sections: readonly WorldSection[]): unknown {
  const own = Object.keys(ownSchemas).map((key) => [key, entryRef(key)]);
  const lists = sections.map(({ key }) => [key, { type: "array", items: entryRef(key) }]);
  const tokens = { type: "array", items: publicSchema(tokenEntry) };
  return { type: "object", properties: { ...Object.fromEntries([...own, ...lists]), tokens }, additionalProperties: false };
}

function operationOf(route: ControlRoute, key: string | undefined, path: string): Record<string, unknown> {
  const streams = Object.fromEntries((route.streams ?? []).map((type) => [type, { schema: { type: "string" } }]));
  const { content } = json(responseOf(route, key));
  const responses: Record<string, unknown> = { [route.status ?? 200]: { description: "done", content: { ...content, ...streams } } };
  for (const status of [400, 401, 403, ...(route.errors ?? [])]) {
    responses[status] = { description: DESCRIPTIONS[status], ...json({ $ref: "#/components/schemas/Error" }) };
  }
  const body = bodyOf(route, key);
  return {
    operationId: key === undefined ? route.operation : `${route.operation}_${key}`,
    summary: route.summary,
    description: route.summary,
    tags: [tagOf(path)],
    parameters: [...pathParameters(path), ...queryParameters(route)],
    ...(body === undefined ? {} : { requestBody: { required: true, ...body } }),
    responses,
  };
}

/** What a path is about: the segment after the world's name, or the first one. */
function tagOf(path: string): string {
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== "v1" && !segment.startsWith("{"));
  return (segments[0] === "worlds" ? segments[1] : segments[0]) ?? "worlds";
}

function responseOf({ response }: ControlRoute, key: string | undefined): unknown {
  if (response === "entry") return entryRef(key as string);
  if (response === "entries") return listOf(entryRef(key as string) as unknown as TSchema);
  return publicSchema(response);
}

function bodyOf({ body, method }: ControlRoute, key: string | undefined): unknown {
  if (body === undefined) return undefined;
  if (body === "text") return { content: { "application/yaml": { schema: entryRef("world_file") }, ...json(entryRef("world_file")).content } };
  if (body === "file") return { content: fileContent };
  if (body !== "entry") return json(publicSchema(body));
  // A change names only what changes, and null takes a key back.
  return json(method === "PATCH" ? { type: "object", description: `keys of ${key}` } : entryRef(key as string));
}

const anyBytes = { schema: { type: "string", format: "binary" } };

/** A file as the body, in a form, or where it can be fetched. */
const fileContent = {
  "application/octet-stream": anyBytes,
  "multipart/form-data": { schema: { type: "object", properties: { file: anyBytes.schema }, required: ["file"] } },
  ...json({ type: "object", properties: { url: { type: "string", format: "uri" }, format: { type: "string" } }, required: ["url"] }).content,
};

const pathParameters = (path: string) =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
    ...(name === "w" ? { description: "a world's name; `default` is the first" } : {}),
  }));

const queryParameters = ({ query }: ControlRoute) =>
  Object.entries((query?.properties ?? {}) as Record<string, TSchema>).map(([name, schema]) => ({
    name,
    in: "query",
    required: query?.required?.includes(name) === true,
    schema: publicSchema(schema),
  }));
