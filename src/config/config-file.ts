import { existsSync, readFileSync } from "node:fs";
import { ConfigProblem } from "./config.ts";
import type { ConfigFile } from "./read-config.ts";

const CONFIG_FILE = "plaza.config.yaml";

/** The config file of the working folder; undefined when there is none. Throws `ConfigProblem`. */
export async function findConfigFile(): Promise<ConfigFile | undefined> {
  if (!existsSync(CONFIG_FILE)) return undefined;
  // Loaded only if there is a file: the YAML parser costs 17 ms of a start.
  const { parse } = await import("yaml");
  let values: unknown;
  try {
    values = parse(readFileSync(CONFIG_FILE, "utf8"));
  } catch (error) {
    throw new ConfigProblem(CONFIG_FILE, (error instanceof Error ? error.message : String(error)).split("\n", 1)[0] ?? "");
  }
  if (values === null || values === undefined) return undefined;
  if (typeof values !== "object" || Array.isArray(values)) throw new ConfigProblem(CONFIG_FILE, "must hold a map of options");
  return { path: CONFIG_FILE, values: values as Record<string, unknown> };
}
