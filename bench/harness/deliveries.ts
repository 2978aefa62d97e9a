/** Programs that send webhooks, and the sink that takes them: each a process of its own, senders on one core, the sink on the other. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chooseCores, onCore } from "./machine.ts";

const HERE = import.meta.dir;
const ROOT = process.env.BENCH_TMP ?? tmpdir();

export interface Round {
  /** POSTs that got a 2xx; for Plaza, their events were durable before, and their results are durable after. */
  readonly per_second: number;
  /** Of all threads of the sender. */
  readonly cpu_us: number;
}

export interface Program {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface Sender extends Program {
  /** Sends for this time, as fast as it can. */
  round(seconds: number): Promise<Round>;
}

async function start(path: string, core: number | undefined, args: readonly string[]): Promise<Program> {
  const child = Bun.spawn([...onCore(core), process.execPath, path, ...args], { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const reader = child.stdout.getReader();
  let text = "";
  while (!text.includes("\n")) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`${path} ended before it was ready`);
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

/** `engines/<name>.ts` or `floors/<name>.ts`, given where the sink is and a folder for its data. */
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
  readonly count: number;
}

/** From the moment that the sender wrote into the event to its arrival, since the last time this was asked. */
export const latenciesAt = async (sink: Program): Promise<Latencies> => (await (await fetch(`${sink.url}/latencies`)).json()) as Latencies;
