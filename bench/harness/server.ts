/** Servers under measurement, each a process of its own on the server's core: Plaza, and floors. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chooseCores, onCore } from "./machine.ts";

const HERE = import.meta.dir;
const PROGRAM = join(HERE, "..", "..", "bin", "plaza");
const FLOORS = join(HERE, "..", "floors");
/** Data is put below this folder; set it to compare disks. */
const ROOT = process.env.BENCH_TMP ?? tmpdir();
const READY_WITHIN_MS = 60_000;
/** Running requests end within 10 s of SIGTERM; after that something hangs. */
const STOPPED_WITHIN_MS = 15_000;

export interface Server {
  readonly name: string;
  readonly pid: number;
  readonly port: number;
  /** Its own, with its data; gone when it has stopped. */
  readonly folder: string;
  /** The line it wrote when it was ready. */
  readonly ready: Readonly<Record<string, unknown>>;
  /** From the start of the process to its ready line. */
  readonly ready_ms: number;
  stop(options?: { readonly keepFolder?: boolean }): Promise<void>;
}

export interface StartOptions {
  /** A folder of an earlier server, to start on its data. */
  readonly folder?: string;
  /** Not held to one core, as for somebody who just starts it. */
  readonly isFree?: boolean;
}

export interface PlazaOptions extends StartOptions {
  /** The world file; left out if there are data already. */
  readonly world?: unknown;
  /** Encoders can connect, on a free port. */
  readonly takesStreams?: boolean;
  /** An address of PostgreSQL, or `:memory:`; a folder of its own where it is left out. */
  readonly data?: string;
  /** Further settings, as environment variables. */
  readonly settings?: Readonly<Record<string, string>>;
}

const makeFolder = (): string => mkdtempSync(join(ROOT, "plaza-bench-"));

/** Floors write no log, so neither does Plaza for each request. A setting of a bench turns the lines on again. */
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

/** `floors/<floor>.ts`, given a folder to put its data in; it prints the same kind of ready line. */
export async function startFloor(floor: string, options: StartOptions & { readonly given?: unknown } = {}): Promise<Server> {
  const folder = options.folder ?? makeFolder();
  return start("floor", [process.execPath, join(FLOORS, `${floor}.ts`), folder, JSON.stringify(options.given ?? null)], folder, options);
}

async function start(
  name: string,
  command: readonly string[],
  folder: string,
  options: StartOptions & { readonly settings?: Readonly<Record<string, string>> },
): Promise<Server> {
  const cores = options.isFree === true ? undefined : chooseCores();
  const startedAt = performance.now();
  const child = Bun.spawn([...onCore(cores?.server), ...command], {
    stdin: "ignore",
    stdout: "pipe",
    // A plaza.config.yaml of the folder that the bench is started in is not meant.
    cwd: folder,
    stderr: Bun.file(join(folder, "log.jsonl")),
    env: { ...process.env, ...options.settings },
  });
  const stop: Server["stop"] = async ({ keepFolder = false } = {}) => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOPPED_WITHIN_MS);
    await child.exited;
    clearTimeout(timer);
    if (!keepFolder) rmSync(folder, { recursive: true, force: true });
  };
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
      if (done) throw new Error("it ended, or was not ready in time");
      text += decoder.decode(value, { stream: true });
    }
    return text.slice(0, text.indexOf("\n"));
  } finally {
    clearTimeout(late);
    reader.releaseLock();
  }
}

/** D-40's limit of 5,000 labels a page, out of the way. */
export const LABELS_UNLIMITED = { PLAZA_LABELS_PER_PAGE_MAX: "100000000" };
