import { CONNECTIONS, eventsRequest, eventsWorld, REQUESTS_PER_ROUND } from "../../harness/events.ts";
import { peakMegabytes } from "../../harness/machine.ts";
import { type Crowd, crowd } from "../../harness/rate.ts";
import type { Bench, Result } from "../../harness/report.ts";
import { type Server, startPlaza } from "../../harness/server.ts";
import { spreadOf } from "../../harness/statistics.ts";

const TIMES = 3;
/** The factor by which this bench runs longer than other benches, because each run first opens thousands of connections. */
const LONGER = 4;
/** The default number of requests that the server handles at once (`calls_max`). */
const REQUESTS_TAKEN = 1_024;
/**
 * The limit for the sum of all request bodies in memory, in bytes. If the bodies exceed the limit, the server handles fewer requests at once
 * (`callBytesMax`).
 */
const BYTES_TAKEN = 2_097_152;

export const bench: Bench = {
  summary: `\`POST /v26.0/{app}/activities\`: compares two crowds of senders. ${CONNECTIONS} senders keep the server busy, and none of their requests is refused. The other crowd has ${TIMES} times as many senders as the server handles requests at once, and its senders ignore \`Retry-After\`. Measures the accepted requests of both crowds, and the memory of the server.`,
  async run({ rounds, seconds }) {
    const results: Result[] = [];
    for (const events of [1, 50]) {
      const plaza = await startPlaza({ world: eventsWorld });
      try {
        results.push(await measure(plaza, events, rounds, seconds));
      } finally {
        await plaza.stop();
      }
    }
    return { metrics: results.flatMap(({ metrics }) => metrics), absolute: results.flatMap(({ absolute }) => absolute) };
  },
};

/**
 * The limit of the server's memory in megabytes. The limit is the sum of three amounts: the accepted requests, which take about ten times their bytes
 * when they are parsed, and as much again until the garbage is collected; the bodies that are still arriving (128 MiB, `arrivingBytesMax`); and about
 * 250 MB without load.
 */
const MEGABYTES_MAX = 768;

interface Round {
  readonly usual: Crowd;
  readonly crowded: Crowd;
}

async function measure(plaza: Server, events: number, rounds: number, seconds: number): Promise<Result> {
  const bytes = Buffer.byteLength(eventsRequest(events, 1).body ?? "");
  const senders = TIMES * Math.min(REQUESTS_TAKEN, Math.ceil(BYTES_TAKEN / bytes));
  let used = 0;
  const load = (connections: number) =>
    crowd(plaza, eventsRequest(events, 1 + used++ * REQUESTS_PER_ROUND), { connections, seconds: LONGER * seconds });
  const round = async (): Promise<Round> => {
    const usual = await load(CONNECTIONS);
    return { usual, crowded: await load(senders) };
  };
  // The first round warms up the server and is not measured.
  await round();
  const done: Round[] = [];
  while (done.length < rounds) done.push(await round());
  const over = (metric: (one: Round) => number) => spreadOf(done.map(metric));
  const [of, crowdOf] = [`of ${events}`, `${senders} senders, requests of ${events}`];
  return {
    metrics: [
      {
        name: `accepted requests/s ${of} (${senders} senders divided by ${CONNECTIONS})`,
        ...over(({ usual, crowded }) => crowded.taken_per_second / usual.taken_per_second),
        goal: { at_least: 0.9 },
      },
      {
        name: `CPU time per accepted request ${of} (${CONNECTIONS} senders divided by ${senders})`,
        ...over(({ usual, crowded }) => usual.cpu_us / crowded.cpu_us),
      },
      { name: `memory at its peak, requests ${of}`, unit: "MB", ...spreadOf([peakMegabytes(plaza.pid)]), goal: { at_most: MEGABYTES_MAX } },
    ],
    absolute: [
      { name: `${CONNECTIONS} senders, requests ${of}: taken`, unit: "/s", ...over(({ usual }) => usual.taken_per_second) },
      { name: `${crowdOf}: taken`, unit: "/s", ...over(({ crowded }) => crowded.taken_per_second) },
      { name: `${crowdOf}: refused`, unit: "/s", ...over(({ crowded }) => crowded.refused_per_second) },
      { name: `${crowdOf}: p50`, unit: "ms", ...over(({ crowded }) => crowded.p50_ms) },
    ],
  };
}
