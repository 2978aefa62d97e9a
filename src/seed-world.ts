/** Fills a new world from the file of the option `--world`, or with the demo world. */
import { readFileSync } from "node:fs";
import { type Config, ConfigProblem } from "#config/config";
// The demo world is imported as text, so that the bundle and the executable contain it. The tokens and secrets of the demo world are public, so only
// a sandbox loads this world.
import demoWorld from "#demo-world.yaml" with { type: "text" };
import type { WorldSection } from "#graph/contract/feature";
import type { Registry } from "#graph/contract/registry";
import { importWorld, isEmpty, sectionsOf } from "#graph/worlds/file/import-export";
import { readYaml } from "#graph/worlds/file/yaml";
import type { OpenWorld } from "#graph/worlds/open-world";
import { CallbackRefused } from "#outbound/address-rules";
import type { Log } from "#telemetry/log";
import { webhookObjects } from "#webhooks/catalogue/field";
import { requireExportPlace } from "./export-at-end.ts";

export interface Demo {
  readonly page: string;
  readonly page_token: string;
  /** The secret of the demo world's app. */
  readonly secret: string;
  readonly tokens: readonly { readonly token: string; readonly type: string }[];
}

export interface Beginning {
  /** The page, tokens and secret of the demo world; undefined if the tokens do not work. */
  readonly demo: Demo | undefined;
  /** The text of the file of `--world`; undefined if the option is not set. */
  readonly file: string | undefined;
}

/** Fills the first world if it is empty, or if `--world` is given. Returns the demo world's tokens and the text of the file of `--world`. */
export async function beginWorld(world: OpenWorld, registry: Registry, config: Config, log: Log): Promise<Beginning> {
  await requireExportPlace(config);
  const hasNothing = await isEmpty(world);
  if (config.world !== undefined && !hasNothing && !config.import)
    throw new ConfigProblem("--world", `the data in ${config.data} is not empty; add --import to merge ${config.world} into it`);
  const isFilled = hasNothing || config.world !== undefined;
  const { file, warnings } = isFilled ? await fillWorld(world, registry, config) : noFile;
  if (!isFilled) await sendWebhooks(world, registry, config);
  for (const warning of warnings) log.warn({ world: config.world }, warning);
  return { demo: config.sandbox && !config.json ? await findDemo(world) : undefined, file };
}

interface Filled {
  /** The text of the file of `--world`; undefined if the option is not set. */
  readonly file: string | undefined;
  readonly warnings: readonly string[];
}

const noFile: Filled = { file: undefined, warnings: [] };

/** Fills the world from the file of `--world`. Without a file, a sandbox gets the demo world, and any other world stays empty. */
export async function fillWorld(world: OpenWorld, registry: Registry, config: Config): Promise<Filled> {
  const file = config.world === undefined ? undefined : readWorldFile(config.world);
  let warnings: readonly string[] = [];
  if (file !== undefined) warnings = await importWorld(world, registry, file, { isMerge: config.import, mayHold: true });
  else if (config.sandbox) await importWorld(world, registry, demoWorld, { isMerge: false });
  await sendWebhooks(world, registry, config);
  return { file, warnings };
}

/** Subscribes the address of `--callback` to the webhooks, as `plaza listen` does while that command runs. */
async function sendWebhooks(world: OpenWorld, registry: Registry, { callback: url }: Config): Promise<void> {
  if (url === undefined) return;
  requireCallable(world, url);
  const apps = sectionsOf(registry).find(({ key }) => key === "apps") as WorldSection;
  const all = webhookObjects.map((object) => ({ object, fields: registry.webhookFields.namesOf(object) }));
  await world.database.write(async (tx) => {
    const { rows } = await apps.list(tx, { limit: 2 }, world);
    const [app] = rows;
    if (app === undefined || rows.length > 1)
      throw new ConfigProblem("--callback", `the world has ${app === undefined ? "no app" : "several apps"}: write callbacks into the world file`);
    const subscriptions = app.subscriptions as readonly unknown[];
    await apps.replace(tx, { ...app, callback: { url, verified: true }, subscriptions: subscriptions.length === 0 ? all : subscriptions }, world);
  });
}

/** Checks the URL of `--callback`. The server checks the addresses of the URL's host name when it sends a webhook. */
function requireCallable({ outbound }: OpenWorld, url: string): void {
  try {
    outbound.check(url);
  } catch (error) {
    if (error instanceof CallbackRefused) throw new ConfigProblem("--callback", error.reason);
    throw error;
  }
}

function readWorldFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigProblem("--world", `${file} cannot be read: ${(error as Error).message}`);
  }
}

/** Returns the token values of the demo world, which are public. */
export async function demoTokenValues(): Promise<readonly string[]> {
  const { tokens } = (await readYaml(demoWorld)) as { tokens: { token: string }[] };
  return tokens.map(({ token }) => token);
}

/** Finds the valid tokens of the demo world. After a restart or an import, the first world can contain the demo world's tokens too. */
async function findDemo(world: OpenWorld): Promise<Demo | undefined> {
  const file = (await readYaml(demoWorld)) as { apps: [{ secret: string }]; tokens: { token: string; type: string; page?: string }[] };
  const tokens: Demo["tokens"][number][] = [];
  for (const { token, type } of file.tokens) if ((await world.tokens.find(token))?.revoked_at === 0) tokens.push({ token, type });
  const page = file.tokens.find(({ type }) => type === "page");
  if (page?.page === undefined || !tokens.some(({ token }) => token === page.token)) return undefined;
  return { page: page.page, page_token: page.token, secret: file.apps[0].secret, tokens };
}
