import { CONNECTIONS, eventsRequest, eventsWorld } from "../../harness/events.ts";
import { applyLoad, type Sample } from "../../harness/load.ts";
import type { Bench, Result } from "../../harness/report.ts";
import { type Server, startPlaza } from "../../harness/server.ts";
import { spreadOf } from "../../harness/statistics.ts";

const STORED = 5_000_000;
const EVENTS_PER_REQUEST = 50;
/**
 * The stages are counted in requests, not in time. Because of the few requests, the server that began without events has only a million events at
 * the end of the bench.
 */
const STAGES = [
  { events: 1, warmUpRequests: 50_000, requests: 20_000 },
  { events: EVENTS_PER_REQUEST, warmUpRequests: 4_000, requests: 3_000 },
] as const;

export const bench: Bench = {
  summary: `\`POST /v26.0/{app}/activities\` with 1 and with ${EVENTS_PER_REQUEST} events: compares a server that has stored ${STORED.toLocaleString("en")} events in the last minutes with a server that began without events. Each new event is compared with the keys of all stored ones (D-71).`,
  async run({ rounds }) {
    const empty = await startPlaza({ world: eventsWorld });
    const filled = await startPlaza({ world: eventsWorld });
    try {
      let first = 1;
      const load = (server: Server, events: number, requests: number) => {
        const request = eventsRequest(events, first);
        // Some further requests are still running when the last counted request gets its response.
        first += requests + CONNECTIONS;
        return applyLoad(server, request, { connections: CONNECTIONS, requests });
      };
      await load(filled, EVENTS_PER_REQUEST, STORED / EVENTS_PER_REQUEST);
      const results: Result[] = [];
      for (const { events, warmUpRequests, requests } of STAGES) {
        for (const server of [filled, empty]) await load(server, events, warmUpRequests);
        const pairs: Pair[] = [];
        for (let round = 0; round < rounds; round++) {
          // The two servers take turns to be measured first, so that neither always has the warmer machine.
          const early = round % 2 === 0 ? await load(filled, events, requests) : undefined;
          const few = await load(empty, events, requests);
          pairs.push({ many: early ?? (await load(filled, events, requests)), few });
        }
        results.push(resultOf(pairs, events));
      }
      return { metrics: results.flatMap(({ metrics }) => metrics), absolute: results.flatMap(({ absolute }) => absolute) };
    } finally {
      await Promise.all([empty.stop(), filled.stop()]);
    }
  },
};

interface Pair {
  readonly many: Sample;
  readonly few: Sample;
}

/**
 * The result is computed from the CPU time of the processes. The elapsed time of requests would also contain waits for the disk, whose speed changes
 * at every moment on a shared machine.
 */
const resultOf = (pairs: readonly Pair[], events: number): Result => ({
  metrics: [
    {
      name: `CPU time per request of ${events} (${STORED.toLocaleString("en")} stored events divided by few)`,
      ...spreadOf(pairs.map(({ many, few }) => many.server_cpu_us / few.server_cpu_us)),
      // The goal is 2, because each request with 50 events changes 50 entries of an index, whose 5,000,000 keys are all from the last minutes.
      goal: { at_most: 2 },
    },
  ],
  absolute: (["many", "few"] as const).map((which) => ({
    name: `${which === "many" ? STORED.toLocaleString("en") : "few"} stored, ${events} a request: server CPU time per request`,
    unit: "µs",
    ...spreadOf(pairs.map((pair) => pair[which].server_cpu_us)),
  })),
});
