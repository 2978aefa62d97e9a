/**
 * Writes `clients/testing/generated/control-api.ts`: the types of the test kit, which openapi-typescript makes from the OpenAPI document of the
 * control API.
 */
import { openapiOf } from "#control/openapi/document";
import { controlRoutes } from "#control/routes";
import type { Registry } from "#graph/contract/registry";
import { sectionsOf } from "#graph/worlds/file/import-export";

/**
 * Returns the text of the file with the types. The control API's paths of nodes are left out, because the test kit takes the types of nodes
 * from the schemas.
 */
export async function controlTypes(registry: Registry): Promise<string> {
  const { default: openapiTS, astToString } = await import("openapi-typescript");
  const routes = controlRoutes(registry).filter(({ path }) => !path.includes("{key}"));
  const document = openapiOf(routes, sectionsOf(registry), "http://127.0.0.1:4001");
  // A request may leave out keys that have a default.
  const types = await openapiTS(JSON.stringify(document), { immutable: true, defaultNonNullable: false });
  return `/** Written by \`tools/build.mjs\` from the routes of the control API; changes by hand are lost. */\n${astToString(types)}`;
}
