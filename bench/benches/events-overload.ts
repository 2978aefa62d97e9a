import { CALLS_PER_ROUND, CONNECTIONS, eventsCall, eventsWorld } from "../harness/events.ts";
import { applyLoad, type Sample } from "../harness/load.ts";
import { residentMegabytes } from "../harness/machine.ts";
import type { Bench } from "../harness/report.ts";
import { startPlaza } from "../harness/server.ts";
import { spreadOf } from "../harness/statistics.ts";

const EVENTS_PER_CALL = 50;
/** Senders that wait for their answer before they send again keep a server busy whose commits they fill; more only wait longer. */
const TIMES = 3;

export const bench: Bench = {
  summary: `\`POST /v26.0/{app}/activities\` with ${EVENTS_PER_CALL} events: what ${TIMES * CONNECTIONS} connections get done beside ${CONNECTIONS}, which keep the server busy already, and what it takes in memory.`,
  async run({ rounds, seconds }) {
    const plaza = await startPlaza({ world: eventsWorld });
    let used = 0;
    const load = (connections: number) => applyLoad(plaza, eventsCall(EVENTS_PER_CALL, 1 + used++ * CALLS_PER_ROUND), { connections, seconds });
    try {
      await load(CONNECTIONS);
      const pairs: { readonly usual: Sample; readonly crowded: Sample; readonly before: number; readonly after: number }[] = [];
      for (let round = 0; round < rounds; round++) {
        const usual = await load(CONNECTIONS);
        const before = residentMegabytes(plaza.pid);
        const crowded = await load(TIMES * CONNECTIONS);
        pairs.push({ usual, crowded, before, after: residentMegabytes(plaza.pid) });
      }
      return {
        figures: [
          {
            name: `calls/s, ${TIMES * CONNECTIONS} connections : ${CONNECTIONS}`,
            ...spreadOf(pairs.map(({ usual, crowded }) => crowded.calls_per_second / usual.calls_per_second)),
            goal: { at_least: 0.9 },
          },
        ],
        absolute: [
          { name: `${CONNECTIONS} connections: calls/s`, unit: "/s", ...spreadOf(pairs.map(({ usual }) => usual.calls_per_second)) },
          { name: `${TIMES * CONNECTIONS} connections: calls/s`, unit: "/s", ...spreadOf(pairs.map(({ crowded }) => crowded.calls_per_second)) },
          { name: `${TIMES * CONNECTIONS} connections: p99`, unit: "ms", ...spreadOf(pairs.map(({ crowded }) => crowded.p99_ms)) },
          { name: "memory before", unit: "MB", ...spreadOf(pairs.map(({ before }) => before)) },
          { name: "memory after", unit: "MB", ...spreadOf(pairs.map(({ after }) => after)) },
        ],
      };
    } finally {
      await plaza.stop();
    }
  },
};
