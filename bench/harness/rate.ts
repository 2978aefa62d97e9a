/** Loads for which a server is not made: calls at a given rate, whatever it does meanwhile, and more senders than it takes. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Call, rawRequest } from "./load.ts";
import { chooseCores, cpuMicroseconds, onCore } from "./machine.ts";
import type { Server } from "./server.ts";

export interface Rate {
  readonly callsPerSecond: number;
  readonly seconds: number;
}

export interface RateSample {
  readonly calls: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
}

/** A timer comes this late at best, so calls are sent in small groups. */
const TICK_MS = 2;

/** Throws when a call is not answered 200. A call's time begins when it is due, so that a stall counts for all that wait in it. */
export async function atRate(server: Server, call: Call, { callsPerSecond, seconds }: Rate): Promise<RateSample> {
  const total = Math.floor(callsPerSecond * seconds);
  const times: number[] = [];
  const open: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.ceil(((performance.now() - startedAt) / 1000) * callsPerSecond));
    for (; sent < due; sent++) open.push(send(server, call, sent, startedAt + (sent / callsPerSecond) * 1000, times));
    await Bun.sleep(TICK_MS);
  }
  await Promise.all(open);
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { calls: times.length, p50_ms: at(0.5), p99_ms: at(0.99) };
}

async function send(server: Server, call: Call, index: number, dueMs: number, times: number[]): Promise<void> {
  const number = String((call.number?.first ?? 0) + index).padStart(8, "0");
  const put = (text: string): string => text.replaceAll("{number}", number);
  const response = await fetch(`http://127.0.0.1:${server.port}${put(call.target)}`, {
    method: call.method,
    headers: call.headers,
    ...(call.body === undefined ? {} : { body: put(call.body) }),
  });
  if (response.status !== 200) throw new Error(`${server.name} answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
  times.push(performance.now() - dueMs);
}

export interface Crowd {
  readonly taken_per_second: number;
  readonly refused_per_second: number;
  /** CPU time of the server for each call taken, those refused included. */
  readonly cpu_us: number;
  /** Of all answers. */
  readonly p50_ms: number;
}

/** Longer than a sender may be told to wait. */
const ANSWER_WITHIN = "60s";

/** Like `applyLoad`, but calls may be refused. Throws when one broke, or none was taken. */
export async function crowd(server: Server, call: Call, { connections, seconds }: { connections: number; seconds: number }): Promise<Crowd> {
  const file = join(server.folder, "crowd.txt");
  writeFileSync(file, rawRequest(call, server.port));
  const script = join(import.meta.dir, "load.lua");
  const times = ["-d", `${seconds}s`, "--timeout", ANSWER_WITHIN, "--latency", "-s", script, `http://127.0.0.1:${server.port}/`];
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
      `${call.number?.first ?? 0}`,
      "0",
      "0",
    ],
    { stdin: "ignore", stdout: "ignore", stderr: "pipe" },
  );
  const [told] = await Promise.all([client.stderr.text(), client.exited]);
  const cpu = cpuMicroseconds(server.pid) - before;
  rmSync(file, { force: true });
  const { calls, duration_us, p50_us, refused, broken } = JSON.parse(told) as Told;
  const taken = calls - refused;
  if (broken > 0 || taken === 0) throw new Error(`${server.name}: of ${calls} calls ${refused} were refused and ${broken} broke`);
  const perSecond = 1e6 / duration_us;
  return { taken_per_second: taken * perSecond, refused_per_second: refused * perSecond, cpu_us: cpu / taken, p50_ms: p50_us / 1000 };
}

/** What `load.lua` says. */
interface Told {
  readonly calls: number;
  readonly duration_us: number;
  readonly p50_us: number;
  readonly refused: number;
  readonly broken: number;
}
