/**
 * `node tools/package.mjs`: makes the files that `npm pack` needs besides the sources: the generated documents and types, a build of the sources
 * alone, the notices of the packages that the build contains, and the list of these packages (SBOM). `--executable` also makes `dist/plaza`, one file
 * with Bun and Plaza. Unlike the build before a start, this program fails if anything is missing.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { bundle, compile, generate, hasBun } from "./build.mjs";
import { buildConsole, consoleFolder, consolePack } from "./console/build.mjs";
import { buildReference, referenceFolder, referencePack } from "./console/reference.mjs";
import { installPackages } from "./install/packages.mjs";

const root = join(import.meta.dirname ?? new URL(".", import.meta.url).pathname, "..");
/** The output folder. The output goes to `dist/` and not to `build/`, because a server may be running from `build/`. */
const dist = join(root, "dist");
const bun = join(root, "node_modules/bun/bin/bun.exe");
/** The TypeScript compiler, which writes the types of the test kit. */
const compiler = join(root, "node_modules/typescript-native/bin/tsc");

function run(program, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: root, encoding: "utf8", shell: process.platform === "win32" });
  if (status === 0) return stdout;
  console.error(`${program} ${args.join(" ")} failed: ${error?.message ?? stderr}`);
  process.exit(1);
}

/**
 * Builds `plaza-graph/testing` for Node and Bun: as modules, as CommonJS for Jest, and with types for both. The folders of the CommonJS files and of
 * the modules are equally deep, because both find the program of Plaza by a path relative to their own file.
 */
function buildTestKit() {
  const kit = join(root, "clients/testing");
  const entries = ["index.ts", "setup.ts"].map((name) => join(kit, name));
  const [modules, commonJs] = [join(dist, "testing"), join(dist, "testing-cjs")];
  run(bun, "build", ...entries, "--target=node", "--splitting", "--outdir", modules);
  // Without this definition of `import.meta.url`, Bun would write the path of the source file on the machine that builds.
  const moduleUrl = ["--define", "import.meta.url=moduleUrl", "--banner", 'const moduleUrl = require("node:url").pathToFileURL(__filename).href;'];
  for (const entry of entries) run(bun, "build", entry, "--target=node", "--format=cjs", ...moduleUrl, "--outdir", commonJs);
  writeFileSync(join(commonJs, "package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);
  run(process.execPath, compiler, "-p", kit, "--outDir", modules);
  for (const name of readdirSync(modules, { recursive: true }).filter((path) => path.endsWith(".d.ts"))) {
    const file = join(modules, name);
    // The compiler keeps the names of the sources in imports, but the package does not contain the sources.
    const text = readFileSync(file, "utf8").replaceAll(/(from "\.[^"]*)\.ts"/g, '$1.js"');
    writeFileSync(file, text);
    mkdirSync(dirname(join(commonJs, name)), { recursive: true });
    writeFileSync(join(commonJs, name), text);
  }
}

/** The pages for people, as `src/control/llms/text-pages.ts` reads them from files. */
function guidePages() {
  const folders = JSON.parse(readFileSync(join(root, "src/control/llms/guide-folders.json"), "utf8"));
  const files = folders.flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}`));
  const pages = files.filter((file) => file.endsWith(".md") && !file.endsWith("/operations.md"));
  return Object.fromEntries(pages.map((file) => [file.slice(file.indexOf("/") + 1), readFileSync(join(root, file), "utf8")]));
}

const lockOf = (folder) => JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")).packages;
const packages = lockOf(root);
/**
 * The packages that a running program uses. The packages with Bun for single systems are left out, because they contain the same program as the
 * package `bun`.
 */
const runningIn = (folder) =>
  Object.entries(lockOf(folder))
    .filter(([path, { dev, optional }]) => path !== "" && dev !== true && optional !== true)
    .map(([path, locked]) => ({ folder: join(folder, path), path: relative(root, join(folder, path)), ...locked }));
/** The packages that the server uses when it runs, and the packages whose code may be in the pages of the console and of the API reference. */
const running = [root, consoleFolder, referenceFolder].flatMap(runningIn);
const nameOf = (path) => path.replace(/^.*node_modules\//, "");

/** The list of packages in CycloneDX. The list contains neither the time nor facts about the machine, so that the same sources make the same file. */
function billOfMaterials() {
  const { name, version, license } = packages[""];
  const purl = (of, at) => `pkg:npm/${of.replace("@", "%40")}@${at}`;
  const components = running.map(({ path, version: at, license: under, integrity }) => ({
    type: "library",
    "bom-ref": path,
    name: nameOf(path),
    version: at,
    purl: purl(nameOf(path), at),
    licenses: [{ expression: under }],
    hashes: [{ alg: "SHA-512", content: Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex") }],
  }));
  const component = { type: "application", "bom-ref": name, name, version, purl: purl(name, version), licenses: [{ expression: license }] };
  return `${JSON.stringify({ bomFormat: "CycloneDX", specVersion: "1.5", version: 1, metadata: { component }, components }, undefined, 1)}\n`;
}

/** The licence of Bun, because Bun's package does not contain a licence text. */
const BUN_NOTICE = `Bun is under the MIT licence, Copyright Oven. It links JavaScriptCore and parts of WebKit statically, which are under the LGPL 2 and
BSD licences, and other libraries; https://bun.com/docs/project/license lists them all, and says how to link another JavaScriptCore.`;

function noticeOf(folder) {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  const texts = files.sort().map((file) => readFileSync(join(folder, file), "utf8").trim());
  if (name === "bun") texts.push(BUN_NOTICE);
  // Some packages contain no licence text and only name their licence.
  if (texts.length === 0) texts.push(`${license}${author === undefined ? "" : `, by ${typeof author === "string" ? author : author.name}`}`);
  return `${name} ${version} (${license})\n\n${texts.join("\n\n")}\n`;
}

if (!hasBun() || !existsSync(compiler)) {
  console.error("Bun or the compiler is not installed: run npm ci --include=dev first");
  process.exit(1);
}
rmSync(dist, { recursive: true, force: true });
generate();
bundle(dist, ["src/cli/test-server.ts"]);
buildTestKit();
buildConsole();
copyFileSync(consolePack, join(dist, "console.pack"));
buildReference();
copyFileSync(referencePack, join(dist, "reference.pack"));
// The files of the reference's library contain the code of other packages, so these packages are installed for their licence notices.
if (!installPackages(referenceFolder, false, "the packages that the API reference was made of")) process.exit(1);
const rule = `\n${"-".repeat(80)}\n\n`;
writeFileSync(join(dist, "third-party-notices.txt"), running.map(({ folder }) => noticeOf(folder)).join(rule));
writeFileSync(join(dist, "sbom.cdx.json"), billOfMaterials());
if (process.argv.includes("--executable")) {
  // The executable needs the pages in one file, because the npm package contains the pages as files and the executable does not.
  writeFileSync(join(dist, "guides.pack"), JSON.stringify(guidePages()));
  const executable = join(dist, process.platform === "win32" ? "plaza.exe" : "plaza");
  compile(
    executable,
    ["console.pack", "reference.pack", "guides.pack"].map((name) => join(dist, name)),
  );
  chmodSync(executable, 0o755);
}
