/** `plaza schema world|config`: the JSON Schema by which an editor checks such a file, for those who have no folder of the package. */
import { configFileSchema } from "#config/config-file-schema";
import { settings } from "#features";
import { worldFileSchema } from "#graph/worlds/file/file-schema";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { buildRegistry } from "#main";

const schemas = {
  world: () => worldFileSchema(sectionsOf(buildRegistry())),
  config: () => configFileSchema(settings),
};

export type SchemaName = keyof typeof schemas;

export const schemaText = (name: SchemaName): string => `${JSON.stringify(schemas[name](), undefined, 1)}\n`;
