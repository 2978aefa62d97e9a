import { CALLS_PER_ROUND, CONNECTIONS, eventsCall, eventsWorld } from "../harness/events.ts";
import { applyLoad } from "../harness/load.ts";
import type { Bench, Figure, Result } from "../harness/report.ts";
import { absolutesOf } from "../harness/report.ts";
import { alternate, overRounds, type Pair } from "../harness/rounds.ts";
import { type Server, startPlaza } from "../harness/server.ts";

const STORED = 5_000_000;
const EVENTS_PER_CALL = 50;
/** D-71: all of them are keys that each new event is compared with, since they happened within 48 h. */
const fill = (server: Server) => applyLoad(server, eventsCall(EVENTS_PER_CALL, 1), { connections: CONNECTIONS, calls: STORED / EVENTS_PER_CALL });

export const bench: Bench = {
  summary: `\`POST /v26.0/{app}/activities\` with 1 and with ${EVENTS_PER_CALL} events, on a server that holds ${STORED.toLocaleString("en")} events of the last minutes beside one that began with none.`,
  async run(options) {
    const empty = await startPlaza({ world: eventsWorld });
    const filled = await startPlaza({ world: eventsWorld });
    try {
      await fill(filled);
      const results: Result[] = [];
      for (const [at, events] of [1, EVENTS_PER_CALL].entries()) {
        const callOf = (round: number) => eventsCall(events, (1 + at * (options.rounds + 1) + round) * CALLS_PER_ROUND);
        const pairs = await alternate({ server: filled, callOf }, { server: empty, callOf }, { ...options, connections: CONNECTIONS });
        results.push({
          figures: figuresOf(pairs, events),
          absolute: absolutesOf(pairs, `${STORED.toLocaleString("en")}, ${events} a call`, `none, ${events} a call`),
        });
      }
      return { figures: results.flatMap(({ figures }) => figures), absolute: results.flatMap(({ absolute }) => absolute) };
    } finally {
      await Promise.all([empty.stop(), filled.stop()]);
    }
  },
};

/** A commit waits for the disk, which is another one at every moment on a shared machine; CPU time is the program's own. */
const figuresOf = (pairs: readonly Pair[], events: number): Figure[] => [
  {
    name: `CPU a call of ${events}, filled : empty`,
    ...overRounds(pairs, ({ one, other }) => one.server_cpu_us / other.server_cpu_us),
    goal: { at_most: 1.3 },
  },
  { name: `calls/s of ${events}, empty : filled`, ...overRounds(pairs, ({ one, other }) => other.calls_per_second / one.calls_per_second) },
];
