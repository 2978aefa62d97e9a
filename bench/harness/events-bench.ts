/**
 * Measures requests with a given number of events each, compared to the floor, and the time of a request while the server has half of its greatest
 * load.
 */

import { CONNECTIONS, eventsRequest, eventsWorld, REQUESTS_PER_ROUND } from "./events.ts";
import { atRate } from "./rate.ts";
import { type Absolute, againstFloor, type Bench } from "./report.ts";
import { checkSameResponse } from "./responses.ts";
import { alternate } from "./rounds.ts";
import { startFloor, startPlaza } from "./server.ts";
import { spreadOf } from "./statistics.ts";

export const benchEvents = ({ events, goal }: { readonly events: number; readonly goal: number }): Bench => ({
  summary: `\`POST /v26.0/{app}/activities\` with ${events === 1 ? "one event" : `${events} events`}, over ${CONNECTIONS} connections; the events are durable before the response. The reference program inserts the same rows, and commits all waiting requests together.`,
  async run(options) {
    const plaza = await startPlaza({ world: eventsWorld });
    const floor = await startFloor("events");
    const requestOf = (round: number) => eventsRequest(events, 1 + round * REQUESTS_PER_ROUND);
    try {
      await checkSameResponse(plaza, floor, { ...requestOf(0), number: { kind: "counted", first: 0 } });
      const pairs = await alternate({ server: plaza, requestOf }, { server: floor, requestOf }, { ...options, connections: CONNECTIONS });
      const result = againstFloor(pairs, goal);
      const full = spreadOf(pairs.map(({ one }) => one.requests_per_second)).median;
      const half = await atRate(plaza, requestOf(options.rounds + 1), { requestsPerSecond: full / 2, seconds: options.seconds });
      const perEvent: Absolute[] = [
        { name: "Plaza: events/s", unit: "/s", ...spreadOf(pairs.map(({ one }) => one.requests_per_second * events)) },
        { name: "Plaza: server CPU an event", unit: "µs", ...spreadOf(pairs.map(({ one }) => one.server_cpu_us / events)) },
        { name: `Plaza: p50 at half load (${Math.round(full / 2)} requests/s)`, unit: "ms", ...spreadOf([half.p50_ms]) },
        { name: "Plaza: p99 at half load", unit: "ms", ...spreadOf([half.p99_ms]) },
      ];
      return { metrics: result.metrics, absolute: [...perEvent, ...result.absolute] };
    } finally {
      await Promise.all([plaza.stop(), floor.stop()]);
    }
  },
});
