/**
 * Starts the programs that send webhooks, and the sink that receives the webhooks. Each program is a process of its own: senders run on one core, the
 * sink on another.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chooseCores, onCore } from "./machine.ts";

const HERE = import.meta.dir;
const ROOT = process.env.BENCH_TMP ?? tmpdir();

export interface Round {
  /** The number of POSTs per second that got a status 2xx. Plaza stores each event durably before its POST, and the result durably afterwards. */
  readonly per_second: number;
  /** The CPU time of the sender for each POST, of all its threads together. */
  readonly cpu_us: number;
}

export interface Program {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface Sender extends Program {
  /** Sends webhooks for the given time, as fast as the sender can send. */
  round(seconds: number): Promise<Round>;
}

async function start(path: string, core: number | undefined, args: readonly string[]): Promise<Program> {
  const child = Bun.spawn([...onCore(core), process.execPath, path, ...args], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const reader = child.stdout.getReader();
  let text = "";
  while (!text.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the program ${path} ended before it was ready`);
    text += new TextDecoder().decode(value);
  }
  const { base_url: url } = JSON.parse(text.split("\n", 1)[0] as string) as { base_url: string };
  return {
    url,
    pid: child.pid,
    async stop() {
      child.kill();
      await child.exited;
    },
  };
}

export const startSink = (): Promise<Program> => start(join(HERE, "sink.ts"), chooseCores()?.client, []);

/** Starts `engines/<name>.ts` or `floors/<name>.ts`. The program gets the address of the sink and a folder for its data. */
export async function startSender(kind: "engines" | "floors", name: string, sink: Program, more: readonly string[] = []): Promise<Sender> {
  const folder = mkdtempSync(join(ROOT, "plaza-bench-"));
  const program = await start(join(HERE, "..", kind, `${name}.ts`), chooseCores()?.server, [sink.url, folder, ...more]);
  return {
    ...program,
    round: async (seconds) => (await (await fetch(`${program.url}/round?seconds=${seconds}`)).json()) as Round,
    async stop() {
      await program.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface Latencies {
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly p999_ms: number;
  readonly longest_ms: number;
  readonly count: number;
}

/** Returns how long the events since the previous call took from the sender to the sink. The sender writes the time of sending into each event. */
export const latenciesAt = async (sink: Program): Promise<Latencies> => (await (await fetch(`${sink.url}/latencies`)).json()) as Latencies;
