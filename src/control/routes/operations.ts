/** The route that lists the operations of the graph with their parameters, for forms and for tools that make requests. */
import { type Static, Type } from "typebox";
import { schemes } from "#auth/schemes";
import { listOf } from "#control-contract/lists";
import { type ControlRequest, type ControlRoute, route } from "#control-contract/route";
import type { OpenapiOptions } from "#graph/contract/openapi/addresses";
import type { Endpoint } from "#graph/contract/registry";
import { findNode } from "#graph/worlds/nodes.store";
import { unixSeconds } from "#kernel/clock";
import { isNodeId } from "#kernel/ids";
import { withoutCitations } from "#kernel/text";

const parameter = Type.Object({
  name: Type.String(),
  in: Type.Unsafe<string>({ enum: ["query", "body"] }),
  required: Type.Boolean(),
  schema: Type.Object({}, { additionalProperties: true, description: "JSON Schema" }),
});

const operation = Type.Object({
  operation: Type.String({ description: "e.g. createPersona" }),
  summary: Type.String(),
  node_type: Type.Optional(Type.String({ description: "the node type of the id in the address; left out if the address has no id" })),
  method: Type.String(),
  surface: Type.String(),
  path: Type.String({ description: "the path below the address of the surface, with `{version}` and `{id}`" }),
  versions: Type.Array(Type.String(), { description: "the versions that serve the operation now, the oldest first" }),
  token_places: Type.Array(Type.String(), {
    description:
      "how a request may send its token: access_token or oauth_token (parameters of the query), bearer (the header Authorization), body (access_token in the body), or client (client_id and client_secret)",
  }),
  all_places: Type.Boolean({ description: "whether a request must send the token in all of the listed places, not only in one" }),
  kinds: Type.Array(Type.String(), { description: "the token types that may call the operation" }),
  scopes: Type.Array(Type.String()),
  policy: Type.String(),
  parameters: Type.Array(parameter),
  is_discouraged: Type.Boolean({ description: "whether only existing integrations should use the operation" }),
  takes_fields: Type.Boolean({ description: "whether the parameter `fields` selects fields of the response" }),
  is_list: Type.Boolean({ description: "whether the response is a list with pages, which have the parameters limit, before and after" }),
});

const operationQuery = Type.Object({
  node: Type.Optional(Type.String({ description: "only the operations of the node with this id" })),
});

async function listOperations({ deps: { registry }, world, query }: ControlRequest<Static<typeof operationQuery>>): Promise<unknown> {
  const node = query.node === undefined || !isNodeId(query.node) ? undefined : await findNode(world.database.reader, query.node);
  // The modules for the list of operations are loaded at the first request, so that the server starts faster.
  const { servedAddresses, versionsOf } = await import("#graph/contract/openapi/addresses");
  const { paramsIn, takesFields } = await import("#graph/contract/openapi/parameters");
  const { requestSchema, withoutShapes } = await import("#graph/schema/public-schema");
  const { profile, calendar } = world;
  const none = { base: "", app: "", microblog: "", ads: "", social_login: "" };
  const options: OpenapiOptions = { profile, calendar, now: unixSeconds(world.clock), addresses: none };
  const where = registry.servedIn(world, options.now);
  const first = new Map<Endpoint, { readonly path: string; readonly surface: string }>();
  // The list of addresses is reversed, so that an address with a version comes before the same address without a version.
  for (const { path, surfaces, endpoints } of servedAddresses(registry, options).reverse())
    for (const endpoint of endpoints) if (!first.has(endpoint)) first.set(endpoint, { path, surface: [...surfaces][0] ?? "base" });
  const wanted = [...first].filter(([{ nodeType }]) => query.node === undefined || (node !== undefined && nodeType === node.type));
  const data = wanted.map(([endpoint, { path, surface }]) => {
    const { access, served, nodeType } = endpoint;
    const { places, need } = schemes[access.scheme];
    const parameters = (["query", "body"] as const).flatMap((place) =>
      paramsIn(place, endpoint).map(({ name, schema, isRequired }) => ({
        ...{ name, in: place, required: isRequired, schema: withoutShapes(requestSchema(schema, where)) },
      })),
    );
    return {
      operation: access.operation,
      summary: withoutCitations(served?.contract.summary ?? `Reads a ${nodeType}: its declared fields.`),
      ...(nodeType === undefined ? {} : { node_type: nodeType }),
      ...{ method: served?.contract.method ?? "GET", surface, path, versions: versionsOf([endpoint], options) },
      ...{ token_places: [...places], all_places: need === "all" },
      ...{ kinds: access.policy.kinds, scopes: access.policy.scopes, policy: access.policy.summary },
      ...{
        parameters,
        is_discouraged: access.headers?.deprecation !== undefined,
        takes_fields: takesFields(endpoint),
        is_list: served?.contract.kind === "list",
      },
    };
  });
  return { data: data.sort((a, b) => (a.operation < b.operation ? -1 : 1)), paging: {} };
}

export const operationRoutes: readonly ControlRoute[] = [
  route("GET /v1/worlds/{w}/operations", "listOperations", {
    summary:
      "Lists the operations of the graph: the address, the parameters with their schemas, the places of tokens, and the tokens that may call each operation",
    query: operationQuery,
    response: listOf(operation),
    handle: listOperations,
  }),
];
