/** `bun console/build.ts`: bundles the console into `console/dist/console.pack`, which the server hands out file by file. Run by `tools/console/build.mjs`. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";

const folder = import.meta.dir;
const TYPES: Readonly<Record<string, string>> = { ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8" };

const { outputs } = await Bun.build({
  entrypoints: [join(folder, "src/main.tsx")],
  target: "browser",
  splitting: true,
  minify: true,
  publicPath: "/",
  naming: { entry: "assets/[name]-[hash].[ext]", chunk: "assets/[name]-[hash].[ext]", asset: "assets/[name]-[hash].[ext]" },
  define: { "process.env.NODE_ENV": '"production"' },
});

const files: Record<string, { type: string; body: string }> = {};
const add = (path: string, type: string, bytes: Uint8Array<ArrayBuffer>): void => {
  files[path] = { type, body: Buffer.from(Bun.gzipSync(bytes, { level: 9 })).toString("base64") };
};
const pathOf = (path: string): string => path.replace(/^\.?\//, "");
for (const output of outputs) add(pathOf(output.path), TYPES[extname(output.path)] ?? output.type, new Uint8Array(await output.arrayBuffer()));

const script = outputs.find(({ kind }) => kind === "entry-point");
const style = outputs.find(({ path }) => path.endsWith(".css"));
if (script === undefined || style === undefined) throw new Error("the bundle has no script or no style sheet");
const page = readFileSync(join(folder, "index.html"), "utf8")
  .replace("%SCRIPT%", `/${pathOf(script.path)}`)
  .replace("%STYLE%", `/${pathOf(style.path)}`)
  .replace("%ICONS%", readFileSync(join(folder, "icons.svg"), "utf8"));
add("index.html", "text/html; charset=utf-8", new TextEncoder().encode(page));

// The pack is written under another name and then moved, so that no server reads a half-written file.
const target = join(folder, "dist/console.pack");
mkdirSync(join(folder, "dist"), { recursive: true });
writeFileSync(`${target}.${process.pid}`, JSON.stringify(files));
renameSync(`${target}.${process.pid}`, target);
