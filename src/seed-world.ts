/** Fills a new world with the file of `--world`, or with the demo world. */
import { readFileSync } from "node:fs";
import { type Config, ConfigProblem } from "#config/config";
// As text, so that the bundle and the executable hold it. Its values are public, so only a sandbox loads it.
import demoWorld from "#demo-world.yaml" with { type: "text" };
import type { Registry } from "#graph/contract/registry";
import { importWorld, isEmpty } from "#graph/worlds/file/import-export";
import type { ParseYaml } from "#graph/worlds/file/text";
import type { OpenWorld } from "#graph/worlds/open-world";

export interface Demo {
  readonly page: string;
  readonly page_token: string;
  readonly tokens: readonly { readonly token: string; readonly type: string }[];
}

export interface Beginning {
  /** The part of the demo world that works. */
  readonly demo: Demo | undefined;
  /** About the file of `--world`. */
  readonly warnings: readonly string[];
}

/** Fills an empty world. */
export async function beginWorld(world: OpenWorld, registry: Registry, config: Config, parseYaml: ParseYaml): Promise<Beginning> {
  const { world: file } = config;
  const hasNothing = await isEmpty(world);
  if (file !== undefined && !hasNothing && !config.import)
    throw new ConfigProblem("--world", `the data in ${config.data} is not empty; add --import to merge ${file} into it`);
  const warnings = hasNothing || file !== undefined ? await fillWorld(world, registry, config, parseYaml) : [];
  return { demo: config.sandbox && !config.json ? await findDemo(world, parseYaml) : undefined, warnings };
}

/** With the file of `--world`, or with the demo world; a world that is no sandbox stays empty. Returns warnings about the file. */
export async function fillWorld(world: OpenWorld, registry: Registry, config: Config, parseYaml: ParseYaml): Promise<readonly string[]> {
  const { world: file } = config;
  if (file !== undefined) return importWorld(world, registry, readWorldFile(file), { isMerge: config.import, parseYaml });
  if (config.sandbox) await importWorld(world, registry, demoWorld, { isMerge: false, parseYaml });
  return [];
}

function readWorldFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigProblem("--world", `${file} cannot be read: ${(error as Error).message}`);
  }
}

/** The live tokens of the demo world, also after a restart or an import. */
async function findDemo(world: OpenWorld, parseYaml: ParseYaml): Promise<Demo | undefined> {
  const file = parseYaml(demoWorld) as { tokens: { token: string; type: string; page?: string }[] };
  const tokens: Demo["tokens"][number][] = [];
  for (const { token, type } of file.tokens) if ((await world.tokens.find(token))?.revoked_at === 0) tokens.push({ token, type });
  const page = file.tokens.find(({ type }) => type === "page");
  if (page?.page === undefined || !tokens.some(({ token }) => token === page.token)) return undefined;
  return { page: page.page, page_token: page.token, tokens };
}
