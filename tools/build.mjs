/**
 * `node tools/build.mjs`: writes the documents and types that are made from the contracts, and compiles the sources into the executable
 * `build/plaza`. The executable starts in a quarter of the time that the sources need, and `bin/plaza` runs it as long as no source file is newer
 * than it. `npm ci` runs this program; `npm start` and `npm test` run it if the sources have changed. The program is plain JavaScript, because it
 * runs on Node.
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
 * Whether Bun is installed. The install script of Bun's package replaces a placeholder of a few hundred bytes by the binary, which has 100 MB, so
 * the size shows whether the script ran.
 */
export const hasBun = () => existsSync(bun) && statSync(bun).size > 1_000_000;

/**
 * The time at which a file, or anything below a folder, was last changed. The time of each file or folder is kept after the first read, because
 * reading the times in `src` takes longer than all other work of this program.
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
 * Whether the executable is newer than its sources; `bin/plaza` decides in the same way. `conformance` and `spec` count as sources, because the
 * executable contains the conformance suite and texts of `spec/`.
 */
const isCompiled = () => isNewerThan(executable, ["src", "clients/testing", "workbench", "conformance", "spec", "package-lock.json"]);

const CONTROL_TYPES = "clients/testing/generated/control-api.ts";
/**
 * Whether to make the types of the control API. An installation that only runs the server does not have the package openapi-typescript, which
 * makes these types.
 */
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
  // Without this option, Bun would replace `__dirname` and `__filename` by paths on the machine that builds. No package needs these names.
  ...["--define", '__dirname="/"', "--define", '__filename="/"'],
  ...["--target=bun", "--splitting", "--minify-syntax", "--minify-whitespace"],
];

/** Bundles the sources into a folder. Throws if this fails. `modules` are additional modules that code outside the bundle imports. */
export const bundle = (folder, modules) => buildProgram(modules, ["--sourcemap=linked", "--outdir", folder]);

/** Makes a single executable with compiled code. Throws if this fails. `files` are files that the executable contains besides the sources. */
export const compile = (file, files = []) =>
  buildProgram(files, [
    ...["--compile", "--bytecode", "--format=esm", "--sourcemap=inline"],
    // The executable must not read .env or bunfig.toml of the folder in which it is started, or install packages there, because they belong to
    // another project.
    ...["--no-compile-autoload-dotenv", "--no-compile-autoload-bunfig", "--compile-exec-argv=--no-install"],
    ...["--outfile", file],
  ]);

function buildProgram(files, options) {
  const entries = ["src/cli/plaza.ts", ...files].map((path) => resolve(root, path));
  const { status, stderr } = spawnSync(bun, ["build", ...entries, ...OPTIONS, ...options], { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}

/** Builds everything that is out of date. If a build fails, the function only prints the error, because Plaza can also run from its sources. */
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
