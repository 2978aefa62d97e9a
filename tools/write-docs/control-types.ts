/** `clients/testing/generated/control-api.ts`: the types of the test kit, which openapi-typescript makes from the document of the control API. */
import { openapiOf } from "#control/openapi/document";
import { controlRoutes } from "#control/routes";
import type { Registry } from "#graph/contract/registry";
import { sectionsOf } from "#graph/worlds/file/import-export";

/** Without the paths of nodes, whose types the kit takes from the schemas. */
export async function controlTypes(registry: Registry): Promise<string> {
  const { default: openapiTS, astToString } = await import("openapi-typescript");
  const routes = controlRoutes(registry).filter(({ path }) => !path.includes("{key}"));
  const document = openapiOf(routes, sectionsOf(registry), "http://127.0.0.1:4001");
  // Keys with a default may be left out of a request.
  const types = await openapiTS(JSON.stringify(document), { immutable: true, defaultNonNullable: false });
  return `/** Written by \`tools/build.mjs\` from the routes of the control API; changes by hand are lost. */\n${astToString(types)}`;
}
