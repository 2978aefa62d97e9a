/** Installs the packages of a folder by its lock file if some are missing. The program is plain JavaScript, because it runs on Node. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const packagesIn = (file) => (existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")).packages ?? {}) : {});

/** Installs the packages of a folder. Returns false if npm failed; npm has printed the reason then. */
export function installPackages(folder, wantsAll, what) {
  const wanted = packagesIn(join(folder, "package-lock.json"));
  /** npm's own list of the packages that it has installed. */
  const installed = packagesIn(join(folder, "node_modules/.package-lock.json"));
  /** Whether a package is missing. Optional packages are left out, because those of other systems are never installed here. */
  const isMissing = ([path, { version, dev, optional }]) =>
    path !== "" && optional !== true && (wantsAll || dev !== true) && installed[path]?.version !== version;
  if (!Object.entries(wanted).some(isMissing)) return true;
  // Tools for development that are installed stay installed when a dependency changes.
  const hasTools = Object.values(installed).some(({ dev }) => dev === true);
  const which = wantsAll || hasTools ? "--include=dev" : "--omit=dev";
  console.error(`Installing ${what} (npm ci) …`);
  // No package's script runs, whatever npm's settings say. Bun's script is the only one that is needed, and the caller runs it.
  // stdout belongs to the program that is started afterwards: `npm start --silent -- --json` prints one line there.
  const { status } = spawnSync("npm", ["ci", which, "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder, stdio: ["ignore", 2, 2] });
  return status === 0;
}
