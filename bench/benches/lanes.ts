import { type Latencies, latenciesAt, startSender, startSink } from "../harness/deliveries.ts";
import type { Bench } from "../harness/report.ts";
import { spreadOf } from "../harness/statistics.ts";

/** The number of events per second. One core could deliver far more events, so the bench measures waiting instead of load. */
const PER_SECOND = 1_000;
const WARM_UP_SECONDS = 2;
/** The time limit for the arrival of webhooks that are still on their way when the round ends. */
const REST_MS = 500;

async function round(isHanging: boolean, seconds: number): Promise<Latencies> {
  const sink = await startSink();
  const sender = await startSender("engines", "lanes", sink, isHanging ? ["hangs"] : []);
  const run = (length: number) => fetch(`${sender.url}/pace?per_second=${PER_SECOND}&seconds=${length}`);
  try {
    await run(WARM_UP_SECONDS);
    await Bun.sleep(REST_MS);
    await latenciesAt(sink);
    await run(seconds);
    await Bun.sleep(REST_MS);
    return await latenciesAt(sink);
  } finally {
    await sender.stop();
    await sink.stop();
  }
}

export const bench: Bench = {
  summary: `Sends ${PER_SECOND} events a second to 1,000 callbacks in turn; one of these callbacks never responds. Measures the time from an event to its arrival at the callbacks that respond, and compares this time with a round in which all callbacks respond.`,
  async run({ rounds, seconds }) {
    const pairs: { hanging: Latencies; well: Latencies }[] = [];
    for (let at = 0; at < rounds; at++) {
      const first = await round(at % 2 === 0, seconds);
      const second = await round(at % 2 !== 0, seconds);
      pairs.push(at % 2 === 0 ? { hanging: first, well: second } : { hanging: second, well: first });
    }
    const arrived = (one: Latencies, callbacks: number) => one.count / ((PER_SECOND * seconds * callbacks) / 1_000);
    return {
      metrics: [
        {
          name: "p99 of the others (with the hanging one divided by without)",
          ...spreadOf(pairs.map(({ hanging, well }) => hanging.p99_ms / well.p99_ms)),
          goal: { at_most: 1.5 },
        },
        {
          name: "events for the other callbacks: arrived, of all that were sent",
          ...spreadOf(pairs.map(({ hanging }) => arrived(hanging, 999))),
          goal: { at_least: 0.99 },
        },
      ],
      absolute: [
        { name: "with: p50", unit: "ms", ...spreadOf(pairs.map(({ hanging }) => hanging.p50_ms)) },
        { name: "with: p99", unit: "ms", ...spreadOf(pairs.map(({ hanging }) => hanging.p99_ms)) },
        { name: "without: p50", unit: "ms", ...spreadOf(pairs.map(({ well }) => well.p50_ms)) },
        { name: "without: p99", unit: "ms", ...spreadOf(pairs.map(({ well }) => well.p99_ms)) },
      ],
    };
  },
};
