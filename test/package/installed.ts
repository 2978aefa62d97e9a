/** Installs the package as a user gets it: packed, and then installed into an empty project. */
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { isRunning } from "#harness/processes/children";
import { needs } from "#harness/processes/needs";
import { withDist } from "./dist.ts";

needs("registry");

const ROOT = join(import.meta.dir, "../..");

/** The folder with the package that this process has made, which the next run replaces. */
const PACKED = join(ROOT, "node_modules/.cache/packed");

const folders: string[] = [];

export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "plaza-package-"));
  folders.push(folder);
  return folder;
}

/** A PATH that lists the given folders before those of the machine. */
export const pathWith = (...programs: readonly string[]): string => [...programs, process.env.PATH ?? ""].join(delimiter);

export async function run(cwd: string, command: readonly string[], path = pathWith()): Promise<string> {
  const env = userEnvironment(cwd, path);
  const running = Bun.spawn([...command], { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, code] = await Promise.all([new Response(running.stdout).text(), new Response(running.stderr).text(), running.exited]);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}

/** The environment of a user. npm reads HOME, and passes variables of its own to the programs that it runs; a user has no such variables. */
export const userEnvironment = (cwd: string, path = pathWith()): Record<string, string> => ({
  PATH: path,
  HOME: process.env.HOME ?? cwd,
  ...registryOf(process.env),
});

/** The environment variables that tell npm and pip how to reach their package registries from this machine. */
const registryOf = (environment: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      value !== undefined && /^(npm_config_(registry|cafile|proxy|https_proxy)|pip_\w+|https?_proxy|no_proxy|node_extra_ca_certs)$/i.test(name)
        ? [[name, value]]
        : [],
    ),
  );

export interface Packed {
  readonly tarball: string;
  readonly files: readonly string[];
}

let packing: Promise<Packed> | undefined;

/** The package, which one test file packs for all test files. */
export function packed(): Promise<Packed> {
  packing ??= withDist(pack);
  return packing;
}

async function pack(): Promise<Packed> {
  mkdirSync(PACKED, { recursive: true });
  for (const name of readdirSync(PACKED)) if (!isRunning(Number.parseInt(name, 10))) rmSync(join(PACKED, name));
  const printed = await run(ROOT, ["npm", "pack", "--json", "--pack-destination", PACKED]);
  const [{ filename, files }] = JSON.parse(printed.slice(printed.indexOf("["))) as [{ filename: string; files: { path: string }[] }];
  const tarball = join(PACKED, `${process.pid}.tgz`);
  renameSync(join(PACKED, filename), tarball);
  return { tarball, files: files.map(({ path }) => path) };
}

/**
 * Installs the package. If npm runs no install scripts, Bun's package has only a placeholder instead of Bun, which Plaza's launcher must work around.
 */
export async function install(tarball: string, { path = pathWith(), scripts = true, beside = [] as readonly string[] } = {}): Promise<string> {
  const consumer = join(newFolder(), "consumer");
  mkdirSync(consumer);
  writeFileSync(join(consumer, "package.json"), `{ "name": "consumer", "version": "1.0.0" }`);
  const options = ["--prefer-offline", "--no-audit", "--no-fund", ...(scripts ? [] : ["--ignore-scripts"])];
  await run(consumer, ["npm", "install", "--save-dev", ...options, tarball, ...beside], path);
  return consumer;
}

/**
 * Starts the package with `npx plaza start`, requests a label, and ends the server by a signal to the launcher. The promise resolves with the status
 * of the response for the label.
 */
export async function startAndAsk(
  consumer: string,
  path = pathWith(),
): Promise<{ status: number; hasConsole: boolean; code: number; stderr: string }> {
  const command = ["npx", "--no-install", "plaza", "start", "--json", "--port", "0", "--control-port", "0"];
  const env = { PATH: path, HOME: process.env.HOME ?? consumer };
  const running = Bun.spawn(command, { cwd: consumer, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const stderr = new Response(running.stderr).text();
  try {
    const { base_url, control_url, pid } = await readyLine(running.stdout, stderr);
    const { status } = await fetch(`${base_url}/v26.0/2001/personas?access_token=demo-page-token&oauth_token=demo-page-token`, {
      headers: { authorization: "Bearer demo-page-token" },
    });
    const page = await (await fetch(control_url, { headers: { accept: "text/html" } })).text();
    process.kill(pid, "SIGTERM");
    return { status, hasConsole: page.includes('<script type="module" src="/assets/main'), code: await running.exited, stderr: await stderr };
  } finally {
    running.kill("SIGKILL");
  }
}

export async function readyLine(
  stdout: ReadableStream<Uint8Array>,
  stderr: Promise<string>,
): Promise<{ base_url: string; control_url: string; pid: number }> {
  let text = "";
  for await (const part of stdout) {
    text += new TextDecoder().decode(part);
    if (text.includes("\n")) return JSON.parse(text) as { base_url: string; control_url: string; pid: number };
  }
  throw new Error(`the package did not start: ${await stderr}`);
}
