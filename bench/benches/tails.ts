import { latenciesAt, startSender, startSink } from "../harness/deliveries.ts";
import { applyLoad } from "../harness/load.ts";
import { startPostgres } from "../harness/postgres.ts";
import { atRate } from "../harness/rate.ts";
import type { Absolute, Bench, Metric } from "../harness/report.ts";
import { LABELS_UNLIMITED, type Server, startPlaza } from "../harness/server.ts";
import { type Spread, spreadOf } from "../harness/statistics.ts";
import { type Work, works } from "../harness/works.ts";

const CONNECTIONS = 64;
const WARM_UP_SECONDS = 8;
/** The duration of the load at half of the full rate, which is long enough to contain garbage collections, checkpoints and growing indexes. */
const HALF_LOAD_SECONDS = 30;
/** The time limit for the arrival of deliveries that are still on their way when the load ends. */
const REST_MS = 500;
/** A request is slow if it takes more than this multiple of the usual time, and more than a number of milliseconds. */
const TIMES_USUAL = 4;
const LATE_MS = 10;
const HOLD_MS = 50;

interface Tail {
  readonly perSecond: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly p999_ms: number;
  readonly longest_ms: number;
  /**
   * The longest time for which one task blocked the server's event loop, with the name of the task; undefined if no task blocked the loop for
   * 50 ms.
   */
  readonly hold: { readonly work: string; readonly ms: number } | undefined;
}

export const bench: Bench = {
  summary: `Slow requests: each kind of request at half of the rate that the server reaches, for ${HALF_LOAD_SECONDS} s, on SQLite and on PostgreSQL. The time of a request counts from the moment at which the request is due, so a stall of the server adds to the time of every request that waits during the stall.`,
  async run({ rounds, seconds }) {
    const metrics: Metric[] = [];
    const absolute: Absolute[] = [];
    const postgres = await startPostgres();
    const add = async (name: string, measure: () => Promise<Tail>): Promise<void> => {
      const tails: Tail[] = [];
      for (let round = 0; round < rounds; round++) tails.push(await measure());
      report(name, tails, metrics, absolute);
    };
    try {
      for (const work of works) {
        await add(`${work.name}, SQLite`, () => tailOf(work, undefined, seconds));
        await add(`${work.name}, PostgreSQL`, async () => tailOf(work, await postgres.newDatabase(), seconds));
      }
      await add("webhooks, SQLite", () => tailOfWebhooks([], seconds));
      await add("webhooks, PostgreSQL", async () => tailOfWebhooks([await postgres.newDatabase()], seconds));
    } finally {
      await postgres.stop();
    }
    return { metrics, absolute };
  },
};

function report(name: string, tails: readonly Tail[], metrics: Metric[], absolute: Absolute[]): void {
  const over = (value: (tail: Tail) => number): Spread => spreadOf(tails.map(value));
  metrics.push(
    { name: `${name}: p99 divided by p50`, ...over(({ p50_ms, p99_ms }) => p99_ms / p50_ms), goal: { at_most: TIMES_USUAL } },
    { name: `${name}: p99`, unit: "ms", ...over(({ p99_ms }) => p99_ms), goal: { at_most: LATE_MS } },
  );
  for (const [what, value] of Object.entries(absolutes)) absolute.push({ name: `${name}: ${what}`, unit: "ms", ...over(value) });
  absolute.push({ name: `${name}: half of the full rate`, unit: "/s", ...over(({ perSecond }) => perSecond) });
  const longest = tails.flatMap(({ hold }) => hold ?? []).toSorted((one, other) => other.ms - one.ms)[0];
  const held = longest === undefined ? "" : ` by ${longest.work}`;
  metrics.push({ name: `${name}: longest hold of the loop${held}`, unit: "ms", ...over(({ hold }) => hold?.ms ?? 0), goal: { at_most: HOLD_MS } });
}

const absolutes = {
  p50: ({ p50_ms }: Tail) => p50_ms,
  "p99.9": ({ p999_ms }: Tail) => p999_ms,
  longest: ({ longest_ms }: Tail) => longest_ms,
};

async function tailOf(work: Work, data: string | undefined, seconds: number): Promise<Tail> {
  const server = await startPlaza({ world: work.world, settings: LABELS_UNLIMITED, ...(data === undefined ? {} : { data }) });
  try {
    await applyLoad(server, work.requestOf(0), { connections: CONNECTIONS, requests: work.warmUp });
    const full = await applyLoad(server, work.requestOf(1), { connections: CONNECTIONS, seconds });
    const perSecond = full.requests_per_second / 2;
    const half = await atRate(server, work.requestOf(2), { requestsPerSecond: perSecond, seconds: HALF_LOAD_SECONDS });
    return { ...half, perSecond, hold: await longestHold(server) };
  } finally {
    await server.stop();
  }
}

async function tailOfWebhooks(data: readonly string[], seconds: number): Promise<Tail> {
  const sink = await startSink();
  const busy = await startSender("engines", "webhooks", sink, data);
  try {
    await busy.round(WARM_UP_SECONDS);
    const perSecond = Math.floor((await busy.round(seconds)).per_second / 2);
    await busy.stop();
    const paced = await startSender("engines", "webhooks", sink, data);
    try {
      for (const length of [WARM_UP_SECONDS, HALF_LOAD_SECONDS]) {
        await latenciesAt(sink);
        await fetch(`${paced.url}/pace?seconds=${length}&per_second=${perSecond}`);
        await Bun.sleep(REST_MS);
      }
      return { ...(await latenciesAt(sink)), perSecond, hold: undefined };
    } finally {
      await paced.stop();
    }
  } finally {
    await sink.stop();
  }
}

/** Reads the metrics page, which counts how often each kind of work blocked the event loop for 50 ms or more. */
async function longestHold({ ready }: Server): Promise<Tail["hold"]> {
  const page = await (await fetch(`${ready.control_url}/metrics`, { headers: { authorization: `Bearer ${ready.control_key}` } })).text();
  const holds = [...page.matchAll(/^plaza_event_loop_longest_hold_seconds\{(.*)\} (.+)$/gm)].map(([, labels = "", value]) => ({
    work: /work="([^"]*)"/.exec(labels)?.[1] ?? labels,
    ms: Number(value) * 1_000,
  }));
  return holds.toSorted((one, other) => other.ms - one.ms)[0];
}
