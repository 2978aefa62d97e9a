/** Every example of README.md and docs/ runs against the demo world, or an empty one, and prints what its page shows. */
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { endAll, newFolder, type RunningPlaza, startPlaza } from "../cli/plaza-process.ts";
import { type Example, examplesOf, runsOn } from "./examples.ts";
import { differenceOf } from "./printed.ts";

const ROOT = join(import.meta.dir, "../..");
const GRAPH = "http://127.0.0.1:4000";
const CONTROL = "http://127.0.0.1:4001";
const RECEIVER = "127.0.0.1:9000";
/** The pages show times, versions and migrations as they are at this moment, and the demo world is loaded at it. */
const NOW = "2026-11-22T10:00:00Z";
const demo = readFileSync(join(ROOT, "worlds/demo.yaml"), "utf8");

const pages = ["README.md", "docs/deploying.md", "docs/operating.md", ...new Bun.Glob("docs/{guides,interface}/*.md").scanSync(ROOT)].sort();

const listeners: Bun.Subprocess[] = [];
afterEach(async () => {
  for (const listener of listeners.splice(0)) {
    listener.kill();
    await listener.exited;
  }
  await endAll();
});

for (const page of pages) {
  const examples = examplesOf(join(ROOT, page));
  if (examples.length === 0) continue;
  test(`${page}: its ${examples.length} examples run`, async () => {
    const world = join(newFolder(), "world.yaml");
    writeFileSync(world, `${isFromNothing(page) ? "" : demo}\nclock: { now: "${NOW}", frozen: true }\n`);
    // The commands find the server and its key in the folder in which it was started.
    const cwd = newFolder();
    const shell = shellFor(await startPlaza(["--world", world, "--rtmp-port", "0"], { cwd }), cwd);
    for (const example of examples)
      expect({ line: example.line, problem: await problemOf(example, shell) }).toEqual({ line: example.line, problem: undefined });
  });
}

/** A page that starts Plaza with an empty world gets one. */
const isFromNothing = (page: string): boolean => readFileSync(join(ROOT, page), "utf8").includes("bin/plaza start --world empty.yaml");

interface Shell {
  run(script: string): Bun.Subprocess<"ignore", "pipe", "pipe">;
  /** What a command printed, with the addresses that the pages use. */
  asShown(printed: string): string;
}

/** A shell in the server's folder, with the pages' addresses led to the server under test. */
function shellFor({ ready }: RunningPlaza, cwd: string): Shell {
  mkdirSync(join(cwd, "bin"));
  symlinkSync(join(ROOT, "bin/plaza"), join(cwd, "bin/plaza"));
  const receiverPort = freePort();
  const env = { PATH: process.env.PATH ?? "", PLAZA_CONTROL_KEY: ready.control_key as string };
  const run: Shell["run"] = (script) => {
    const led = script
      .replaceAll(GRAPH, ready.base_url)
      .replaceAll(CONTROL, ready.control_url)
      .replaceAll(RECEIVER, `127.0.0.1:${receiverPort}`)
      .replaceAll("--port 9000", `--port ${receiverPort}`);
    // A page is read in one terminal: what an example sets is there in the next one.
    const kept = "[ ! -f .kept ] || . ./.kept";
    return Bun.spawn(["bash", "-c", `set -aeo pipefail\n${kept}\n${led}\nexport -p > .kept`], {
      cwd,
      env,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
  };
  const asShown: Shell["asShown"] = (printed) =>
    printed.replaceAll(ready.base_url, GRAPH).replaceAll(ready.control_url, CONTROL).replaceAll(`127.0.0.1:${receiverPort}`, RECEIVER);
  return { run, asShown };
}

function freePort(): number {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  server.stop(true);
  return server.port;
}

async function problemOf(example: Example, shell: Shell): Promise<string | undefined> {
  if (runsOn(example)) return listen(shell.run(example.script.replace("bin/plaza listen", "exec $&")));
  const quiet = example.shown === undefined ? "-sS --fail-with-body" : "-sS";
  const running = shell.run(`curl() { command curl ${quiet} "$@"; }\n${example.script}`);
  const [stdout, stderr, code] = await Promise.all([new Response(running.stdout).text(), new Response(running.stderr).text(), running.exited]);
  if (code !== 0) return `exit code ${code}: ${stdout}${stderr}`;
  return example.shown === undefined ? undefined : differenceOf(example.shown, JSON.parse(shell.asShown(stdout)));
}

/** Returns once it listens; its first line says so. */
async function listen(running: Bun.Subprocess<"ignore", "pipe", "pipe">): Promise<string | undefined> {
  listeners.push(running);
  const { done } = await running.stdout.getReader().read();
  return done ? `it ended: ${await new Response(running.stderr).text()}` : undefined;
}
