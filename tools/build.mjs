/**
 * `node tools/build.mjs`: writes the documents and types that are made from the contracts, and bundles the sources into `build/`. From `build/`,
 * `bin/plaza` starts in half the time, as long as no source is newer. `npm ci` runs this program; `npm start` and `npm test` run it if the sources
 * have changed. The program is plain JavaScript, because it runs on Node.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "..");
const bun = join(root, "node_modules/bun/bin/bun.exe");
const built = join(root, "build");
const entry = join(built, "plaza.js");
/** The paths of the generated files, in the order in which they were written. */
const generatedList = join(built, "generated.json");
/** The time for which the parts of earlier builds are kept: a program that was started from an earlier build may still load them. */
const KEPT_MS = 7 * 24 * 3_600_000;

/**
 * Whether Bun is installed. Bun's package puts the binary in place with an install script: the placeholder has a few hundred bytes, the binary 100
 * MB.
 */
export const hasBun = () => existsSync(bun) && statSync(bun).size > 1_000_000;

/**
 * The time at which a file, or anything below a folder, was last changed. The time of each is read once, because reading `src` takes longer than all
 * other work.
 */
const changes = new Map();
function changedMs(name) {
  if (!changes.has(name)) {
    const path = join(root, name);
    const below = statSync(path).isDirectory() ? readdirSync(path, { recursive: true }).map((one) => join(path, one)) : [];
    changes.set(
      name,
      [path, ...below].reduce((latest, one) => Math.max(latest, statSync(one).mtimeMs), 0),
    );
  }
  return changes.get(name);
}

const isNewerThan = (file, names) => existsSync(file) && names.every((name) => changedMs(name) <= statSync(file).mtimeMs);

/**
 * Whether the bundle is newer than its sources; `bin/plaza` decides in the same way. The program contains the conformance suite and texts of `spec/`.
 */
const isBundled = () => isNewerThan(entry, ["src", "clients/testing", "workbench", "conformance", "spec", "package-lock.json"]);

const CONTROL_TYPES = "clients/testing/generated/control-api.ts";
/** Whether to make the types of the control API. An installation that only runs the server does not have the package for it. */
const makesControlTypes = () => existsSync(join(root, "node_modules/openapi-typescript"));

const isGenerated = () =>
  (!makesControlTypes() || existsSync(join(root, CONTROL_TYPES))) &&
  isNewerThan(generatedList, ["src", "tools/write-docs", "package-lock.json"]) &&
  JSON.parse(readFileSync(generatedList, "utf8")).every((path) => existsSync(join(root, path)));

/** Writes the OpenAPI and AsyncAPI documents, the JSON Schemas and the types of the clients. Throws if this fails. */
export function generate() {
  const { status, stdout, stderr } = spawnSync(bun, ["tools/write-docs/generated.ts"], { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  mkdirSync(built, { recursive: true });
  writeFileSync(generatedList, stdout);
}

/**
 * Options that replace `__dirname` and `__filename`, for which Bun would write the places of packages on the building machine. No package needs these
 * names.
 */
export const withoutPlaces = ["--define", '__dirname="/"', "--define", '__filename="/"'];

/** Bundles the sources into a folder. Throws if this fails. `modules` are additional modules that code outside the bundle imports. */
export function bundle(folder, modules = []) {
  const options = [
    ...withoutPlaces,
    "--target=bun",
    "--splitting",
    "--minify-syntax",
    "--minify-whitespace",
    "--sourcemap=linked",
    "--outdir",
    folder,
  ];
  const entries = ["src/cli/plaza.ts", ...modules].map((path) => join(root, path));
  const { status, stderr } = spawnSync(bun, ["build", ...entries, ...options], { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

/** Builds everything that is out of date. This function never fails, because without a build the program runs from its sources. */
export function build() {
  if (!hasBun()) return;
  attempt("The documents and the types of the clients were not written", () => isGenerated() || generate());
  attempt("The sources were not bundled, so starts take longer", () => isBundled() || replaceBundle());
}

function attempt(failure, act) {
  try {
    act();
  } catch (error) {
    console.error(`${failure}: ${error instanceof Error ? error.message : error}`);
  }
}

/**
 * Writes a bundle into a folder of its own and then moves it into place, so that nobody starts from a half-written build. An interrupted build is
 * started anew.
 */
function replaceBundle() {
  const making = join(root, `build.${process.pid}`);
  try {
    bundle(making);
    mkdirSync(built, { recursive: true });
    const parts = readdirSync(making);
    for (const part of parts.filter((name) => name !== "plaza.js")) renameSync(join(making, part), join(built, part));
    renameSync(join(making, "plaza.js"), entry);
    for (const part of readdirSync(built)) if (Date.now() - statSync(join(built, part)).mtimeMs > KEPT_MS) rmSync(join(built, part));
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) build();
