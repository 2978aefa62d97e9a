/** The console's own check: types of the control API, made anew from its document, and then the types of the console. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openapiOf } from "#control/openapi/document";
import { controlRoutes } from "#control/routes";
import { features } from "#features";
import { Registry } from "#graph/contract/registry";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { ROOT } from "../steps.ts";

const CONSOLE = join(ROOT, "console");
const GENERATED = join(CONSOLE, "generated");

const registry = new Registry(features);
mkdirSync(GENERATED, { recursive: true });
writeFileSync(join(GENERATED, "control-api.json"), JSON.stringify(openapiOf(controlRoutes(registry), sectionsOf(registry), "http://127.0.0.1:4001")));

function run(...command: string[]): void {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: CONSOLE });
  if (exitCode === 0) return;
  console.error(`${command.join(" ")} failed:\n${stdout}${stderr}`);
  process.exit(1);
}

run("node", "node_modules/openapi-typescript/bin/cli.js", "generated/control-api.json", "--output", "generated/control-api.d.ts");
run("node", join(ROOT, "node_modules/typescript-native/bin/tsc"), "--noEmit", "-p", ".");
