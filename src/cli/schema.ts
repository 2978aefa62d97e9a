/** `plaza schema world|config`: the JSON Schema by which an editor checks such a file, for those who have no folder of the package. */
import { configFileSchema } from "#config/config-file-schema";
import { settings } from "#features";
import { worldFileSchema } from "#graph/worlds/file/file-schema";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { buildRegistry } from "#main";

const WRONG_USE = 2;

const schemas: Readonly<Record<string, () => unknown>> = {
  world: () => worldFileSchema(sectionsOf(buildRegistry())),
  config: () => configFileSchema(settings),
};

/** Returns the exit code. */
export function printSchema(file: string): number {
  const schema = Object.hasOwn(schemas, file) ? schemas[file] : undefined;
  if (schema === undefined) {
    process.stderr.write(`plaza: there is no schema of ${file}; choose ${Object.keys(schemas).join(" or ")}\n`);
    return WRONG_USE;
  }
  process.stdout.write(`${JSON.stringify(schema(), undefined, 1)}\n`);
  return 0;
}
