/** Installs the packages of a folder as its lock file says, where some are missing. Plain JavaScript, because it runs on Node. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const packagesIn = (file) => (existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")).packages ?? {}) : {});

/** False where npm failed, which has said why. */
export function installPackages(folder, wantsAll, what) {
  const wanted = packagesIn(join(folder, "package-lock.json"));
  /** npm's list of the packages that it has installed. */
  const installed = packagesIn(join(folder, "node_modules/.package-lock.json"));
  /** Optional packages of other systems are never installed here, so only the others are looked for. */
  const isMissing = ([path, { version, dev, optional }]) =>
    path !== "" && optional !== true && (wantsAll || dev !== true) && installed[path]?.version !== version;
  if (!Object.entries(wanted).some(isMissing)) return true;
  // If the tools for development are installed, they stay installed when a dependency changes.
  const hasTools = Object.values(installed).some(({ dev }) => dev === true);
  const which = wantsAll || hasTools ? "--include=dev" : "--omit=dev";
  console.error(`Installing ${what} (npm ci) …`);
  // No package's script runs, whatever npm thinks of it; the only one that is needed, Bun's, is run by the caller.
  // stdout belongs to the program that is started afterwards: `npm start --silent -- --json` prints one line there.
  const { status } = spawnSync("npm", ["ci", which, "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder, stdio: ["ignore", 2, 2] });
  return status === 0;
}
