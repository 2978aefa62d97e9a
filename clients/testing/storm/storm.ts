/** Runs a scenario under every single fault at every point, then under pairs of faults, and reports what the app does wrong. */
import {
  type Choice,
  disturbances,
  jobsFor,
  pairsOf,
  type Run,
  readSchedule,
  type Schedule,
  scheduleText,
  singlesOf,
  waitMsOf,
} from "./disturbances.ts";
import { cluesOf, type Failure, failureOf, hammeredRequest } from "./failure.ts";
import { differenceOf, type Observation, pointsOf } from "./observation.ts";
import { type Invariant, Runner, type RunnerOptions, type RunResult } from "./runs.ts";

export interface StormOptions extends Choice {
  /** Rules that must hold after each run, by their names. */
  readonly invariants?: Readonly<Record<string, Invariant>> | undefined;
  /** The seed that determines the pairs of faults; 1 by default. */
  readonly seed?: number | undefined;
  /** The number of pairs of faults; 30 by default. */
  readonly pairs?: number | undefined;
  /** The number of runs at a time; by default as many as pay for the time to make their worlds, but at most 64. */
  readonly jobs?: number | undefined;
  /** The time limit of a run; by default ten times the duration of the run without faults, but at least 10 s. */
  readonly timeoutMs?: number | undefined;
  /** Runs only this schedule, e.g. `createLabel#1=lost-after`. Default: the variable STORM_SCHEDULE. */
  readonly schedule?: string | undefined;
  /** Called after each schedule. */
  readonly onRun?: ((schedule: string, problem: string | undefined) => void) | undefined;
}

export interface StormReport {
  readonly seed: number;
  /** The number of schedules that were run, without the two undisturbed runs. */
  readonly schedules: number;
  readonly durationMs: number;
  /** The schedules that failed twice, the shortest first. */
  readonly failures: readonly Failure[];
  /** Schedules that failed once and passed when they were run again, with the problem. */
  readonly unsteady: readonly { readonly schedule: string; readonly problem: string }[];
  /** All schedules in the order in which they were made, with their durations. */
  readonly runs: readonly { readonly schedule: string; readonly durationMs: number; readonly problem: string | undefined }[];
}

/** The error if the scenario fails without any fault, or if two runs without faults differ. In both cases a storm shows nothing about faults. */
export class StormUnusable extends Error {
  override readonly name = "StormUnusable";
}

const PAIRS = 30;
const SEED = 1;
const TIMEOUT_MS_MIN = 10_000;
const TIMEOUT_FACTOR = 10;
/** The time limit of an undisturbed run, which may begin with the start of a slow program. */
const FIRST_TIMEOUT_MS = 120_000;

/** Runs a scenario under the schedules that `options` choose, and returns the report. Rejects with `StormUnusable`, or if the server fails. */
export async function runStorm(runner: Omit<RunnerOptions, "invariants">, options: StormOptions): Promise<StormReport> {
  checkNames(options);
  const started = performance.now();
  const { seed = SEED, pairs = PAIRS, invariants = {}, schedule = process.env.STORM_SCHEDULE } = options;
  const runs = new Runner({ ...runner, invariants });
  try {
    const { run, timeoutMs, undisturbed, worldMs } = await learn(runs, options);
    const singles = schedule === undefined || schedule === "" ? singlesOf(run, options) : [readSchedule(schedule, run)];
    const jobs = options.jobs ?? jobsFor([...singles, ...pairsOf(singles, pairs, seed)], undisturbed[1].durationMs, worldMs);
    const storm = new Storm(runs, run, undisturbed, { jobs, timeoutMs, onRun: options.onRun });
    await storm.runAll(singles);
    if (schedule === undefined || schedule === "") {
      // A pair shows nothing new if one of its faults already makes the scenario fail alone.
      const passed = singles.filter((one) => !storm.hasFailed(scheduleText(one)));
      await storm.runAll(pairsOf(passed, pairs, seed));
    }
    return { seed, durationMs: performance.now() - started, ...storm.report() };
  } finally {
    await runs.close();
  }
}

function checkNames({ only = [], without = [] }: Choice): void {
  for (const name of [...only, ...without])
    if (!disturbances.some((one) => one.name === name))
      throw new RangeError(`there is no fault ${name}; there are ${disturbances.map((one) => one.name).join(", ")}`);
}

interface Learned {
  readonly run: Run;
  readonly timeoutMs: number;
  readonly undisturbed: readonly [RunResult, RunResult];
  readonly worldMs: number;
}

/**
 * Makes the run without faults twice. The two runs must pass and do the same, because otherwise storm could not tell the effect of a fault from
 * chance.
 */
async function learn(runs: Runner, { timeoutMs }: StormOptions): Promise<Learned> {
  const play = async (): Promise<RunResult> => {
    const result = await runs.run([], undefined, timeoutMs ?? FIRST_TIMEOUT_MS, () => undefined);
    if (result.problem !== undefined)
      throw new StormUnusable([`the scenario fails without any fault: ${result.problem}`, ...cluesOf(result)].join("\n"));
    return result;
  };
  const [first, second] = [await play(), await play()];
  const difference = differenceOf(first, second);
  if (difference !== undefined)
    throw new StormUnusable(`two undisturbed runs of the scenario differ (${difference}); make the scenario repeatable first`);
  const points = pointsOf(second, new Set(first.deliveries.map(({ entity }) => entity)));
  if (points.length === 0)
    throw new StormUnusable("the scenario sent no request to the world of its run, and got no webhook: use PLAZA_BASE_URL, or the world's baseUrl");
  const slowest = Math.max(first.durationMs, second.durationMs);
  const { startedAt, expiries, worldMs } = await runs.timesOf();
  return {
    run: { points, startedAt, expiries },
    timeoutMs: timeoutMs ?? Math.max(TIMEOUT_MS_MIN, Math.ceil(slowest * TIMEOUT_FACTOR)),
    undisturbed: [first, second],
    worldMs,
  };
}

interface Limits {
  readonly jobs: number;
  readonly timeoutMs: number;
  readonly onRun: StormOptions["onRun"];
}

class Storm {
  readonly #runs: Runner;
  readonly #run: Run;
  readonly #undisturbed: readonly Observation[];
  readonly #limits: Limits;
  readonly #made: { text: string; durationMs: number; problem: string | undefined }[] = [];
  readonly #failures = new Map<string, Failure>();
  readonly #unsteady: { schedule: string; problem: string }[] = [];

  constructor(runs: Runner, run: Run, undisturbed: readonly Observation[], limits: Limits) {
    this.#runs = runs;
    this.#run = run;
    this.#undisturbed = undisturbed;
    this.#limits = limits;
  }

  hasFailed(schedule: string): boolean {
    return this.#failures.has(schedule);
  }

  /** Runs the schedules, several at a time, and each failed one once more by itself. */
  async runAll(schedules: readonly Schedule[]): Promise<void> {
    const { jobs, timeoutMs } = this.#limits;
    const first: RunResult[] = [];
    // The runs with the longest waits begin first, so that other runs use the machine while these runs wait, and the last runs are short.
    const order = [...schedules.keys()].sort((one, other) => waitMsOf(schedules[other] as Schedule) - waitMsOf(schedules[one] as Schedule));
    const next = order.values();
    const work = async (): Promise<void> => {
      for (const at of next) first[at] = await this.#runOne(schedules[at] as Schedule);
    };
    await Promise.all(Array.from({ length: Math.min(jobs, schedules.length) }, work));
    for (const [at, schedule] of schedules.entries()) {
      const { problem, durationMs } = first[at] as RunResult;
      const text = scheduleText(schedule);
      this.#made.push({ text, durationMs, problem });
      if (problem === undefined) continue;
      // On a busy machine a run may fail for lack of time, so a failure counts only if it happens again.
      const again = await this.#runs.run(schedule, this.#run, timeoutMs, this.#isRight);
      if (again.problem === undefined) this.#unsteady.push({ schedule: text, problem });
      else this.#failures.set(text, failureOf(schedule, again));
    }
  }

  async #runOne(schedule: Schedule): Promise<RunResult> {
    const result = await this.#runs.run(schedule, this.#run, this.#limits.timeoutMs, this.#isRight);
    this.#limits.onRun?.(scheduleText(schedule), result.problem);
    return result;
  }

  /** Checks two rules that hold for every app: a run creates nothing that a run without faults does not create, and respects rate limits. */
  readonly #isRight = ({ requests, nodes }: RunResult): string | undefined => {
    const hammered = hammeredRequest(requests);
    if (hammered !== undefined)
      return `${hammered.operation} was sent ${hammered.count} times while its rate limit was exceeded, although Retry-After asked to wait`;
    for (const [key, count] of nodes) {
      const most = Math.max(...this.#undisturbed.map((run) => run.nodes.get(key) ?? 0));
      if (count > most) return `the world ends with ${count} ${key}; without a fault it ends with ${most}`;
    }
    return undefined;
  };

  report(): Pick<StormReport, "schedules" | "failures" | "unsteady" | "runs"> {
    return {
      schedules: this.#made.length,
      failures: [...this.#failures.values()],
      unsteady: this.#unsteady,
      runs: this.#made.map(({ text, durationMs, problem }) => ({
        ...{ schedule: text, durationMs },
        problem: this.#failures.has(text) ? problem : undefined,
      })),
    };
  }
}
