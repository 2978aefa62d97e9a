import { type Latencies, latenciesAt, type Round, startSender, startSink } from "../harness/deliveries.ts";
import type { Bench } from "../harness/report.ts";
import { spreadOf } from "../harness/statistics.ts";

/** The warm-up time in seconds. During the warm-up the sender makes ten thousand deliveries or more, until its code does not get faster any more. */
const WARM_UP_SECONDS = 8;
/** The time limit for the arrival of deliveries that are still on their way when the load ends. */
const REST_MS = 500;
const us = 1e6;

export const bench: Bench = {
  summary:
    "Webhooks to a receiver in another process, one event in each POST. Plaza stores each event in a transaction of its own, and the end of each delivery in another one. The reference program sends the same POSTs with the same signatures in a plain loop, without a database. Deliveries per second and core are computed from CPU time, because Plaza waits for the disk at each commit and the plain loop does not.",
  async run({ rounds, seconds }) {
    const sink = await startSink();
    const measured: { plaza: Round; floor: Round }[] = [];
    let paced: Latencies;
    try {
      for (let at = 0; at < rounds; at++) {
        // Plaza and the floor are measured one at a time, because Plaza's callers continue between rounds. Plaza goes first in even rounds, the floor
        // in odd rounds.
        const sides: { plaza?: Round; floor?: Round } = {};
        for (const side of at % 2 === 0 ? (["plaza", "floor"] as const) : (["floor", "plaza"] as const)) {
          const sender = await startSender(side === "plaza" ? "engines" : "floors", "webhooks", sink);
          await sender.round(WARM_UP_SECONDS);
          sides[side] = await sender.round(seconds);
          await sender.stop();
        }
        measured.push(sides as { plaza: Round; floor: Round });
      }
      const half = Math.floor(spreadOf(measured.map(({ plaza }) => plaza.per_second)).median / 2);
      const sender = await startSender("engines", "webhooks", sink);
      for (const length of [WARM_UP_SECONDS, seconds]) {
        await latenciesAt(sink);
        await fetch(`${sender.url}/pace?seconds=${length}&per_second=${half}`);
        await Bun.sleep(REST_MS);
      }
      paced = await latenciesAt(sink);
      await sender.stop();
    } finally {
      await sink.stop();
    }
    return {
      metrics: [
        {
          name: "deliveries per second and core (Plaza divided by floor)",
          ...spreadOf(measured.map(({ plaza, floor }) => floor.cpu_us / plaza.cpu_us)),
          goal: { at_least: 0.55 },
        },
        {
          name: "deliveries per second and core",
          unit: "/s",
          ...spreadOf(measured.map(({ plaza }) => us / plaza.cpu_us)),
          goal: { at_least: 3_000 },
        },
        {
          name: "deliveries/s by the clock (Plaza divided by floor)",
          ...spreadOf(measured.map(({ plaza, floor }) => plaza.per_second / floor.per_second)),
        },
      ],
      absolute: [
        { name: "Plaza: deliveries/s", unit: "/s", ...spreadOf(measured.map(({ plaza }) => plaza.per_second)) },
        { name: "Plaza: CPU time per delivery", unit: "µs", ...spreadOf(measured.map(({ plaza }) => plaza.cpu_us)) },
        { name: "floor: POSTs/s", unit: "/s", ...spreadOf(measured.map(({ floor }) => floor.per_second)) },
        { name: "floor: CPU time per POST", unit: "µs", ...spreadOf(measured.map(({ floor }) => floor.cpu_us)) },
        { name: "at half of that rate, from event to arrival: p50", unit: "ms", ...spreadOf([paced.p50_ms]) },
        { name: "at half of that rate, from event to arrival: p99", unit: "ms", ...spreadOf([paced.p99_ms]) },
      ],
    };
  },
};
