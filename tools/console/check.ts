/** Checks the types of the console, after making the types of the control API from its document. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../steps.ts";

const CONSOLE = join(ROOT, "console");
mkdirSync(join(CONSOLE, "generated"), { recursive: true });

function run(...command: string[]): void {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: CONSOLE });
  if (exitCode === 0) return;
  console.error(`${command.join(" ")} failed:\n${stdout}${stderr}`);
  process.exit(1);
}

run("node", "node_modules/openapi-typescript/bin/cli.js", "../docs/reference/control-openapi.json", "--output", "generated/control-api.d.ts");
run("node", join(ROOT, "node_modules/typescript-native/bin/tsc"), "--noEmit", "-p", ".");
