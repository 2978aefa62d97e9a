/**
 * `node tools/console/build.mjs`: builds the console (`console/`) if a source file of the console has changed. Before it builds the console, the
 * program installs the console's packages, which have a lock file of their own because the server does not need these packages. The program is
 * plain JavaScript, because it runs on Node.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { installPackages } from "../install/packages.mjs";

const root = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");
export const consoleFolder = join(root, "console");
export const consolePack = join(consoleFolder, "dist/console.pack");

function isFresh() {
  if (!existsSync(consolePack)) return false;
  const builtMs = statSync(consolePack).mtimeMs;
  const sources = readdirSync(join(consoleFolder, "src"), { recursive: true }).map((name) => join("src", name));
  return ["src", "build.ts", "index.html", "icons.svg", "package-lock.json", ...sources].every(
    (path) => statSync(join(consoleFolder, path)).mtimeMs <= builtMs,
  );
}

/** Builds the console. If `wantsTools` is true, also installs the packages that only tests and checks need. Throws if the build fails. */
export function buildConsole(wantsTools = false) {
  if (!existsSync(consoleFolder) || (isFresh() && !wantsTools)) return;
  if (!installPackages(consoleFolder, wantsTools, "the console's packages")) throw new Error("npm ci failed, see above");
  if (isFresh()) return;
  const bun = join(root, "node_modules/bun/bin/bun.exe");
  const env = { ...process.env, NODE_ENV: "production" };
  const { status, stderr } = spawnSync(bun, [join(consoleFolder, "build.ts")], { cwd: consoleFolder, encoding: "utf8", env });
  if (status !== 0) throw new Error(stderr);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) buildConsole();
