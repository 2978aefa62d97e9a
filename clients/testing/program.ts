/** Plaza's own program, as it is installed beside this kit, and the Bun that it runs on. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findBun } from "#bin/find-bun";

/** Two folders above this file, in the sources as well as in the package. */
const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** In the source tree, the sources are used. */
const hasSources = existsSync(join(root, "src/cli/plaza.ts"));

/** A command that runs Plaza, without the command line of the project that the tests belong to. */
export function plazaProgram(): { readonly program: string; readonly args: readonly string[]; readonly folder: string } {
  const bun = findBun(createRequire(join(root, "package.json")));
  if (bun === undefined)
    throw new Error(`there is no Bun for ${process.platform} ${process.arch}: install plaza-graph again, with its optional dependencies`);
  return { program: bun, args: [join(root, hasSources ? "src/cli/plaza.ts" : "dist/plaza.js")], folder: root };
}

/** A module that starts a server in this process. */
export const serverModule = (): string => join(root, hasSources ? "src/cli/test-server.ts" : "dist/test-server.js");

/** Whether the runtime of the tests is the one that Plaza was made for. */
export function isOwnBun(): boolean {
  const running = process.versions.bun;
  if (running === undefined) return false;
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { dependencies: { bun: string } };
  const minor = (version: string): string => version.split(".").slice(0, 2).join(".");
  return minor(running) === minor(dependencies.bun);
}
