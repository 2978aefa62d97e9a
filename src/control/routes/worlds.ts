/** Worlds as a whole: listed, exported, imported. */
import { Type } from "typebox";
import { badRequest } from "#control-contract/errors";
import { listOf } from "#control-contract/lists";
import type { ControlRoute } from "#control-contract/route";
import { warnings, warningsOf } from "#control-contract/warnings";
import { exportWorld, importWorld, isEmpty } from "#graph/worlds/file/import-export";

const worldInList = Type.Object({
  name: Type.String(),
  profile: Type.Union([Type.Literal("strict"), Type.Literal("clients")]),
  empty: Type.Boolean({ description: "it holds neither nodes nor tokens" }),
});

export const worldRoutes: readonly ControlRoute[] = [
  {
    method: "GET",
    path: "/v1/worlds",
    operation: "listWorlds",
    summary: "Lists the worlds",
    response: listOf(worldInList),
    handle: async ({ deps }) => ({
      data: await Promise.all(
        [...deps.worlds.values()].map(async (world) => ({ name: world.name, profile: world.profile, empty: await isEmpty(world) })),
      ),
      paging: {},
    }),
  },
  {
    method: "POST",
    path: "/v1/worlds/{w}/import",
    operation: "importWorld",
    summary:
      "Loads a world file, YAML or JSON, whole or not at all. An entry whose id is there already replaces what is stored; records without an id (activity, followers) add up",
    body: "text",
    response: Type.Object({ success: Type.Boolean(), warnings }),
    errors: [404, 413, 422],
    handle: async ({ deps, world, body }) => {
      if ((body as string).trim() === "") throw badRequest("the body is empty: send a world file");
      const options = { isMerge: true, parseYaml: deps.parseYaml, onStored: deps.onStored };
      return { success: true, ...warningsOf(await importWorld(world, deps.registry, body as string, options)) };
    },
  },
  {
    method: "GET",
    path: "/v1/worlds/{w}/export",
    operation: "exportWorld",
    summary:
      "The world's state in the form of a world file. It holds the apps' secrets, and the SHA-256 of each token, so that importing it restores both",
    response: Type.Object({}, { additionalProperties: true }),
    errors: [404],
    handle: ({ deps, world }) => exportWorld(world, deps.registry),
  },
];
