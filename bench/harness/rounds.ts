/** Measures in rounds: in each round all servers are measured in turn, on the same machine in the same minute. */
import type { Load, LoadRequest, Sample } from "./load.ts";
import { applyLoad } from "./load.ts";
import type { Server } from "./server.ts";
import { type Spread, spreadOf } from "./statistics.ts";

export interface Side {
  readonly server: Server;
  /** Returns the request of a round. Round 0 is the warm-up. */
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

/**
 * The number of warm-up requests. Measurements show that the CPU time of a request falls for about 50,000 requests, until the compiler has done its
 * work.
 */
const WARM_UP_REQUESTS = 100_000;

/**
 * Returns the samples of each round, in the order of `sides`. In each round a different side is measured first, so that no side always has the
 * warmer machine.
 */
async function rotate(sides: readonly Side[], options: RoundOptions): Promise<Sample[][]> {
  const load: Load = { connections: options.connections, seconds: options.seconds };
  const warmUp: Load = { connections: options.connections, requests: WARM_UP_REQUESTS };
  for (const { server, requestOf } of sides) await applyLoad(server, requestOf(0), warmUp);
  const rounds: Sample[][] = [];
  for (let round = 1; round <= options.rounds; round++) {
    const samples: Sample[] = [];
    for (let turn = 0; turn < sides.length; turn++) {
      const index = (round - 1 + turn) % sides.length;
      const { server, requestOf } = sides[index] as Side;
      samples[index] = await applyLoad(server, requestOf(round), load);
    }
    rounds.push(samples);
  }
  return rounds;
}

export async function alternate(one: Side, other: Side, options: RoundOptions): Promise<Pair[]> {
  const rounds = await rotate([one, other], options);
  return rounds.map(([first, second]) => ({ one: first as Sample, other: second as Sample }));
}

export const overRounds = (pairs: readonly Pair[], metric: (pair: Pair) => number): Spread => spreadOf(pairs.map(metric));
