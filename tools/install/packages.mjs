/** Installs the packages of a folder by its lock file if some are missing. The program is plain JavaScript, because it runs on Node. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const packagesIn = (file) => (existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")).packages ?? {}) : {});

/** Installs the packages of a folder. Returns false if npm failed; in this case npm has printed the reason. */
export function installPackages(folder, wantsAll, what) {
  const wanted = packagesIn(join(folder, "package-lock.json"));
  /** npm's own list of the packages that it has installed. */
  const installed = packagesIn(join(folder, "node_modules/.package-lock.json"));
  /**
   * Whether a package is missing. Optional packages are not checked, because optional packages for other systems are never installed on
   * this machine.
   */
  const isMissing = ([path, { version, dev, optional }]) =>
    path !== "" && optional !== true && (wantsAll || dev !== true) && installed[path]?.version !== version;
  if (!Object.entries(wanted).some(isMissing)) return true;
  // If the packages for development are installed, they are installed again when a dependency changes, because `npm ci` deletes all
  // packages.
  const hasTools = Object.values(installed).some(({ dev }) => dev === true);
  const which = wantsAll || hasTools ? "--include=dev" : "--omit=dev";
  console.error(`Installing ${what} (npm ci) …`);
  // npm runs no install script of a package, whatever npm's settings say. Only Bun's install script is needed, and the caller runs it.
  // npm's output goes to stderr, because `npm start --silent -- --json` must print only the server's one line on stdout.
  const { status } = spawnSync("npm", ["ci", which, "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder, stdio: ["ignore", 2, 2] });
  return status === 0;
}
