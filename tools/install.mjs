/**
 * `node tools/install.mjs running|all`: installs what is missing, before `npm start` and `npm test`. Plain JavaScript,
 * because it runs on Node before there is a Bun. Says nothing and takes some 10 ms when there is nothing to do.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build, hasBun } from "./build.mjs";

const root = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "..");
const wantsAll = process.argv[2] === "all";

const packagesIn = (file) => (existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")).packages ?? {}) : {});
const wanted = packagesIn(join(root, "package-lock.json"));
/** npm's own note of what it installed. */
const installed = packagesIn(join(root, "node_modules/.package-lock.json"));

/** Optional packages of other systems are never installed here, so only the others are looked for. */
const isMissing = ([path, { version, dev, optional }]) =>
  path !== "" && optional !== true && (wantsAll || dev !== true) && installed[path]?.version !== version;

if (Object.entries(wanted).some(isMissing)) {
  // Who has the tools for development keeps them when something that runs has changed.
  const hasTools = Object.values(installed).some(({ dev }) => dev === true);
  const which = wantsAll || hasTools ? "--include=dev" : "--omit=dev";
  console.error("Installing dependencies (npm ci) …");
  // No package's script runs, whatever npm thinks of it; the only one that is needed is run below.
  // stdout belongs to the program that is started afterwards: `npm start --silent -- --json` prints one line there.
  const { status } = spawnSync("npm", ["ci", which, "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: root, stdio: ["ignore", 2, 2] });
  if (status !== 0) {
    console.error("npm ci failed, see above");
    process.exit(1);
  }
}

/** The install script of Bun's package: it puts the program in its place. */
if (!hasBun()) {
  const { status } = spawnSync(process.execPath, ["install.js"], { cwd: join(root, "node_modules/bun"), stdio: ["ignore", 2, 2] });
  if (status !== 0) process.exit(1);
}
build();
