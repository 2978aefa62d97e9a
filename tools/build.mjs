/**
 * `node tools/build.mjs`: writes the documents and types that are made from the contracts, and compiles the sources into the executable
 * `build/plaza`. The executable starts in a quarter of the time, and `bin/plaza` runs it as long as no source is newer. `npm ci` runs this program;
 * `npm start` and `npm test` run it if the sources have changed. The program is plain JavaScript, because it runs on Node.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "..");
const bun = join(root, "node_modules/bun/bin/bun.exe");
const built = join(root, "build");
const executable = join(built, "plaza");
/** The paths of the generated files, in the order in which they were written. */
const generatedList = join(built, "generated.json");

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
 * Whether the executable is newer than its sources; `bin/plaza` decides in the same way. The program contains the conformance suite and texts of
 * `spec/`.
 */
const isCompiled = () => isNewerThan(executable, ["src", "clients/testing", "workbench", "conformance", "spec", "package-lock.json"]);

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

const OPTIONS = [
  // For these names Bun would write the places of packages on the building machine. No package needs the names.
  ...["--define", '__dirname="/"', "--define", '__filename="/"'],
  ...["--target=bun", "--splitting", "--minify-syntax", "--minify-whitespace"],
];

/** Bundles the sources into a folder. Throws if this fails. `modules` are additional modules that code outside the bundle imports. */
export const bundle = (folder, modules) => buildProgram(modules, ["--sourcemap=linked", "--outdir", folder]);

/** Makes a single executable with compiled code. Throws if this fails. `files` are files that the executable contains besides the sources. */
export const compile = (file, files = []) =>
  buildProgram(files, [
    ...["--compile", "--bytecode", "--format=esm", "--sourcemap=inline"],
    // A .env, bunfig.toml or missing package of the folder in which it is started belongs to that project, not to Plaza.
    ...["--no-compile-autoload-dotenv", "--no-compile-autoload-bunfig", "--compile-exec-argv=--no-install"],
    ...["--outfile", file],
  ]);

function buildProgram(files, options) {
  const entries = ["src/cli/plaza.ts", ...files].map((path) => resolve(root, path));
  const { status, stderr } = spawnSync(bun, ["build", ...entries, ...OPTIONS, ...options], { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

/** Builds everything that is out of date. This function never fails, because without a build the program runs from its sources. */
export function build() {
  if (!hasBun()) return;
  attempt("The documents and the types of the clients were not written", () => isGenerated() || generate());
  attempt("The sources were not compiled, so starts take longer", () => isCompiled() || replaceExecutable());
}

function attempt(failure, act) {
  try {
    act();
  } catch (error) {
    console.error(`${failure}: ${error instanceof Error ? error.message : error}`);
  }
}

/** Compiles the program in a folder of its own and then moves it into place, so that nobody starts a half-written executable. */
function replaceExecutable() {
  const making = join(root, `build.${process.pid}`);
  try {
    compile(join(making, "plaza"));
    mkdirSync(built, { recursive: true });
    renameSync(join(making, "plaza"), executable);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) build();
