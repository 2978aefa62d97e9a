/**
 * `npm test`: every test of the project, and `N passed, N failed` as the last line. `npm test -- src/graph` runs only the
 * files below those paths. What failed stands once more before that line, since the output of thousands of tests is often cut.
 *
 * Tests wait for programs, browsers and streams more than they compute, so two parts of them run side by side, and the next part begins
 * when one has ended.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { BUN, ROOT, runStep, type Step, type StepEnd, seconds } from "./steps.ts";
import { type Failure, failuresOf, failureText } from "./test-runs/failures.ts";

/** A single test has no reason to take longer, also on a loaded machine with two cores. */
const TEST_TIMEOUT_MS = 30_000;

/** All of CI has 25 minutes, and everything beside takes two. */
const RUN_WITHIN_MS = 1_380_000;

const AT_ONCE = 2;

const bunTest = (name: string, paths: readonly string[]): Step => ({
  name,
  // A path that begins with ./ is a path for Bun, anything else a pattern that may match elsewhere.
  command: [BUN, "test", `--timeout=${TEST_TIMEOUT_MS}`, ...paths.map((path) => `./${path}`)],
});

/** What of `test` takes longest is a part by itself. */
const LONG = { console: "the console", faults: "faults", cli: "the commands", live: "live video", package: "the package" };
const MODEL = "model";
const others = readdirSync(join(ROOT, "test")).filter((folder) => !(folder in LONG) && folder !== MODEL);

const ofTest = (folder: keyof typeof LONG): Step => bunTest(`${LONG[folder]}, from outside`, [`test/${folder}`]);

/** The longest first: then nothing is left to one alone at the end. */
const PARTS = [
  bunTest("features, server, tools and clients", ["src", "tools", "clients"]),
  ofTest("console"),
  bunTest(
    "the program from outside",
    others.map((folder) => `test/${folder}`),
  ),
  ofTest("faults"),
  bunTest("conformance, on memory and on PostgreSQL", ["conformance"]),
  ofTest("cli"),
  bunTest("the interface and its model", [`test/${MODEL}`]),
  ofTest("live"),
  ofTest("package"),
];

const below = (paths: readonly string[]): Step => bunTest(`bun test ${paths.join(" ")}`, paths);

export const steps = (paths: readonly string[]): Step[] => (paths.length > 0 ? [below(paths)] : PARTS);

/** What a part prints comes whole when it has ended. All together have `RUN_WITHIN_MS`. */
async function sideBySide(parts: readonly Step[]): Promise<StepEnd[]> {
  const waiting = [...parts];
  const ends: StepEnd[] = [];
  const endMs = performance.now() + RUN_WITHIN_MS;
  const work = async (): Promise<void> => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      console.log(`${part.name}: begins`);
      const end = await runStep({ ...part, isQuiet: true, withinMs: Math.max(1, endMs - performance.now()) });
      console.log(`\n── ${end.name}\n${end.output}`);
      ends.push(end);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return ends;
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
  for (const end of paths.length > 0 ? [await runStep(below(paths))] : await sideBySide(PARTS)) {
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
