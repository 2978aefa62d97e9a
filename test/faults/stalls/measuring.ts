/**
 * Sends loads to a server process while another process sends it requests. Measures whether the server stalls, by the server's own metrics and by the
 * response times of the requests of another process. The delays of the machine itself are measured too, so that the server is not blamed for them.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { afterThisTest } from "#harness/cleanup";
import type { DatabaseKind } from "#harness/databases";
import { childrenOf } from "#harness/processes/children";
import type { Server } from "#harness/server";
import type { Load } from "./load.ts";
import type { Probed, ProberOptions } from "./prober.ts";

/** The goals: the longest hold of the event loop and the times of 99 of 100 requests, in milliseconds, and memory in MB. */
const GOALS = { hold: 50, health: 100, app: 50, encoder: 100, memory: 512 } as const;
type Goal = keyof typeof GOALS;
const KINDS = Object.keys(GOALS) as readonly Goal[];

/** The length of a measurement, which is enough for about twenty requests of each type. */
const WINDOW_MS = 200;
/** The number of tries for a load that misses a goal. The server counts as the cause only if the load misses the goal at every try. */
const TRIES_MAX = 6;
/** The greatest number of times that one load is sent. A load that takes longer than the measurement is sent only twice. */
const SENDS_MAX = 12;

export interface Measured {
  readonly work: string;
  readonly shape: string;
  readonly ends: string;
  /** The durations of the first and of the second sending of a load. */
  readonly sentMs: readonly number[];
  readonly values: Readonly<Record<Goal, number>>;
  /** The longest time of a request to the idle server, which shows the delays of the machine itself. */
  readonly noise: number;
  readonly over: readonly Goal[];
  readonly tries: number;
  readonly refused: readonly string[];
}

const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor(part * values.length)] ?? 0;
const most = (values: readonly number[]): number => Math.max(0, ...values);

function spawned<T>(program: string, argument: string): { ask(): Promise<T> } {
  let answered = Promise.withResolvers<T>();
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/${program}`, argument], {
    stdio: ["ignore", "inherit", "inherit"],
    ipc: (message) => answered.resolve(message as T),
  });
  afterThisTest(async () => {
    child.kill("SIGKILL");
    await child.exited;
  });
  return {
    ask() {
      answered = Promise.withResolvers();
      child.send("ask");
      return answered.promise;
    },
  };
}

/** The peak memory of a process since the previous call, in MB. */
function peakMemory(pid: number): number {
  try {
    const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1_024;
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
    return peak;
  } catch {
    // The child process has ended meanwhile.
    return 0;
  }
}

/** The longest time for which the event loop was held, by the server's log, after the first `from` reports of such holds. */
async function holdsOf(server: Server, from: number): Promise<{ longestMs: number; until: number }> {
  const total = async (): Promise<number> => {
    const text = await (await fetch(`${server.control_url}/metrics`, { headers: { connection: "close" } })).text();
    return [...text.matchAll(/^plaza_event_loop_holds_total\{.*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);
  };
  const count = await total();
  const held = (): number[] =>
    server.log.filter((line) => line.includes("blocked the event loop")).map((line) => (JSON.parse(line) as { ms: number }).ms);
  // The server's log arrives through a pipe, so its lines may be late.
  while (held().length < count) await Bun.sleep(1);
  return { longestMs: most(held().slice(from)), until: count };
}

export class Measuring {
  readonly #server: Server;
  readonly #database: DatabaseKind;
  readonly #prober: ReturnType<typeof spawned<Probed>>;
  #holds = 0;

  private constructor(server: Server, database: DatabaseKind, prober: ReturnType<typeof spawned<Probed>>) {
    this.#server = server;
    this.#database = database;
    this.#prober = prober;
  }

  /** `idle` is a server like the measured one, with the same kind of database, that nobody loads. */
  static async begin(server: Server, idle: Server, database: DatabaseKind, rtmpPort?: number): Promise<Measuring> {
    const { pid, base_url, control_url } = server;
    const options: ProberOptions = { pid, base_url, control_url, rtmp_port: rtmpPort, idle_base_url: idle.base_url };
    const measuring = new Measuring(server, database, spawned<Probed>("prober.ts", JSON.stringify(options)));
    // The first requests wait for the compilers of the runtime, so their times are not measured.
    await Bun.sleep(500);
    await measuring.#prober.ask();
    return measuring;
  }

  /** Measures a load. Throws if the server does not respond any more. */
  async measure(load: Load): Promise<Measured> {
    return await this.#best(load).catch((error: unknown) => {
      throw new Error(`${load.work}, ${load.shape}: ${error}\n${this.#server.log.slice(-5).join("\n")}`);
    });
  }

  async #best(load: Load): Promise<Measured> {
    let best = await this.#try(load, 1);
    while (best.over.length > 0 && best.tries < TRIES_MAX) {
      const next = await this.#try(load, best.tries + 1);
      const values = Object.fromEntries(KINDS.map((kind) => [kind, Math.min(best.values[kind], next.values[kind])])) as Record<Goal, number>;
      best = { ...next, values, over: best.over.filter((kind) => next.over.includes(kind)), sentMs: best.sentMs };
    }
    return best;
  }

  async #try({ work, shape, send, isLongWrite = false }: Load, tries: number): Promise<Measured> {
    const server = this.#server;
    await this.#prober.ask();
    for (const pid of [server.pid, ...childrenOf(server.pid)]) peakMemory(pid);
    const beganMs = performance.now();
    const sentMs: number[] = [];
    const ends = new Set<string>();
    do {
      const sendingMs = performance.now();
      ends.add(await send(server).catch((error) => String(error)));
      sentMs.push(performance.now() - sendingMs);
    } while (sentMs.length < 2 || (performance.now() - beganMs < WINDOW_MS && sentMs.length < SENDS_MAX));
    await Bun.sleep(Math.max(0, WINDOW_MS / 2 - (performance.now() - beganMs)));
    const { longestMs, until } = await holdsOf(server, this.#holds);
    this.#holds = until;
    const { health, reads, writes, encoder, idle, refused } = await this.#prober.ask();
    const memory = peakMemory(server.pid);
    const app = isLongWrite && this.#database === "sqlite" ? reads : [...reads, ...writes];
    const values = { hold: longestMs, health: most(health), app: quantile(app, 0.99), encoder: most(encoder), memory };
    const noise = most(idle);
    // Delays of the machine, of its disk and of its database do not count against the server. The time for which the event loop is held is measured
    // in CPU time, so delays of the machine change neither this time nor the memory.
    const allowed = { ...GOALS, health: GOALS.health + noise, app: GOALS.app + noise, encoder: GOALS.encoder + noise };
    const over = KINDS.filter((kind) => values[kind] > allowed[kind]);
    return { work, shape, ends: [...ends].join(" "), sentMs: sentMs.slice(0, 2), values, noise, over, tries, refused };
  }
}

const ROWS_SHOWN = 25;

/** A table of the loads with the worst values. */
export function tableOf(all: readonly Measured[]): string {
  const score = ({ values }: Measured): number => Math.max(...KINDS.map((kind) => values[kind] / GOALS[kind]));
  const shown = all.toSorted((one, other) => score(other) - score(one)).slice(0, ROWS_SHOWN);
  const head = ["work", "shape", "end", "sent (ms)", "hold", "health", "app p99", "encoder", "noise", "MB", "over"];
  const lines = shown.map(({ work, shape, ends, sentMs, values, noise, over }) => [
    ...[work, shape, ends.slice(0, 30), sentMs.map((ms) => ms.toFixed(0)).join(", ")],
    ...[values.hold, values.health, values.app, values.encoder, noise, values.memory].map((value) => value.toFixed(0)),
    over.join(" "),
  ]);
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
