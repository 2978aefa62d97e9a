import { beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterThisTest } from "#harness/cleanup";
import { openPage } from "#harness/live/browser";
import { startServer } from "#harness/server";
import { installClient, readGuide, runnable } from "./guide.ts";

const ROOT = join(import.meta.dir, "../..");
/** The greatest size that the compressed module of the client may have. */
const COMPRESSED_BYTES_MAX = 10_000;

/** The folder of a program that has installed the package. */
const folder = mkdtempSync(join(tmpdir(), "plaza-client-"));
const built = join(folder, "node_modules/plaza-graph-client/dist");
const guide = readGuide();

beforeAll(() => void installClient(folder), 120_000);

test("the package contains the module, its types and its page, and nothing else", () => {
  const files = readdirSync(join(built, ".."), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map(({ parentPath, name }) => join(parentPath, name).slice(join(built, "..").length + 1));
  expect(names.filter((name) => !name.endsWith(".d.ts")).sort()).toEqual(["README.md", "dist/index.js", "package.json"]);
});

test("an uncaught error is printed with its class and its line, and not with the module", () => {
  const file = join(folder, "uncaught.mjs");
  writeFileSync(
    file,
    `import { createClient } from "plaza-graph-client";
    const refuse = async () => Response.json({ error: { message: "no such label", code: 100 } }, { status: 400 });
    await createClient({ baseUrl: "http://graph.test", fetch: refuse }).readLabel("5001");`,
  );
  const { stderr, exitCode } = Bun.spawnSync(["node", file]);
  expect(exitCode).toBe(1);
  expect(stderr.toString()).toMatch(/^GraphError: no such label$/m);
  expect(stderr.toString()).toContain("new GraphError(operation, ");
  expect(stderr.length).toBeLessThan(1500);
});

test("the module has at most 10 kB compressed, and imports nothing", () => {
  const code = readFileSync(join(built, "index.js"));
  expect(Bun.gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(COMPRESSED_BYTES_MAX);
  expect(new Bun.Transpiler({ loader: "js" }).scanImports(code.toString())).toEqual([]);
});

test("the guide's examples match the types of the package", () => {
  writeFileSync(join(folder, "guide.ts"), guide.program);
  const options = { strict: true, module: "ESNext", moduleResolution: "bundler", target: "ES2022", lib: ["ES2022", "DOM", "DOM.Iterable"] };
  // The compiler runs without `skipLibCheck`, so that it checks the package's declarations too.
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: { ...options, types: [], noEmit: true }, files: ["guide.ts"] }));
  const { stdout, exitCode } = Bun.spawnSync(["node", join(ROOT, "node_modules/typescript-native/bin/tsc"), "-p", folder]);
  expect({ exitCode, problems: stdout.toString() }).toEqual({ exitCode: 0, problems: "" });
});

/** Deno's folder is outside of the project's lock file, because the lock file would otherwise list binaries for systems that nobody here uses. */
const DENO = join(ROOT, ".tools/deno");

async function installDeno(): Promise<void> {
  if (existsSync(join(DENO, "node_modules/deno/bin.cjs"))) return;
  mkdirSync(DENO, { recursive: true });
  writeFileSync(join(DENO, "package.json"), '{ "private": true }');
  const install = Bun.spawn(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "deno@2.9.6"], {
    cwd: DENO,
    stdout: "pipe",
    stderr: "pipe",
  });
  const said = await new Response(install.stderr).text();
  if ((await install.exited) !== 0) throw new Error(said);
}

/** The binary of Deno has 92 MB, so its download may take longer than the time limit of a test. */
beforeAll(installDeno, 600_000);

/** The commands that run a module on each runtime. */
const runtimes: Readonly<Record<string, readonly string[]>> = {
  Node: ["node"],
  Bun: [process.execPath],
  Deno: ["node", join(DENO, "node_modules/deno/bin.cjs"), "run", "--no-config", "--node-modules-dir=manual", "--allow-net", "--allow-read"],
};

for (const [name, command] of Object.entries(runtimes)) {
  test(`the guide's examples run on ${name}, and print the documented output`, async () => {
    const server = await startServer(["--data", ":memory:"]);
    const file = join(folder, `guide-${name}.mjs`);
    writeFileSync(file, runnable(guide, server.base_url, "plaza-graph-client"));
    const child = Bun.spawn([...command, file], { stdout: "pipe", stderr: "pipe" });
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    expect({ exitCode: await child.exited, stderr }).toMatchObject({ exitCode: 0 });
    expect(stdout.trimEnd().split("\n")).toEqual([...guide.printed]);
  }, 60_000);
}

test("the guide's examples run in a browser, on a page of another port", async () => {
  const server = await startServer(["--data", ":memory:"]);
  const modules: Readonly<Record<string, string>> = {
    "/client.js": readFileSync(join(built, "index.js"), "utf8"),
    "/guide.js": runnable(guide, server.base_url, "/client.js"),
  };
  const page = `<!doctype html><title>guide</title><script>
    window.printed = []; console.log = (...values) => window.printed.push(values.join(" "));
    window.onerror = (message) => window.printed.push(message); window.onunhandledrejection = ({ reason }) => window.printed.push(String(reason));
  </script><script type="module">await import("/guide.js"); window.isOver = true</script>`;
  const site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const module = modules[new URL(request.url).pathname];
      const type = module === undefined ? "text/html" : "text/javascript";
      return new Response(module ?? page, { headers: { "content-type": type } });
    },
  });
  afterThisTest(() => site.stop(true));
  const address = `http://127.0.0.1:${site.port}/`;
  const opened = await openPage(address);
  type State = { readonly isOver: boolean; readonly printed: readonly string[] };
  const state = "({ isOver: window.isOver === true || window.printed.some((line) => line.includes('Error')), printed: window.printed })";
  const { printed } = await opened.evaluateUntil<State>(address, state, ({ isOver }) => isOver);
  expect(printed).toEqual([...guide.printed]);
});
