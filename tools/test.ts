/**
 * `npm test`: every test of the project, and `N passed, N failed` as the last line. `npm test -- src/graph` runs only the
 * files below those paths. What failed stands once more before that line, since the output of thousands of tests is often cut.
 *
 * Tests from outside wait for programs, browsers and streams more than they compute, so the others run beside them.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { BUN, ROOT, runStep, type Step, type StepEnd, seconds } from "./steps.ts";
import { type Failure, failuresOf, failureText } from "./test-runs/failures.ts";

/** A single test has no reason to take longer, also on a loaded machine with two cores. */
const TEST_TIMEOUT_MS = 30_000;

/** All of CI has 25 minutes, and everything beside takes three. */
const RUN_WITHIN_MS = 1_320_000;

const bunTest = (name: string, paths: readonly string[]): Step => ({
  name,
  withinMs: RUN_WITHIN_MS,
  // A path that begins with ./ is a path for Bun, anything else a pattern that may match elsewhere.
  command: [BUN, "test", `--timeout=${TEST_TIMEOUT_MS}`, ...paths.map((path) => `./${path}`)],
});

const existing = (paths: readonly string[]): string[] => paths.filter((path) => existsSync(join(ROOT, path)));

const MODEL = "test/model";
const outside = readdirSync(join(ROOT, "test")).map((folder) => `test/${folder}`);

const OUTSIDE = bunTest(
  "the program from outside",
  outside.filter((folder) => folder !== MODEL),
);
/** The model stands here because the others of `test` take longer than all of these. */
const INSIDE = [
  bunTest("features, server, tools and clients", existing(["src", "tools", "clients"])),
  bunTest("conformance, on memory and on PostgreSQL", existing(["conformance"])),
  bunTest("the interface and its model", existing([MODEL])),
];

export const steps = (paths: readonly string[]): Step[] =>
  paths.length > 0 ? [bunTest(`bun test ${paths.join(" ")}`, paths)] : [OUTSIDE, ...INSIDE];

async function inTurn(all: readonly Step[]): Promise<StepEnd[]> {
  const ends: StepEnd[] = [];
  for (const step of all) ends.push(await runStep(step));
  return ends;
}

/** Side by side with the first, the output of the others comes when they have ended. */
async function sideBySide(first: Step, others: readonly Step[]): Promise<StepEnd[]> {
  const quiet = others.map((step): Step => ({ ...step, isQuiet: true }));
  const [end, ends] = await Promise.all([runStep(first), inTurn(quiet)]);
  for (const other of ends) console.log(`\n── ${other.name}\n${other.output}`);
  return [end, ...ends];
}

export interface Count {
  readonly passed: number;
  readonly failed: number;
}

/** Bun's closing lines: ` 12 pass`, ` 1 fail`, ` 1 error`. The last of each counts: a test may print such a line too. */
export function countOf({ exitCode, output }: Pick<StepEnd, "exitCode" | "output">): Count {
  const plain = Bun.stripANSI(output);
  const last = (word: string): number => Number([...plain.matchAll(new RegExp(`^ *(\\d+) ${word}s?$`, "gm"))].at(-1)?.[1] ?? 0);
  const failed = last("fail") + last("error");
  // A run that ends badly without saying that anything failed (a crash, a leak found at exit) is a failure all the same.
  return { passed: last("pass"), failed: failed === 0 && exitCode !== 0 ? 1 : failed };
}

if (import.meta.main) {
  let passed = 0;
  let failed = 0;
  const failures: Failure[] = [];
  const paths = process.argv.slice(2);
  for (const end of paths.length > 0 ? await inTurn(steps(paths)) : await sideBySide(OUTSIDE, INSIDE)) {
    failures.push(...failuresOf(end.output));
    const count = countOf(end);
    console.log(`${end.name}: ${count.passed} passed, ${count.failed} failed in ${seconds(end.durationMs)}`);
    passed += count.passed;
    failed += count.failed;
  }
  for (const failure of failures) console.log(`\n${failureText(failure)}`);
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exit(failed === 0 && passed > 0 ? 0 : 1);
}
