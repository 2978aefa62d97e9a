import { readFileSync } from "node:fs";
import type { Setting } from "#graph/contract/feature";
import { readYaml } from "#graph/worlds/file/yaml";
import { type Config, ConfigProblem } from "./config.ts";
import { environment } from "./option.ts";
import { optionsWith } from "./options.ts";
import { type ConfigFile, optionsOfFile, readConfig, type Values } from "./read-config.ts";
import { environmentWithSecrets } from "./secret-files.ts";

const CONFIG_FILE = "plaza.config.yaml";

/**
 * Reads the config file that `--config` or PLAZA_CONFIG names. If neither is set, the function reads the config file in the working folder, and
 * returns undefined if that file does not exist. Throws `ConfigProblem`.
 */
export async function findConfigFile({ config }: Values = {}): Promise<ConfigFile | undefined> {
  const named = config ?? (environment().PLAZA_CONFIG || undefined);
  const path = String(named ?? CONFIG_FILE);
  const text = readText(path, named === undefined);
  if (text === undefined) return undefined;
  const values = await readYaml(text).catch((error: Error) => {
    throw new ConfigProblem(path, error.message);
  });
  if (values === null || values === undefined) return undefined;
  if (typeof values !== "object" || Array.isArray(values)) throw new ConfigProblem(path, "must contain a map of options");
  return { path, values: values as Record<string, unknown> };
}

/**
 * Reads the options of a command that opens the data itself. The command has no flags for options but `--data` and `--config`. Throws `ConfigProblem`.
 */
export const readConfigOfCommand = async (given: Values, settings: readonly Setting[]): Promise<Config> =>
  readConfig(given.data === undefined ? {} : { data: given.data }, environmentWithSecrets(), await findConfigFile(given), settings);

function readText(path: string, mayBeMissing: boolean): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (mayBeMissing && (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new ConfigProblem("--config", `${path} cannot be read: ${(error as Error).message}`);
  }
}

/** The JSON Schema of a config file, in draft 7, because editors support this draft. */
export function configFileSchema(settings: readonly Setting[]): Record<string, unknown> {
  const options = optionsOfFile(optionsWith(settings));
  const schemas = options.map(({ name, read, default: otherwise, summary }) => {
    const shown = otherwise === undefined || typeof otherwise === "object" ? {} : { default: otherwise };
    return [name, { description: summary, ...read.schema, ...shown }] as const;
  });
  // A key in the config file may also be written with hyphens, like the flag of the same option.
  const likeFlags = schemas.filter(([name]) => name.includes("_")).map(([name, schema]) => [`^${name.replaceAll("_", "-")}$`, schema]);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Configuration of Plaza (plaza.config.yaml)",
    type: "object",
    properties: Object.fromEntries(schemas),
    patternProperties: Object.fromEntries(likeFlags),
    additionalProperties: false,
  };
}
