/**
 * `npm test`: runs the tests that a contributor runs before each commit, on SQLite and, for files whose results depend on the database, on
 * PostgreSQL. `npm run test:all` runs every test; with `--rest` it runs only the tests that `npm test` leaves out. If paths are given as arguments,
 * only test files below these paths are run. The last line is `N passed, N failed`. Bun's test runner runs files at the same time, the slowest
 * first, and records the time that each file takes.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BUN, ROOT, runStep, type Step, type StepEnd, seconds } from "./steps.ts";
import { type Failure, failuresOf, failureText } from "./test-runs/failures.ts";
import { isQuick, type TestFile, testFiles } from "./test-runs/files.ts";
import { installPostgres } from "./test-runs/postgres.ts";
import { install, programs } from "./test-runs/programs.ts";
import { type Count, Progress } from "./test-runs/progress.ts";
import { type Extent, type Run, runsOf } from "./test-runs/runs.ts";

/**
 * The time limit of a test, enough for every test on a machine that is ten times slower: the limit ends only tests that hang, not tests that are
 * merely slow.
 */
const TEST_TIMEOUT_MS = 120_000;

/** The number of files at once: one more than the processors of most CI machines, because tests wait more than they compute. */
const WORKERS = 3;

/** The time limit of a run. With this limit a run that hangs ends before CI stops the whole job, so that the results so far are shown. */
const RUN_WITHIN_MS = 3_000_000;

const TIMES = join(ROOT, ".tools/test-times.json");
const SLOWEST_COUNT = 10;

export const stepOf = ({ name, files, databases, only }: Run): Step => ({
  name,
  command: [
    // stdout and stderr become one stream, so that the output of a test comes before the test's result.
    ...(["sh", "-c", 'exec "$0" "$@" 2>&1', BUN, "test"] as const),
    `--timeout=${TEST_TIMEOUT_MS}`,
    `--parallel=${WORKERS}`,
    // The test files that one worker runs share the loaded modules, because most test files load the whole server.
    "--no-isolate",
    `--timings=${TIMES}`,
    "--update-timings",
    ...(only === undefined ? [] : [`--test-name-pattern=${only}`]),
    // Bun reads an argument that begins with ./ as a path, and any other argument as a pattern, which may match other files too.
    ...files.map(({ path }) => `./${path}`),
  ],
  env: { TEST_DATABASES: databases.join(",") },
});

/** The milliseconds that each file took, as Bun's runner has recorded them. */
function timings(): Readonly<Record<string, number>> {
  try {
    return (JSON.parse(readFileSync(TIMES, "utf8")) as { files: Record<string, number> }).files;
  } catch {
    return {};
  }
}

/** Runs tests. Prints the progress, and at the end a line for each part of the project. */
async function perform(run: Run): Promise<StepEnd> {
  const progress = new Progress(
    run.files.map(({ path }) => path),
    timings(),
    console.log,
  );
  console.log(`\n── ${run.files.length} files ${run.name}${progress.left(WORKERS)}`);
  const end = await runStep({ ...stepOf(run), isQuiet: true, withinMs: RUN_WITHIN_MS, onLine: (line) => progress.add(line, WORKERS) });
  progress.end();
  return end;
}

/**
 * The counts in Bun's closing lines: ` 12 pass`, ` 1 fail`, ` 1 error`. If there are several lines of a kind, the last line is used, because a test
 * may print a line of the same form.
 */
export function countOf({ exitCode, output }: Pick<StepEnd, "exitCode" | "output">): Count {
  const plain = Bun.stripANSI(output);
  const last = (word: string): number => Number([...plain.matchAll(new RegExp(`^ *(\\d+) ${word}s?$`, "gm"))].at(-1)?.[1] ?? 0);
  const failed = last("fail") + last("error");
  // A run also counts as failed if it ends with an error but without a failed test (after a crash, or a leak found at exit).
  return { passed: last("pass"), failed: failed === 0 && exitCode !== 0 ? 1 : failed };
}

const isBelow = (file: TestFile, paths: readonly string[]): boolean =>
  paths.length === 0 || paths.map((path) => path.replace(/^\.\/|\/$/g, "")).some((path) => file.path === path || file.path.startsWith(`${path}/`));

/** Installs the programs that the files need. Returns the files that can run, and prints the missing programs of the other files. */
function equipped(files: readonly TestFile[]): { files: TestFile[]; leftOut: string[] } {
  const absent = install(files.flatMap((file) => file.programs));
  const hasPostgres = !files.some((file) => file.usesPostgres) || installPostgres();
  const isReady = (file: TestFile): boolean => !absent.some((name) => file.programs.includes(name)) && (hasPostgres || !file.usesPostgres);
  const reasons = [
    ...absent.map((name) => `${programs[name].title}: ${programs[name].elsewhere}`),
    ...(hasPostgres ? [] : ["PostgreSQL: put initdb and pg_ctl of version 15 or newer on the PATH"]),
  ];
  const ready = files.filter(isReady);
  const leftOut =
    reasons.length === 0 ? [] : [`left out: ${files.length - ready.length} files whose programs are not installed (${reasons.join("; ")})`];
  return { files: ready, leftOut };
}

/** The steps of every test below the paths, whatever its speed, for callers that repeat the tests. */
export function stepsOf(paths: readonly string[]): Step[] {
  const below = testFiles().filter((file) => isBelow(file, paths));
  const elsewhere = paths.map((path) => ({ path, programs: [], isSlow: false, isOnEachDatabase: false, usesPostgres: false }));
  return runsOf("all", below.length > 0 ? below : elsewhere).map(stepOf);
}

if (import.meta.main) {
  const paths = process.argv.slice(2).filter((word) => !word.startsWith("--"));
  const extent: Extent = process.argv.includes("--rest") ? "rest" : process.argv.includes("--all") ? "all" : "quick";
  const chosen = testFiles().filter((file) => isBelow(file, paths));
  const { files, leftOut } = equipped(extent === "quick" ? chosen.filter(isQuick) : chosen);
  if (extent === "quick" && files.length < chosen.length && paths.length > 0)
    leftOut.push(`left out: ${chosen.length - files.length} files of npm run test:all -- ${paths.join(" ")}`);
  let [passed, failed] = [0, 0];
  const failures: Failure[] = [];
  for (const run of runsOf(extent, files)) {
    const end = await perform(run);
    const count = countOf(end);
    console.log(`${run.name}: ${count.passed} passed, ${count.failed} failed in ${seconds(end.durationMs)}`);
    const found = failuresOf(end.output);
    failures.push(...found);
    // If a run failed without a failed test, the reason is in the run's output.
    if (found.length === 0 && end.exitCode !== 0) console.log(end.output.slice(-10_000));
    passed += count.passed;
    failed += count.failed;
  }
  // In CI, files that cannot run are a failure.
  if (process.env.CI !== undefined && leftOut.length > 0 && extent !== "quick") failed++;
  const times = timings();
  const slowest = files.toSorted((one, other) => (times[other.path] ?? 0) - (times[one.path] ?? 0)).slice(0, SLOWEST_COUNT);
  console.log(`\nslowest: ${slowest.map(({ path }) => `${path} ${seconds(times[path] ?? 0)}`).join(", ")}`);
  for (const failure of failures) console.log(`\n${failureText(failure)}`);
  for (const text of leftOut) console.log(text);
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exit(failed === 0 && passed > 0 ? 0 : 1);
}
