/** Runs `bin/plaza` as a process of its own, as a script would. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { printedBy } from "#harness/cli/printed";

export const PROGRAM = join(import.meta.dir, "../../bin/plaza");

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Ready {
  readonly base_url: string;
  readonly control_url: string;
  readonly control_key?: string;
  readonly pid: number;
  readonly [name: string]: unknown;
}

type Process = Bun.Subprocess<"ignore", "pipe", "pipe">;

const processes: Process[] = [];
const folders: string[] = [];

/**
 * Ends all processes. Each test file passes this function to its own `afterEach`: a hook that this module registers would run only for the first file
 * that loads the module.
 */
export async function endAll(): Promise<void> {
  for (const running of processes.splice(0)) {
    running.kill("SIGKILL");
    await running.exited;
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "plaza-cli-"));
  folders.push(folder);
  return folder;
}

export interface SpawnOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export function spawnPlaza(args: readonly string[], { cwd = newFolder(), env = {} }: SpawnOptions = {}): Process {
  const running = Bun.spawn([PROGRAM, ...args], {
    cwd,
    env: { PATH: process.env.PATH ?? "", ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  processes.push(running);
  return running;
}

/** Runs a command to its end. */
export async function runPlaza(args: readonly string[], options?: SpawnOptions): Promise<Ended> {
  const running = spawnPlaza(args, options);
  const [stdout, stderr, code] = await Promise.all([new Response(running.stdout).text(), new Response(running.stderr).text(), running.exited]);
  return { code, stdout, stderr };
}

const FREE_PORTS = ["--port", "0", "--control-port", "0", "--rtmp-port", "off"];

export class RunningPlaza {
  constructor(
    readonly process: Process,
    readonly ready: Ready,
    readonly rest: Promise<string>,
  ) {}

  /** Sends a signal to the process, and returns how the process ended. */
  async end(signal: NodeJS.Signals = "SIGTERM"): Promise<Ended> {
    this.process.kill(signal);
    const [stdout, stderr, code] = await Promise.all([this.rest, new Response(this.process.stderr).text(), this.process.exited]);
    return { code, stdout, stderr };
  }

  /** Sends a request to the control API. `path` is the part of the URL after the world's name. */
  async control(
    method: string,
    path: string,
    body?: unknown,
    key = this.ready.control_key,
  ): Promise<{ status: number; body: Record<string, unknown> }> {
    const response = await fetch(`${this.ready.control_url}/v1/worlds/default/${path}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  /** Sends a request of page messaging. The token, by default the demo's page token, is sent twice in the query and once in the header. */
  async page(path: string, token = "demo-page-token"): Promise<{ status: number; body: Record<string, unknown> }> {
    const address = `${this.ready.base_url}/v26.0/2001/${path}?access_token=${token}&oauth_token=${token}`;
    const response = await fetch(address, { headers: { authorization: `Bearer ${token}` } });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }
}

/** Runs `plaza start --json`, or `plaza intercept --json`, on free ports. Resolves with the ready line. */
export async function startPlaza(args: readonly string[], options?: SpawnOptions, command: "start" | "intercept" = "start"): Promise<RunningPlaza> {
  const running = spawnPlaza([command, "--json", ...FREE_PORTS, ...args], options);
  const { line, rest } = await firstLine(running);
  return new RunningPlaza(running, printedBy("start", line) as Ready, rest);
}

async function firstLine(running: Process): Promise<{ line: string; rest: Promise<string> }> {
  const reader = running.stdout.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`it ended with ${await running.exited} before it was ready: ${text}${await new Response(running.stderr).text()}`);
    text += decoder.decode(value, { stream: true });
    const end = text.indexOf("\n");
    if (end === -1) continue;
    return { line: text.slice(0, end), rest: restOf(reader, text.slice(end + 1)) };
  }
}

async function restOf(reader: { read(): Promise<{ value?: Uint8Array | undefined; done: boolean }> }, before: string): Promise<string> {
  const decoder = new TextDecoder();
  for (let text = before; ; ) {
    const { value, done } = await reader.read();
    if (done) return text;
    text += decoder.decode(value, { stream: true });
  }
}
