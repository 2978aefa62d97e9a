/** Starts the servers that are measured: Plaza and the floors. Each server is a process of its own, on the core for servers. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chooseCores, onCore } from "./machine.ts";

const HERE = import.meta.dir;
const PROGRAM = join(HERE, "..", "..", "bin", "plaza");
const FLOORS = join(HERE, "..", "floors");
/** The folder for the data of the servers. The variable BENCH_TMP sets another folder, to compare disks. */
const ROOT = process.env.BENCH_TMP ?? tmpdir();
const READY_WITHIN_MS = 60_000;
/** The time limit for a server to end. Running requests end within 10 s of SIGTERM, so a server that takes longer hangs. */
const STOPPED_WITHIN_MS = 15_000;

export interface Server {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  /** The folder with the server's data, which is deleted when the server has stopped. */
  readonly folder: string;
  /** The JSON of the line that the server printed when it was ready. */
  readonly ready: Readonly<Record<string, unknown>>;
  /** The time from the start of the process to its ready line. */
  readonly ready_ms: number;
  stop(options?: { readonly keepFolder?: boolean }): Promise<void>;
}

export interface StartOptions {
  /** The folder of an earlier server, if the server is to start on the data of that server. */
  readonly folder?: string;
  /** Whether the server may use all cores, like a server that a person starts without options. */
  readonly isFree?: boolean;
}

export interface PlazaOptions extends StartOptions {
  /** The world file; left out if the folder already has data. */
  readonly world?: unknown;
  /** Whether encoders can connect, on a free port. */
  readonly takesStreams?: boolean;
  /** The place of the data: an address of PostgreSQL, or `:memory:`. By default the server gets a folder of its own. */
  readonly data?: string;
  /** Further settings of Plaza, as environment variables. */
  readonly settings?: Readonly<Record<string, string>>;
}

const makeFolder = (): string => mkdtempSync(join(ROOT, "plaza-bench-"));

/**
 * Plaza writes no log line for each request, because the floors write no log. A bench can set PLAZA_QUIET itself to get the log lines.
 */
const NO_REQUEST_LINES = { PLAZA_QUIET: "true" };

export async function startPlaza(options: PlazaOptions): Promise<Server> {
  const folder = options.folder ?? makeFolder();
  const worldFile = join(folder, "world.json");
  if (options.world !== undefined) writeFileSync(worldFile, JSON.stringify(options.world));
  const command = [
    ...[
      PROGRAM,
      "start",
      "--json",
      "--port",
      "0",
      "--control-port",
      "0",
      "--rtmp-port",
      options.takesStreams === true ? "0" : "off",
      "--data",
      options.data ?? dataFolder(folder),
    ],
    ...(options.world === undefined ? [] : ["--world", worldFile]),
  ];
  return start("plaza", command, folder, { ...options, settings: { ...NO_REQUEST_LINES, ...options.settings } });
}

export const dataFolder = (folder: string): string => join(folder, "data");

/** Starts `floors/<floor>.ts` with a folder for its data. The floor prints a ready line like that of Plaza. */
export async function startFloor(floor: string, options: StartOptions & { readonly given?: unknown } = {}): Promise<Server> {
  const folder = options.folder ?? makeFolder();
  return start("floor", [process.execPath, join(FLOORS, `${floor}.ts`), folder, JSON.stringify(options.given ?? null)], folder, options);
}

/**
 * Starts another program's server, which prints no ready line. The server is ready when it responds to the request `first`, and `ready_ms` is the
 * time until then.
 */
export async function startPeer(
  name: string,
  commandOf: (port: number, folder: string) => readonly string[],
  first: { readonly method: string; readonly target: string; readonly headers: Readonly<Record<string, string>>; readonly body?: string },
): Promise<Server> {
  const folder = makeFolder();
  const port = freePort();
  const command = commandOf(port, folder);
  const startedAt = performance.now();
  const { child, stop } = spawnServer(command, folder, chooseCores()?.server, "ignore", {});
  const { method, target, headers, body } = first;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}${target}`, { method, headers, ...(body === undefined ? {} : { body }) }).catch(
      () => undefined,
    );
    if (response?.ok === true) break;
    const refusal = response === undefined ? "it does not respond" : `it responds with ${response.status}: ${(await response.text()).slice(0, 500)}`;
    if (child.exitCode !== null || performance.now() - startedAt > READY_WITHIN_MS) {
      const log = await Bun.file(join(folder, "log.jsonl")).text();
      await stop();
      throw new Error(`${name} did not start (${refusal}): ${command.join(" ")}\n${log.slice(-2000)}`);
    }
    // timer: only further requests show when the server is ready.
    await Bun.sleep(5);
  }
  return { name, pid: child.pid, port, folder, ready: {}, ready_ms: performance.now() - startedAt, stop };
}

function freePort(): number {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = server;
  server.stop(true);
  return port;
}

/** Starts a server's process. Its error output is the file `log.jsonl` in its folder, which `stop` deletes. */
function spawnServer<Out extends "pipe" | "ignore">(
  command: readonly string[],
  folder: string,
  core: number | undefined,
  stdout: Out,
  settings: Readonly<Record<string, string>>,
) {
  const child = Bun.spawn([...onCore(core), ...command], {
    stdin: "ignore",
    stdout,
    // The server runs in its own folder, so that it does not read a plaza.config.yaml in the folder in which the bench was started.
    cwd: folder,
    stderr: Bun.file(join(folder, "log.jsonl")),
    env: { ...process.env, ...settings },
  });
  const stop: Server["stop"] = async ({ keepFolder = false } = {}) => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOPPED_WITHIN_MS);
    await child.exited;
    clearTimeout(timer);
    if (!keepFolder) rmSync(folder, { recursive: true, force: true });
  };
  return { child, stop };
}

async function start(
  name: string,
  command: readonly string[],
  folder: string,
  options: StartOptions & { readonly settings?: Readonly<Record<string, string>> },
): Promise<Server> {
  const cores = options.isFree === true ? undefined : chooseCores();
  const startedAt = performance.now();
  const { child, stop } = spawnServer(command, folder, cores?.server, "pipe", options.settings ?? {});
  try {
    const ready = JSON.parse(await firstLine(child.stdout)) as Record<string, unknown>;
    const ready_ms = performance.now() - startedAt;
    return { name, pid: Number(ready.pid), port: Number(new URL(String(ready.base_url)).port), folder, ready, ready_ms, stop };
  } catch (error) {
    const log = await Bun.file(join(folder, "log.jsonl")).text();
    await stop();
    throw new Error(`${name} did not start (${String(error)}): ${command.join(" ")}\n${log.slice(-2000)}`);
  }
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const late = setTimeout(() => void reader.cancel("late"), READY_WITHIN_MS);
  try {
    while (!text.includes("\n")) {
      const { done, value } = await reader.read();
      if (done) throw new Error("the server ended, or was not ready in time");
      text += decoder.decode(value, { stream: true });
    }
    return text.slice(0, text.indexOf("\n"));
  } finally {
    clearTimeout(late);
    reader.releaseLock();
  }
}

/** The setting that allows more than 5,000 labels for each page (D-40). */
export const LABELS_UNLIMITED = { PLAZA_LABELS_PER_PAGE_MAX: "100000000" };
