/**
 * `node tools/build.mjs`: writes the documents and types that are made from the contracts, and bundles the sources into `build/`, from which
 * `bin/plaza` starts in half the time, as long as no source is newer. `npm ci` runs it, and so do `npm start` and `npm test` if the sources
 * changed. Plain JavaScript, because it runs on Node.
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
/** A part of an earlier build may still be asked for by a program that was started from it. */
const KEPT_MS = 7 * 24 * 3_600_000;

/** Bun's package puts the real binary in place with an install script. The placeholder is a few hundred bytes, the binary some 100 MB. */
export const hasBun = () => existsSync(bun) && statSync(bun).size > 1_000_000;

/** When a file, or anything below a folder, was changed last. Each is looked at once: `src` takes longer than all the rest. */
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

/** The same question as in `bin/plaza`. The conformance suite is a command of the program, and holds what `spec/` says. */
const isBundled = () => isNewerThan(entry, ["src", "conformance", "spec", "package-lock.json"]);

const CONTROL_TYPES = "clients/testing/generated/control-api.ts";
/** An installation that only runs the server makes no types with it. */
const makesControlTypes = () => existsSync(join(root, "node_modules/openapi-typescript"));

const isGenerated = () =>
  (!makesControlTypes() || existsSync(join(root, CONTROL_TYPES))) &&
  isNewerThan(generatedList, ["src", "tools/write-docs", "package-lock.json"]) &&
  JSON.parse(readFileSync(generatedList, "utf8")).every((path) => existsSync(join(root, path)));

/** Writes the OpenAPI and AsyncAPI documents, the JSON Schemas and the types of the clients. Throws if it cannot. */
export function generate() {
  const { status, stdout, stderr } = spawnSync(bun, ["tools/write-docs/generated.ts"], { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  mkdirSync(built, { recursive: true });
  writeFileSync(generatedList, stdout);
}

/**
 * Without values of their own, Bun would write where packages stand on the machine that builds. No package needs it.
 */
export const withoutPlaces = ["--define", '__dirname="/"', "--define", '__filename="/"'];

/** Puts the sources together in a folder. Throws where they cannot be. `modules` are further ones that are imported from outside. */
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

/** Never fails: without a build the program runs from its sources. */
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

/** Beside, and then moved: nobody starts from a half-written build. It begins anew where another build was broken off. */
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
