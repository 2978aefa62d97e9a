/**
 * `node build.mjs [folder]`: builds the client package, which is one module without imports, and its types. Writes to `dist`, or to the given folder.
 */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";

const client = import.meta.dirname ?? new URL(".", import.meta.url).pathname;
const root = join(client, "../..");
const folder = process.argv[2] ?? join(client, "dist");

function run(program, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: root, encoding: "utf8" });
  if (status === 0) return;
  console.error(`${program} ${args.join(" ")} failed: ${error?.message ?? stdout + stderr}`);
  process.exit(1);
}

rmSync(folder, { recursive: true, force: true });
const bun = join(root, "node_modules/bun/bin/bun.exe");
// The module is not minified, because an uncaught error is printed with its line and the name of its class.
run(bun, "build", join(client, "src/index.ts"), "--target=browser", "--format=esm", "--outdir", folder);
const tsc = join(root, "node_modules/typescript-native/bin/tsc");
run(process.execPath, tsc, "-p", join(client, "tsconfig.json"), "--outDir", folder);
