/** Finds the program of Plaza that is installed with this test kit, and the Bun that Plaza runs on. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findBun } from "#bin/find-bun";

/** The root folder of the package or of the source tree, which in both cases is two folders above this file. */
const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** Whether the root folder is a source tree. In a source tree the kit runs Plaza from its sources. */
const hasSources = existsSync(join(root, "src/cli/plaza.ts"));

/** A command that runs Plaza, and the folder in which to run the command. */
export function plazaProgram(): { readonly program: string; readonly args: readonly string[]; readonly folder: string } {
  const bun = findBun(createRequire(join(root, "package.json")));
  if (bun === undefined)
    throw new Error(`there is no Bun for ${process.platform} ${process.arch}: install plaza-graph again, with its optional dependencies`);
  return { program: bun, args: [join(root, hasSources ? "src/cli/plaza.ts" : "dist/plaza.js")], folder: root };
}

/** The path of a module that starts a server in this process. */
export const serverModule = (): string => join(root, hasSources ? "src/cli/test-server.ts" : "dist/test-server.js");

/** Returns whether the tests run on the version of Bun that Plaza was made for. */
export function isOwnBun(): boolean {
  const running = process.versions.bun;
  if (running === undefined) return false;
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { dependencies: { bun: string } };
  const minor = (version: string): string => version.split(".").slice(0, 2).join(".");
  return minor(running) === minor(dependencies.bun);
}
