/**
 * `node tools/build.mjs`: puts the sources together into `build/`, from which `bin/plaza` starts in half the time, as long as no
 * source is newer. `npm ci` runs it, and so do `npm start` and `npm test` where the sources changed. Plain JavaScript, because it
 * runs on Node.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "..");
const bun = join(root, "node_modules/bun/bin/bun.exe");
const built = join(root, "build");
const entry = join(built, "plaza.js");
/** A part of an earlier build may still be asked for by a program that was started from it. */
const KEPT_MS = 7 * 24 * 3_600_000;

/** Bun's package puts the real binary in place with an install script. The placeholder is a few hundred bytes, the binary some 100 MB. */
export const hasBun = () => existsSync(bun) && statSync(bun).size > 1_000_000;

/** The same question as in `bin/plaza`. */
function isFresh() {
  if (!existsSync(entry)) return false;
  const builtMs = statSync(entry).mtimeMs;
  // The conformance suite is a command of the program, and holds what `spec/` says.
  const folders = ["src", "conformance", "spec"].map((name) => join(root, name));
  const sources = folders.flatMap((folder) => [folder, ...readdirSync(folder, { recursive: true }).map((name) => join(folder, name))]);
  return [join(root, "package-lock.json"), ...sources].every((path) => statSync(path).mtimeMs <= builtMs);
}

/**
 * Without values of their own, Bun would write where packages stand on the machine that builds. Those that ask (pino, for transports) are asked for
 * nothing that would need it.
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
  if (!hasBun() || isFresh()) return;
  // Beside, and then moved: nobody starts from a half-written build. It begins anew where another build was broken off.
  const making = join(root, `build.${process.pid}`);
  try {
    bundle(making);
    mkdirSync(built, { recursive: true });
    const parts = readdirSync(making);
    for (const part of parts.filter((name) => name !== "plaza.js")) renameSync(join(making, part), join(built, part));
    renameSync(join(making, "plaza.js"), entry);
    for (const part of readdirSync(built)) if (Date.now() - statSync(join(built, part)).mtimeMs > KEPT_MS) rmSync(join(built, part));
  } catch (error) {
    console.error(`The sources were not put together, so starts take longer: ${error instanceof Error ? error.message : error}`);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) build();
