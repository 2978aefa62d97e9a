/** Calls at a given rate, whatever the server does meanwhile, and how long each took: what `wrk` cannot do. */
import type { Call } from "./load.ts";
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
