/**
 * `npm run prove -- repeat 8h`: repeats all tests for the given time (in `s`, `m` or `h`), or until Ctrl-C if no time is given. If paths follow, the
 * command repeats only the tests below these paths. In each round, tests with random values draw new values. A failed test is shown as soon as it
 * fails. At the end, the command lists the failed tests and how often each failed.
 */
import { runStep, type Step, type StepEnd, seconds } from "../steps.ts";
import { type Failure, failuresOf, failureText } from "./failures.ts";

const UNITS_MS = { s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Returns the milliseconds of a duration such as `90s`, `30m` or `8h`; undefined for any other text. */
export function durationOf(text: string): number | undefined {
  const [, count, unit] = /^(\d+)([smh])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
}

/** Returns the failures of a run. If a run failed without a failed test, for example by a crash, the run itself counts as a failure. */
export function failuresOfRun({ name, exitCode, output }: StepEnd): Failure[] {
  const failures = failuresOf(output);
  return failures.length > 0 || exitCode === 0 ? failures : [{ test: `${name}: ended with ${exitCode}`, output: output.slice(-10_000) }];
}

export class Tally {
  rounds = 0;
  readonly #times = new Map<string, number>();

  add(failures: readonly Failure[]): void {
    this.rounds++;
    for (const test of new Set(failures.map((one) => one.test))) this.#times.set(test, (this.#times.get(test) ?? 0) + 1);
  }

  get isClean(): boolean {
    return this.rounds > 0 && this.#times.size === 0;
  }

  /** Lists the failed tests, the most frequent failures first. */
  get text(): string {
    const sorted = [...this.#times].sort(([, one], [, other]) => other - one);
    return [`${this.rounds} rounds, ${sorted.length} tests failed`, ...sorted.map(([test, times]) => `${times} of ${this.rounds}: ${test}`)].join(
      "\n",
    );
  }
}

/** Repeats the steps, and returns the exit code. The last round of tests is completed even if the time is over. */
export async function repeat(words: readonly string[], stepsOf: (paths: readonly string[]) => readonly Step[]): Promise<number> {
  const durationMs = durationOf(words[0] ?? "");
  const paths = durationMs === undefined ? words : words.slice(1);
  const endMs = performance.now() + (durationMs ?? Number.POSITIVE_INFINITY);
  const tally = new Tally();
  let isInterrupted = false;
  process.on("SIGINT", () => {
    isInterrupted = true;
  });
  do {
    const startMs = performance.now();
    const failures: Failure[] = [];
    const env = { PLAZA_TEST_SEED: String(Date.now()) };
    for (const { name, command } of stepsOf(paths)) {
      const end = await runStep({ name, command, env, isQuiet: true });
      if (isInterrupted) break;
      failures.push(...failuresOfRun(end));
    }
    if (isInterrupted) break;
    tally.add(failures);
    for (const failure of failures) console.log(failureText(failure));
    console.log(`round ${tally.rounds}: ${failures.length} failed in ${seconds(performance.now() - startMs)}`);
  } while (performance.now() < endMs);
  console.log(`\n${tally.text}`);
  return tally.isClean ? 0 : 1;
}
