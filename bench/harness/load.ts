/**
 * Sends requests with wrk, which runs in a process of its own. wrk needs about 5 µs of CPU for a request, so the server is what the bench measures.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chooseCores, cpuMicroseconds, onCore } from "./machine.ts";
import type { Server } from "./server.ts";

const SCRIPT = join(import.meta.dir, "load.lua");
/** The longest time that wrk runs. wrk requires a time; if a number of requests ends the run, this time only has to be longer than the run. */
const SECONDS_MAX = 600;
const RESPONSE_WITHIN = "30s";

export interface LoadRequest {
  readonly method: "GET" | "POST";
  /**
   * The path and query of the request. Each `{number}` in the path, the query and the body is replaced by the eight digits of the request's number.
   */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** How the number of a request is chosen: by counting up from `first`, or at random among `amount` numbers from `first`. */
  readonly number?:
    | { readonly kind: "counted"; readonly first: number }
    | { readonly kind: "random"; readonly first: number; readonly amount: number };
}

export interface Load {
  readonly connections: number;
  readonly seconds?: number;
  /** The number of responses that ends the run, instead of `seconds`. If this number is set, the sample has no percentiles. */
  readonly requests?: number;
}

export interface Sample {
  readonly requests: number;
  readonly requests_per_second: number;
  /** The CPU time of the server's process for each request, in µs. */
  readonly server_cpu_us: number;
  readonly client_cpu_us: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
}

interface WrkSummary {
  readonly requests: number;
  readonly duration_us: number;
  readonly p50_us: number;
  readonly p99_us: number;
  readonly refused: number;
  readonly broken: number;
}

/** Returns the bytes of a request. */
export function rawRequest({ method, target, headers, body }: LoadRequest, port: number): string {
  const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body.replaceAll("{number}", "00000000"))) };
  const lines = Object.entries({ Host: `127.0.0.1:${port}`, ...headers, ...length }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n${body ?? ""}`;
}

/**
 * Sends requests to a server and measures it. Throws if a request was refused or its connection broke, because the speed of a server that returns
 * only errors means nothing.
 */
export async function applyLoad(server: Server, request: LoadRequest, load: Load): Promise<Sample> {
  const file = join(server.folder, "request.txt");
  writeFileSync(file, rawRequest(request, server.port));
  const { number } = request;
  const numbers = [number?.kind ?? "fixed", number?.first ?? 0, number?.kind === "random" ? number.amount : 0, load.requests ?? 0].map(String);
  const times = ["-d", `${load.seconds ?? SECONDS_MAX}s`, "--timeout", RESPONSE_WITHIN, "--latency"];
  const before = cpuMicroseconds(server.pid);
  const client = Bun.spawn(
    [
      ...onCore(chooseCores()?.client),
      "wrk",
      ...["-t", "1", "-c", String(load.connections), ...times, "-s", SCRIPT, `http://127.0.0.1:${server.port}/`, "--", file, ...numbers],
    ],
    { stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  );
  const [out, err] = await Promise.all([client.stdout.text(), client.stderr.text(), client.exited]);
  const serverCpu = cpuMicroseconds(server.pid) - before;
  rmSync(file, { force: true });
  const summary = readSummary(err, out);
  if (summary.refused > 0 || summary.broken > 0) {
    throw new Error(
      `${server.name}: ${summary.requests} requests were sent, ${summary.refused} were refused, and ${summary.broken} lost their connection`,
    );
  }
  return {
    requests: summary.requests,
    requests_per_second: summary.requests / (summary.duration_us / 1e6),
    server_cpu_us: serverCpu / summary.requests,
    client_cpu_us: Number(client.resourceUsage()?.cpuTime.total ?? 0) / summary.requests,
    p50_ms: summary.p50_us / 1000,
    p99_ms: summary.p99_us / 1000,
  };
}

function readSummary(err: string, out: string): WrkSummary {
  const line = err
    .trim()
    .split("\n")
    .find((text) => text.startsWith("{"));
  if (line === undefined) throw new Error(`wrk printed no summary:\n${out}${err}`);
  return JSON.parse(line) as WrkSummary;
}

/** Installs wrk if it is missing; throws an error that says what to install if this fails. Returns the version of wrk. */
export async function prepareClient(): Promise<string> {
  if (Bun.which("wrk") === null) {
    if (process.getuid?.() !== 0 || Bun.which("apt-get") === null)
      throw new Error("the benches need wrk: install it with the system's package manager");
    const install = Bun.spawn(["apt-get", "install", "--yes", "--no-install-recommends", "wrk"], { stdout: "ignore", stderr: "inherit" });
    if ((await install.exited) !== 0) throw new Error("wrk could not be installed with apt-get");
  }
  const version = Bun.spawn(["wrk", "--version"], { stdout: "pipe", stderr: "pipe" });
  return /wrk (?:debian\/)?(\S+)/.exec(await version.stdout.text())?.[1] ?? "unknown";
}
