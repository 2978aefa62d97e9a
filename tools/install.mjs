/**
 * `node tools/install.mjs running|all`: installs the missing packages before `npm start` and `npm test`. The program is plain JavaScript, because it
 * runs on Node before Bun is installed. If nothing is missing, the program prints nothing and takes about 10 ms.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { build, hasBun } from "./build.mjs";
import { buildConsole } from "./console/build.mjs";
import { buildReference } from "./console/reference.mjs";
import { installPackages } from "./install/packages.mjs";

const root = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "..");
const wantsAll = process.argv[2] === "all";

if (!installPackages(root, wantsAll, "dependencies")) {
  console.error("npm ci failed, see above");
  process.exit(1);
}
// The server does not need the firehose's packages, but the firehose's checks and tests need them.
if (wantsAll && !installPackages(join(root, "clients/firehose"), true, "the firehose's packages")) {
  console.error("npm ci failed in clients/firehose, see above");
  process.exit(1);
}

/** Runs the install script of Bun's package, which puts the program in its place. */
if (!hasBun()) {
  const { status } = spawnSync(process.execPath, ["install.js"], { cwd: join(root, "node_modules/bun"), stdio: ["ignore", 2, 2] });
  if (status !== 0) process.exit(1);
}
build();
for (const [what, buildPage] of [
  ["console", () => buildConsole(wantsAll)],
  ["API reference", buildReference],
]) {
  try {
    buildPage();
  } catch (error) {
    // If the console or the reference was not built, the server still runs, and says at the page's address that the page is missing.
    console.error(`The ${what} was not built: ${error instanceof Error ? error.message : error}`);
  }
}
