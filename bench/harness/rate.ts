/**
 * Sends two kinds of load to a server under pressure: requests at a given rate, however slow the server is, and more requests at once than it
 * accepts.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Socket } from "bun";
import { type LoadRequest, rawRequest } from "./load.ts";
import { chooseCores, cpuMicroseconds, onCore } from "./machine.ts";
import type { Server } from "./server.ts";

export interface Rate {
  readonly requestsPerSecond: number;
  readonly seconds: number;
}

export interface RateSample {
  readonly requests: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly p999_ms: number;
  readonly longest_ms: number;
}

/**
 * The interval at which due requests are sent as a group. A timer fires late by at least this interval, so requests are not sent one by one.
 */
const TICK_MS = 2;

/**
 * Sends requests at a given rate. Throws if a response is not 200. The time of a request begins when the request is due, so that a stall of the
 * server counts for all requests that wait during the stall. The function writes to sockets itself, because an HTTP client needs more CPU than the
 * server.
 */
export async function atRate(server: Server, request: LoadRequest, { requestsPerSecond, seconds }: Rate): Promise<RateSample> {
  const total = Math.floor(requestsPerSecond * seconds);
  const senders = new Senders(server, request);
  const startedAt = performance.now();
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.ceil(((performance.now() - startedAt) / 1000) * requestsPerSecond));
    for (; sent < due; sent++) senders.send(sent, startedAt + (sent / requestsPerSecond) * 1000);
    await Bun.sleep(TICK_MS);
  }
  await senders.end(total);
  const times = senders.times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { requests: times.length, p50_ms: at(0.5), p99_ms: at(0.99), p999_ms: at(0.999), longest_ms: at(1) };
}

const OK = Buffer.from("HTTP/1.1 200 ");
const TICKS_MAX = 15_000;
/** The greatest number of connections. If all connections are in use, a due request waits for one, and the wait is part of the measured time. */
const LINES_MAX = 1_000;

interface Line {
  dueMs: number;
}

/** The connections of the senders. Each connection has one request at a time; a request uses a free connection, or opens a new one. */
class Senders {
  readonly #server: Server;
  readonly #parts: readonly string[];
  /** Returns the number in the request that is sent at this place. */
  readonly #numberOf: (index: number) => number;
  readonly #free: Socket<Line>[] = [];
  readonly #lines: Promise<Socket<Line>>[] = [];
  readonly #waiting: { readonly text: string; readonly dueMs: number }[] = [];
  #problem: Error | undefined;
  readonly times: number[] = [];

  constructor(server: Server, request: LoadRequest) {
    this.#server = server;
    this.#parts = rawRequest(request, server.port).split("{number}");
    const { number } = request;
    this.#numberOf = (index) => (number?.first ?? 0) + (number?.kind === "random" ? Math.floor(Math.random() * number.amount) : index);
  }

  send(index: number, dueMs: number): void {
    this.#waiting.push({ text: this.#parts.join(String(this.#numberOf(index)).padStart(8, "0")), dueMs });
    const free = this.#free.pop();
    if (free !== undefined) this.#sendNext(free);
    else if (this.#lines.length < LINES_MAX) this.#lines.push(this.#open());
  }

  /** Waits for all responses. Throws if a request's connection broke, or if a response took more than half a minute. */
  async end(total: number): Promise<void> {
    for (let ticks = 0; this.times.length < total && this.#problem === undefined && ticks < TICKS_MAX; ticks++) await Bun.sleep(TICK_MS);
    for (const line of this.#lines) (await line).end();
    if (this.#problem !== undefined) throw this.#problem;
    if (this.times.length < total) throw new Error(`${this.#server.name}: of ${total} requests ${this.times.length} got a response`);
  }

  #sendNext(line: Socket<Line>): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#free.push(line);
      return;
    }
    line.data.dueMs = next.dueMs;
    line.write(next.text);
  }

  #open(): Promise<Socket<Line>> {
    return Bun.connect<Line>({
      hostname: "127.0.0.1",
      port: this.#server.port,
      data: { dueMs: 0 },
      socket: {
        open: (line) => this.#sendNext(line),
        // A response has some hundred bytes, so it arrives in one piece.
        data: (line, bytes) => {
          if (!bytes.subarray(0, OK.length).equals(OK)) this.#problem ??= new Error(`${this.#server.name}: ${bytes.toString("latin1")}`);
          this.times.push(performance.now() - line.data.dueMs);
          this.#sendNext(line);
        },
        // The server closes a connection that was opened for a request which another connection then took.
        close: (line) => {
          const at = this.#free.indexOf(line);
          if (at !== -1) this.#free.splice(at, 1);
        },
        error: (_line, error) => {
          this.#problem ??= error;
        },
      },
    });
  }
}

export interface Crowd {
  readonly taken_per_second: number;
  readonly refused_per_second: number;
  /** The CPU time of the server for each accepted request. The CPU time that the server spends on refused requests is included. */
  readonly cpu_us: number;
  /** The median time of all responses. */
  readonly p50_ms: number;
}

/** The time limit of a response, which is longer than the wait that `Retry-After` asks for. */
const RESPONSE_WITHIN = "60s";

/**
 * Sends load as `applyLoad` does, but the server may refuse requests. Throws if a request's connection broke, or if the server accepted no
 * request.
 */
export async function crowd(
  server: Server,
  request: LoadRequest,
  { connections, seconds }: { connections: number; seconds: number },
): Promise<Crowd> {
  const file = join(server.folder, "crowd.txt");
  writeFileSync(file, rawRequest(request, server.port));
  const script = join(import.meta.dir, "load.lua");
  const times = ["-d", `${seconds}s`, "--timeout", RESPONSE_WITHIN, "--latency", "-s", script, `http://127.0.0.1:${server.port}/`];
  const before = cpuMicroseconds(server.pid);
  const client = Bun.spawn(
    [
      ...onCore(chooseCores()?.client),
      "wrk",
      "-t",
      "1",
      "-c",
      `${connections}`,
      ...times,
      "--",
      file,
      "counted",
      `${request.number?.first ?? 0}`,
      "0",
      "0",
    ],
    { stdin: "ignore", stdout: "ignore", stderr: "pipe" },
  );
  const [summary] = await Promise.all([client.stderr.text(), client.exited]);
  const cpu = cpuMicroseconds(server.pid) - before;
  rmSync(file, { force: true });
  const { requests, duration_us, p50_us, refused, broken } = JSON.parse(summary) as WrkSummary;
  const taken = requests - refused;
  if (broken > 0 || taken === 0)
    throw new Error(`${server.name}: ${requests} requests were sent, ${refused} were refused, and ${broken} lost their connection`);
  const perSecond = 1e6 / duration_us;
  return { taken_per_second: taken * perSecond, refused_per_second: refused * perSecond, cpu_us: cpu / taken, p50_ms: p50_us / 1000 };
}

/** The summary that `load.lua` prints. */
interface WrkSummary {
  readonly requests: number;
  readonly duration_us: number;
  readonly p50_us: number;
  readonly refused: number;
  readonly broken: number;
}
