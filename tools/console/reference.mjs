/**
 * `node tools/console/reference.mjs`: builds the API reference (`console/reference`) into `console/dist/reference.pack` if one of the reference's
 * files has changed. The library of the reference is also published as finished files for a browser, so this program fetches one package instead of
 * the 270 packages from which the files were made. The program accepts the package only with the checksum in the lock file. The program is plain
 * JavaScript, because it runs on Node.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const root = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "../..");
export const referenceFolder = join(root, "console/reference");
export const referencePack = join(root, "console/dist/reference.pack");

const LIBRARY = "@scalar/api-reference";
const FILES = "package/dist/browser";
/**
 * Matches the files of the library's agent, which are left out because the agent sends documents to the library's maker. The option
 * `agent: { disabled: true }` keeps the page from loading these files.
 */
const LEFT_OUT = /^AgentScalarDrawer-/;

const isFresh = () =>
  existsSync(referencePack) &&
  ["package-lock.json", "index.html", "reference.js", "reference.css"].every(
    (name) => statSync(join(referenceFolder, name)).mtimeMs <= statSync(referencePack).mtimeMs,
  );

function run(program, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", shell: process.platform === "win32" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${error?.message ?? stderr}`);
  return stdout;
}

/** Fetches the library's files for browsers, below `folder`. Throws if the package does not have the checksum that the lock file names. */
function fetchLibrary(folder, { version, integrity }) {
  console.error(`Fetching ${LIBRARY} ${version} (npm pack) …`);
  const [{ filename }] = JSON.parse(run("npm", "pack", `${LIBRARY}@${version}`, "--pack-destination", folder, "--json", "--ignore-scripts"));
  const archive = join(folder, filename);
  const found = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  if (found !== integrity) throw new Error(`${LIBRARY} ${version} does not have the checksum that console/reference/package-lock.json says`);
  run("tar", "-xzf", archive, "-C", folder, FILES);
  return join(folder, FILES);
}

const TYPES = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", html: "text/html; charset=utf-8" };

function pack(library, version) {
  const files = {};
  const add = (path, body) => {
    files[path] = { type: TYPES[path.split(".").at(-1)], body: gzipSync(body, { level: 9 }).toString("base64") };
    return `/${path}`;
  };
  const scalar = `scalar-${version}`;
  const scripts = readdirSync(join(library, "chunks")).filter((name) => name.endsWith(".js") && !LEFT_OUT.test(name));
  for (const name of ["standalone.esm.js", ...scripts.map((script) => `chunks/${script}`)])
    add(`reference/${scalar}/${name}`, readFileSync(join(library, name)));
  const own = (name) => readFileSync(join(referenceFolder, name), "utf8");
  const addOwn = (name, text) => add(`reference/${createHash("sha256").update(text).digest("hex").slice(0, 12)}.${name}`, text);
  const script = addOwn("reference.js", own("reference.js").replace("%SCALAR%", scalar));
  const style = addOwn("reference.css", own("reference.css"));
  add("index.html", own("index.html").replace("%SCRIPT%", script).replace("%STYLE%", style));
  return files;
}

/** Builds the reference. Throws if the build fails. */
export function buildReference() {
  if (!existsSync(referenceFolder) || isFresh()) return;
  const locked = JSON.parse(readFileSync(join(referenceFolder, "package-lock.json"), "utf8")).packages[`node_modules/${LIBRARY}`];
  const folder = mkdtempSync(join(tmpdir(), "plaza-reference-"));
  try {
    const files = pack(fetchLibrary(folder, locked), locked.version);
    // The file is written under another name and then moved, so that no server reads a half-written file.
    mkdirSync(join(root, "console/dist"), { recursive: true });
    writeFileSync(`${referencePack}.${process.pid}`, JSON.stringify(files));
    renameSync(`${referencePack}.${process.pid}`, referencePack);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) buildReference();
