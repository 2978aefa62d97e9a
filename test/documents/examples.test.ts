/** Runs every example of README.md and docs/ with the demo world or an empty world, and compares the output with the page. */
import { afterEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { receiverCertificate, receiverKey } from "#harness/certificates";
import { sharedPostgres } from "#harness/postgres-cluster";
import { freePort } from "#harness/processes/free-port";
import { needs } from "#harness/processes/needs";
import { endAll, newFolder, type RunningPlaza, startPlaza } from "../cli/plaza-process.ts";
import { type Example, type ExampleFile, examplesOf } from "./examples.ts";
import { differenceOf } from "./printed.ts";
import { endServices, startService } from "./running-examples.ts";

needs("curl");

const ROOT = join(import.meta.dir, "../..");
const GRAPH = "http://127.0.0.1:4000";
const CONTROL = "http://127.0.0.1:4001";
/** The ports in the documents on which a reader's server listens. */
const READER_PORTS = ["9000", "8080"];
/** The databases that the documents name. Each database of the documents is replaced by a new one. */
const DATABASE = /postgres:\/\/plaza:secret@127\.0\.0\.1:5432\/\w+/g;
/** The time at which the demo world is loaded: the pages show the times, versions and migrations of this moment. */
const NOW = "2026-11-22T10:00:00Z";
const demo = readFileSync(join(ROOT, "worlds/demo.yaml"), "utf8");
/** The time limit for the examples of a page is long, because they start servers, some of them with npm. */
const PAGE_MS_MAX = 120_000;

const pages = ["README.md", "docs/deploying.md", ...new Bun.Glob("docs/{guides,interface,operating,recipes}/*.md").scanSync(ROOT)].sort();

afterEach(async () => {
  await endServices();
  await endAll();
});

for (const page of pages) {
  const examples = examplesOf(page);
  if (examples.length === 0) continue;
  test(
    `${page}: its ${examples.length} examples run`,
    async () => {
      const world = join(newFolder(), "world.yaml");
      writeFileSync(world, `${isFromNothing(page) ? "" : demo}\nclock: { now: "${NOW}", frozen: true }\n`);
      // The commands find the server and its key in the folder in which the server was started.
      const cwd = newFolder();
      const databases = await databasesOf(readFileSync(join(ROOT, page), "utf8"));
      const shell = shellFor(await startPlaza(["--world", world, "--rtmp-port", "0"], { cwd }), cwd, databases);
      for (const example of examples)
        expect({ line: example.line, problem: await problemOf(example, shell) }).toEqual({ line: example.line, problem: undefined });
      expect(await endServices()).toEqual([]);
    },
    PAGE_MS_MAX,
  );
}

/** Whether a page starts Plaza with an empty world, so that its examples must run with an empty world. */
const isFromNothing = (page: string): boolean => readFileSync(join(ROOT, page), "utf8").includes("bin/plaza start --world empty.yaml");

interface Shell {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** A script of the page, with the addresses of the server under test. */
  led(script: string): string;
  /** The output of a command, with the addresses that the pages show. */
  asShown(printed: string): string;
}

async function databasesOf(page: string): Promise<[string, string][]> {
  const shown = [...new Set(page.match(DATABASE))];
  return Promise.all(shown.map(async (address): Promise<[string, string]> => [address, await (await sharedPostgres()).newDatabase()]));
}

/** Replaces all texts in one pass, and only whole numbers: a port from the system may begin with the digits of a port in the page. */
function replacedAtOnce(text: string, pairs: readonly (readonly [from: string, to: string])[]): string {
  const to = new Map(pairs);
  const from = pairs.map(([each]) => RegExp.escape(each)).join("|");
  return text.replaceAll(new RegExp(`(?:${from})(?!\\d)`, "g"), (found) => to.get(found) ?? found);
}

/** Starts a shell in the server's folder, which is both a clone of the repository and a project that has installed the package. */
function shellFor({ ready }: RunningPlaza, cwd: string, databases: readonly [string, string][]): Shell {
  for (const folder of ["bin", "node_modules/.bin"]) mkdirSync(join(cwd, folder), { recursive: true });
  symlinkSync(join(ROOT, "bin/plaza"), join(cwd, "bin/plaza"));
  symlinkSync(join(ROOT, "bin/plaza.mjs"), join(cwd, "node_modules/.bin/plaza"));
  writeFileSync(join(cwd, "fullchain.pem"), receiverCertificate);
  writeFileSync(join(cwd, "privkey.pem"), receiverKey);
  const addresses: [string, string][] = [[GRAPH, ready.base_url], [CONTROL, ready.control_url], ...databases];
  for (const port of READER_PORTS) {
    const free = freePort();
    addresses.push([`127.0.0.1:${port}`, `127.0.0.1:${free}`], [`--port ${port}`, `--port ${free}`]);
  }
  return {
    cwd,
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? cwd, PLAZA_CONTROL_KEY: ready.control_key as string },
    led: (script) => replacedAtOnce(script, addresses),
    asShown: (printed) =>
      replacedAtOnce(
        printed,
        addresses.map(([shown, real]) => [real, shown]),
      ),
  };
}

/** Readers use one terminal for a whole page, so a variable that one example sets is also set for the next example. */
const KEPT = "[ ! -f .kept ] || . ./.kept";

async function problemOf(example: Example | ExampleFile, shell: Shell): Promise<string | undefined> {
  if ("file" in example) {
    writeFileSync(join(shell.cwd, example.file), shell.led(example.text));
    return undefined;
  }
  if (example.isService) return startService(shell.led(example.script), shell.cwd, shell.env);
  const quiet = example.shown === undefined ? "-sS --fail-with-body" : "-sS";
  const script = `set -aeo pipefail\n${KEPT}\ncurl() { command curl ${quiet} "$@"; }\n${shell.led(example.script)}\nexport -p > .kept`;
  const running = Bun.spawn(["bash", "-c", script], { cwd: shell.cwd, env: shell.env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([new Response(running.stdout).text(), new Response(running.stderr).text(), running.exited]);
  if (code !== 0) return `exit code ${code}: ${stdout}${stderr}`;
  if (example.shown === undefined) return undefined;
  const printed = shell.asShown(stdout).replaceAll("\r", "");
  return "json" in example.shown ? differenceOf(example.shown.json, JSON.parse(printed)) : differenceOf(example.shown.text, printed.trim());
}
