/** Rounds: both sides in turn, on the same machine in the same minute. */
import type { Load, LoadRequest, Sample } from "./load.ts";
import { applyLoad } from "./load.ts";
import type { Server } from "./server.ts";
import { type Spread, spreadOf } from "./statistics.ts";

export interface Side {
  readonly server: Server;
  /** What to send in a round; round 0 warms up. */
  requestOf(round: number): LoadRequest;
}

export interface Pair {
  readonly one: Sample;
  readonly other: Sample;
}

export interface RoundOptions {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
}

/** So many that the compiler has done its work: measured, CPU time a request still falls for some 50,000 requests. */
const WARM_UP_REQUESTS = 100_000;

/** Who goes first changes from round to round, so that neither always meets the warmer machine. */
export async function alternate(one: Side, other: Side, options: RoundOptions): Promise<Pair[]> {
  const load: Load = { connections: options.connections, seconds: options.seconds };
  const run = (side: Side, round: number): Promise<Sample> => applyLoad(side.server, side.requestOf(round), load);
  const warmUp: Load = { connections: options.connections, requests: WARM_UP_REQUESTS };
  await applyLoad(one.server, one.requestOf(0), warmUp);
  await applyLoad(other.server, other.requestOf(0), warmUp);
  const pairs: Pair[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    if (round % 2 === 1) {
      const first = await run(one, round);
      pairs.push({ one: first, other: await run(other, round) });
    } else {
      const first = await run(other, round);
      pairs.push({ one: await run(one, round), other: first });
    }
  }
  return pairs;
}

export const overRounds = (pairs: readonly Pair[], metric: (pair: Pair) => number): Spread => spreadOf(pairs.map(metric));
