/**
 * The whole interface against a model of it: generated histories of requests, moves of the clock and changes of a world are played against
 * a server and against the reference of test/model/reference, and every reply and every webhook is compared. README.md explains how to run
 * one again.
 */
import { describe, expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { sharedPostgres } from "#harness/postgres-cluster";
import { tries } from "#harness/proof";
import { temporaryFolder } from "#harness/server";
import { drawHistory, withRestarts } from "./histories/draw-history.ts";
import type { History } from "./histories/steps.ts";
import { Coverage } from "./playing/coverage.ts";
import { keepCase, keptCases } from "./playing/kept-cases.ts";
import { Ledger } from "./playing/ledger.ts";
import { play } from "./playing/play.ts";
import type { Stage } from "./playing/scene.ts";
import { startServers } from "./playing/servers.ts";
import { shrink } from "./playing/shrink.ts";

const STEPS = 100;
/** Histories wait for their webhooks and worlds, so a few of them share the processors. */
const AT_ONCE = 6;

/** What one mistake causes is found again and again. */
const PROBLEMS_MAX = 5;

/** `PLAZA_MODEL_SEED` runs one history again. Without it a test run draws the same ones each time, and a proof others. */
const { PLAZA_MODEL_SEED: given } = process.env;
const seeds = (count: number): number[] => {
  if (given !== undefined) return [Number(given)];
  const first = tries(1, Math.floor(Math.random() * 1e9));
  return Array.from({ length: count }, (_, place) => first + place);
};

async function playAll(stage: Stage, all: readonly number[]): Promise<string[]> {
  const waiting = [...all];
  const problems: string[] = [];
  const work = async (): Promise<void> => {
    for (let seed = waiting.shift(); seed !== undefined && problems.length < PROBLEMS_MAX; seed = waiting.shift()) {
      const history = drawHistory(seed, STEPS);
      const parting = await play(stage, history);
      if (parting !== undefined) problems.push(await explain(stage, seed, history));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return problems;
}

async function explain(stage: Stage, seed: number, history: History): Promise<string> {
  const short = await shrink(history, async (shorter) => (await play(stage, shorter)) !== undefined);
  const parting = await play(stage, short);
  const path = keepCase(`seed-${seed}`, parting?.what ?? "it failed once and not again", short);
  return `seed ${seed}, step ${parting?.step} of ${short.steps.length}, kept as ${path}:\n${parting?.what}`;
}

const databases = [
  { kind: "sqlite", data: async () => temporaryFolder(), processes: 1, histories: 100 },
  { kind: "postgres", data: async () => (await sharedPostgres()).newDatabase(), processes: 2, histories: 10 },
] as const;

for (const { kind, data, processes, histories } of databases) {
  describe(`the interface and its model (${kind})`, () => {
    test("histories that failed once, and drawn ones: every reply and every webhook is the model's", async () => {
      const ledger = new Ledger();
      afterThisTest(() => ledger.stop());
      const stage = { servers: await startServers(await data(), processes), ledger, coverage: new Coverage() };
      for (const { name, history } of given === undefined ? keptCases() : [])
        expect({ name, parting: await play(stage, history) }).toEqual({ name, parting: undefined });
      expect(await playAll(stage, seeds(tries(histories, 5_000)))).toEqual([]);
      console.log(stage.coverage.report());
    }, 3_600_000);

    test("a server that is ended and killed again and again goes on as the model does", async () => {
      const ledger = new Ledger();
      afterThisTest(() => ledger.stop());
      const stage = { servers: await startServers(await data(), processes), ledger, coverage: new Coverage() };
      for (const seed of seeds(tries(1, 100))) {
        const history = withRestarts(drawHistory(seed, STEPS));
        const parting = await play(stage, history);
        expect({ seed, parting }).toEqual({ seed, parting: undefined });
      }
    }, 3_600_000);
  });
}
