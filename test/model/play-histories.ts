/** Plays drawn histories as a test. README.md explains how to play a history again. */
import { describe, expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { sharedPostgres } from "#harness/postgres-cluster";
import { tries } from "#harness/proof";
import { temporaryFolder } from "#harness/server";
import { drawHistory } from "./histories/draw-history.ts";
import { hasRestarts } from "./histories/restarts.ts";
import type { History } from "./histories/steps.ts";
import { Coverage } from "./playing/coverage.ts";
import { keepCase, keptCases } from "./playing/kept-cases.ts";
import { Ledger } from "./playing/ledger.ts";
import { play } from "./playing/play.ts";
import type { Stage } from "./playing/scene.ts";
import { startServers } from "./playing/servers.ts";
import { shrink } from "./playing/shrink.ts";

const STEPS = 100;
/** The number of histories that are played at once. Histories spend time waiting for webhooks and worlds, so a few histories share the processors. */
const AT_ONCE = 3;

/** The number of failures after which a run stops, because one mistake makes many histories fail. */
const PROBLEMS_MAX = 5;

/** The wait at the end of a history for webhooks that must not arrive. The wait is short, because a wrong webhook would arrive at once. */
const LATE_WITHIN_MS = 500;

/** The time limit of a test, because a proof plays for hours on a slow machine. */
const TIMEOUT_MS = 12 * 3_600_000;

/** The number of histories after which a proof prints its progress, so that an interrupted proof can be continued. */
const REPORT_EVERY = 100;

/**
 * `PLAZA_MODEL_SEED` chooses the history to play; `PLAZA_MODEL_COUNT` chooses how many histories to play from this seed on. Without
 * `PLAZA_MODEL_SEED`, test runs draw the same histories each time, and proofs draw others. `PLAZA_MODEL_AREAS` chooses the areas that histories are
 * about.
 */
const { PLAZA_MODEL_SEED: given, PLAZA_MODEL_COUNT: givenCount = "1", PLAZA_MODEL_AREAS: areas } = process.env;
/** The greatest number of further histories, which are played to reach the rules that the first 100 histories did not reach. */
const FURTHER_MAX = 100;

const seeds = (usual: number): number[] => {
  const first = given === undefined ? tries(1, Math.floor(Math.random() * 1e9)) : Number(given);
  return Array.from({ length: given === undefined ? usual : Number(givenCount) }, (_, place) => first + place);
};

/** Histories that restart processes run one at a time, on processes that other histories do not use. */
interface Stages {
  /**
   * Whether histories may restart processes. On PostgreSQL, only proofs restart processes, because each restart waits five seconds for a lease to
   * end.
   */
  readonly mayRestart: boolean;
  readonly usual: Stage;
  readonly restarting: Stage;
}

const stageOf = ({ usual, restarting }: Stages, history: History): Stage => (hasRestarts(history) ? restarting : usual);

interface Drawn {
  readonly seed: number;
  readonly history: History;
}

async function playAll(stages: Stages, all: readonly number[]): Promise<string[]> {
  const drawn = all.map((seed): Drawn => ({ seed, history: drawHistory(seed, STEPS, areas?.split(","), stages.mayRestart) }));
  const waiting = drawn.filter(({ history }) => !hasRestarts(history));
  const restarting = drawn.filter(({ history }) => hasRestarts(history));
  const failed: Drawn[] = [];
  const startMs = performance.now();
  let played = 0;
  const work = async (queue: Drawn[]): Promise<void> => {
    for (let next = queue.shift(); next !== undefined && failed.length < PROBLEMS_MAX; next = queue.shift()) {
      const { seed, history } = next;
      const parting = await play(stageOf(stages, history), history);
      if (parting !== undefined) {
        console.log(`seed ${seed} fails at step ${parting.step} and is shrunk when all are played: ${parting.what}`);
        failed.push(next);
      }
      if (++played % REPORT_EVERY === 0)
        console.log(`${played} of ${all.length} histories from seed ${all[0]} on, after ${Math.round((performance.now() - startMs) / 1000)} s`);
    }
  };
  // When the histories with restarts are done, this worker plays other histories.
  const first = work(restarting).then(() => work(waiting));
  await Promise.all([first, ...Array.from({ length: AT_ONCE - 1 }, () => work(waiting))]);
  if (failed.length > 0) stages.usual.ledger.hurry();
  const problems: string[] = [];
  for (const { seed, history } of failed) problems.push(await explain(stageOf(stages, history), seed, history));
  return problems;
}

/** Plays further histories until every rule is reached. Returns the problems, and the rules that no history has reached so far. */
async function playOn(stages: Stages, first: number): Promise<string[]> {
  const { coverage } = stages.usual;
  for (let seed = first; seed < first + FURTHER_MAX && coverage.unreached().length > 0; seed += AT_ONCE) {
    const problems = await playAll(
      stages,
      Array.from({ length: AT_ONCE }, (_, place) => seed + place),
    );
    if (problems.length > 0) return problems;
  }
  return coverage.unreached().map((name) => `not reached: ${name}`);
}

async function explain(stage: Stage, seed: number, history: History): Promise<string> {
  const short = await shrink(history, async (shorter) => (await play(stage, shorter)) !== undefined);
  const parting = await play(stage, short);
  const path = keepCase(`seed-${seed}`, parting?.what ?? "it failed once and not again", short);
  return `seed ${seed}, step ${parting?.step} of ${short.steps.length}, kept as ${path}:\n${parting?.what}`;
}

const servers = {
  sqlite: { data: async () => temporaryFolder(), processes: 1 },
  postgres: { data: async () => (await sharedPostgres()).newDatabase(), processes: 2 },
} as const;

interface Plan {
  readonly histories: number;
  /** Whether to play further seeds until every rule is reached. */
  readonly reachesAll: boolean;
}

/** Declares a test that plays the kept histories, each of which failed once, and drawn histories. */
export function testHistories(kind: keyof typeof servers, { histories, reachesAll }: Plan): void {
  const { data, processes } = servers[kind];
  describe(`the interface and its model (${kind})`, () => {
    test(
      "histories that failed once, and drawn ones: every reply and every webhook is the model's",
      async () => {
        const ledger = new Ledger();
        afterThisTest(() => ledger.stop());
        const mayRestart = processes === 1 || tries(0, 1) === 1;
        const coverage = new Coverage([
          ...(mayRestart ? [] : (["writeUnanswered", "importedElsewhere", "readingInterrupted"] as const)),
          // With several processes, nothing determines which process fetches a file, and therefore not when it is fetched.
          ...(processes === 1 ? [] : (["longMove"] as const)),
        ]);
        const newStage = async (): Promise<Stage> => ({
          ...{
            servers: await startServers(await data(), processes),
            startOther: async () => startServers(await data(), 1),
            ledger,
            coverage,
            used: { strict: [], clients: [] },
          },
        });
        const stages = { mayRestart, usual: await newStage(), restarting: await newStage() };
        for (const { name, history } of given === undefined ? keptCases() : [])
          expect({ name, parting: await play(stageOf(stages, history), history) }).toEqual({ name, parting: undefined });
        const problems = await playAll(stages, seeds(histories));
        const isWhole = reachesAll && given === undefined && areas === undefined;
        if (isWhole && problems.length === 0) problems.push(...(await playOn(stages, histories + 1)));
        await Bun.sleep(LATE_WITHIN_MS);
        const late = ledger.late();
        if (late !== undefined) problems.push(late);
        const shares = stages.usual.servers.shares();
        console.log(`${coverage.report()}\n${shares.text}`);
        if (isWhole) problems.push(...shares.problems);
        expect(problems).toEqual([]);
      },
      TIMEOUT_MS,
    );
  });
}
