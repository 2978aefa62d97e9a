/** Runs the tests on a mutant until a test notices it. */
import { BUN } from "../steps.ts";
import { testFiles } from "../test-runs/files.ts";
import { BOTH, quickDatabases } from "../test-runs/runs.ts";
import type { Importers } from "./files.ts";
import { type Mutant, withMutant } from "./mutants.ts";
import { TypeCheck } from "./type-check.ts";
import type { Ended, WorkCopy } from "./work-copy.ts";

type Outcome = "noticed" | "timeout" | "does not compile" | "survived" | "equivalent";

export const RUNS = ["npm test", "test:all"] as const;

/** The commands that run tests. `npm run test:all` runs the tests of `npm test`, and more tests. */
export type Run = (typeof RUNS)[number];

export interface Verdict {
  readonly outcome: Outcome;
  /** The test or case that noticed the mutant. */
  readonly by?: string;
  /** The command whose tests noticed the mutant. */
  readonly run?: Run;
  /** The number of test files that passed with the mutant. */
  readonly ran: number;
}

/**
 * The number of test files that run first: the tests of the changed file itself and of files near it. The nearest test files notice most of the
 * mutants that any test notices.
 */
const NEAR_FILES = 4;
/** The lint rule that refuses a promise that nobody awaits. */
const PROMISES = ["node_modules/.bin/biome", "lint", "--only=nursery/noFloatingPromises"] as const;
const LINT_TIMEOUT_MS = 120_000;

/**
 * Tests that are about all files. The two test files take only a second or two, and compare everything that documents say, and the order of
 * everything in an exported world.
 */
const OF_ALL = ["tools/write-docs/pages.test.ts", "test/worlds/export-order.test.ts"];

/**
 * The time limit of a test, because a mutant may make the test hang. The project's tests take less time than this limit, even on a busy machine.
 */
const TEST_TIMEOUT_MS = 20_000;

/**
 * The limits of a process with test files, because the test runner cannot stop an endless loop. Most test files take some seconds. Files with
 * browsers, streams and packages take a minute, as do the conformance cases of an area; on a busy machine they take several times as long.
 */
const FILES = {
  "npm test": { atOnce: 10, timeoutMs: 45_000 },
  "test:all": { atOnce: NEAR_FILES, timeoutMs: 180_000 },
} as const satisfies Record<Run, unknown>;
const CONFORMANCE_TIMEOUT_MS = 600_000;

type Command = readonly [string, ...string[]];

const testCommand = (files: readonly string[]): Command => [
  BUN,
  "test",
  "--bail",
  `--timeout=${TEST_TIMEOUT_MS}`,
  ...files.map((file) => `./${file}`),
];

interface Limits {
  /** The time for the other tests of a run, if the mutant survived the nearest tests and the conformance cases; 0 leaves these tests out. */
  readonly restMs: number;
  readonly conformanceOf: (path: string) => Command | undefined;
  /**
   * Whether a command passes on the unchanged project. All copies of the project share the result. A command that fails on the unchanged project
   * cannot notice a mutant.
   */
  readonly passes: Map<string, Promise<boolean>>;
}

interface Trial {
  readonly mutant: Mutant;
  readonly original: string;
  readonly tests: readonly string[];
  /** The number of test files that passed. */
  passed: number;
}

export class Judge {
  readonly #copy: WorkCopy;
  readonly #importers: Importers;
  readonly #limits: Limits;
  readonly #types: TypeCheck;
  /** The databases on which `npm test` runs a test file, by the path of the file. */
  readonly #quick: ReadonlyMap<string, readonly string[]>;
  /** The names of functions that declare a test for each database. */
  readonly #onEachDatabase: ReadonlySet<string>;

  constructor(copy: WorkCopy, importers: Importers, limits: Limits) {
    this.#copy = copy;
    this.#types = new TypeCheck(copy.root);
    const files = testFiles(copy.root);
    this.#quick = new Map(files.map((file) => [file.path, quickDatabases(file)]));
    this.#onEachDatabase = new Set(files.filter((file) => file.isOnEachDatabase).map(({ path }) => path));
    this.#importers = importers;
    this.#limits = limits;
  }

  async judge(mutant: Mutant): Promise<Verdict> {
    if (mutant.equivalent !== undefined) return { outcome: "equivalent", ran: 0 };
    const original = this.#copy.read(mutant.path);
    if (!this.#types.accepts(mutant.path, original, withMutant(original, mutant))) return { outcome: "does not compile", ran: 0 };
    const trial = { mutant, original, tests: this.#importers.testsOf(mutant.path), passed: 0 };
    if (await this.#isRefusedByLint(trial)) return { outcome: "does not compile", ran: 0 };
    const noticed = (await this.#byEveryRun(trial)) ?? (await this.#byTestAll(trial));
    return { outcome: "survived", ...noticed, ran: trial.passed };
  }

  async #byEveryRun(trial: Trial): Promise<Noticed | undefined> {
    const { path } = trial.mutant;
    const tests = trial.tests.filter((test) => this.#databases("npm test", test).length > 0);
    const meet = (files: readonly string[]): Promise<Noticed | undefined> => this.#byTests(trial, "npm test", files);
    const near = await meet(tests.slice(0, NEAR_FILES));
    if (near !== undefined || this.#limits.restMs === 0) return near;
    return (
      (await meet(tests.filter((test) => OF_ALL.includes(test)))) ??
      (await this.#byConformance(trial, path)) ??
      this.#byRest(trial, "npm test", tests.slice(NEAR_FILES))
    );
  }

  /**
   * Runs the tests of `npm run test:all`. A test file that `npm test` has already run is run again if `npm run test:all` also runs the file on a
   * database that `npm test` leaves out.
   */
  async #byTestAll(trial: Trial): Promise<Noticed | undefined> {
    if (this.#limits.restMs === 0) return undefined;
    const isMore = (test: string): boolean => {
      const databases = this.#databases("npm test", test);
      return databases.length === 0 || (databases.length === 1 && this.#onEachDatabase.has(test));
    };
    const more = trial.tests.filter(isMore);
    return this.#byRest(trial, "test:all", more);
  }

  async #byRest(trial: Trial, run: Run, tests: readonly string[]): Promise<Noticed | undefined> {
    const untilMs = performance.now() + this.#limits.restMs;
    for (let at = 0; at < tests.length && performance.now() < untilMs; at += FILES[run].atOnce) {
      const noticed = await this.#byTests(trial, run, tests.slice(at, at + FILES[run].atOnce));
      if (noticed !== undefined) return noticed;
    }
    return undefined;
  }

  async #isRefusedByLint(trial: Trial): Promise<boolean> {
    const { kind, path } = trial.mutant;
    if (kind !== "await" || !this.#copy.has(PROMISES[0])) return false;
    const command: Command = [...PROMISES, path];
    const { ended } = await this.#runOn(trial, command, LINT_TIMEOUT_MS, {});
    return ended === "failed" && (await this.#passesUnchanged(command, LINT_TIMEOUT_MS, {}));
  }

  #databases(run: Run, test: string): readonly string[] {
    return run === "test:all" ? BOTH : (this.#quick.get(test) ?? []);
  }

  /** Runs test files. Files that run on the same databases are run together, as in `npm test`. */
  async #byTests(trial: Trial, run: Run, files: readonly string[]): Promise<Noticed | undefined> {
    for (const [databases, together] of Map.groupBy(files, (file) => this.#databases(run, file).join(","))) {
      const noticed = await this.#byRunOf(trial, run, together, { TEST_DATABASES: databases });
      if (noticed !== undefined) return noticed;
    }
    return undefined;
  }

  async #byRunOf(trial: Trial, run: Run, files: readonly string[], env: Environment): Promise<Noticed | undefined> {
    let left = files;
    while (left.length > 0) {
      const withinMs = left.length * FILES[run].timeoutMs;
      const { ended, output } = await this.#runOn(trial, testCommand(left), withinMs, env);
      if (ended === "passed") break;
      const blamed = ended === "failed" ? lastFile(output, left) : undefined;
      const by = blamed === undefined ? left : [blamed];
      if (await this.#passesUnchanged(testCommand(by), withinMs, env)) return { outcome: outcomeOf(ended), by: by.join(" "), run };
      left = left.filter((file) => !by.includes(file));
    }
    trial.passed += left.length;
    return undefined;
  }

  async #byConformance(trial: Trial, path: string): Promise<Noticed | undefined> {
    const command = this.#limits.conformanceOf(path);
    if (command === undefined) return undefined;
    const { ended } = await this.#runOn(trial, command, CONFORMANCE_TIMEOUT_MS, {});
    return ended !== "passed" && (await this.#passesUnchanged(command, CONFORMANCE_TIMEOUT_MS, {}))
      ? { outcome: outcomeOf(ended), by: "conformance", run: "npm test" }
      : undefined;
  }

  async #runOn({ mutant, original }: Trial, command: Command, withinMs: number, env: Environment): Promise<{ ended: Ended; output: string }> {
    this.#copy.write(mutant.path, withMutant(original, mutant));
    try {
      return await this.#copy.run(command, withinMs, env);
    } finally {
      this.#copy.write(mutant.path, original);
    }
  }

  async #passesUnchanged(command: Command, withinMs: number, env: Environment): Promise<boolean> {
    const key = `${JSON.stringify(env)} ${command.join(" ")}`;
    const known = this.#limits.passes.get(key) ?? this.#copy.run(command, withinMs, env).then(({ ended }) => ended === "passed");
    this.#limits.passes.set(key, known);
    if (!(await known)) console.error(`fails on the unchanged project, and does not count: ${key}`);
    return known;
  }
}

type Noticed = Omit<Verdict, "ran">;
type Environment = Readonly<Record<string, string>>;

const outcomeOf = (ended: Ended): Outcome => (ended === "timeout" ? "timeout" : "noticed");

/** Finds the failed test file in the output. Bun prints the name of a file before its tests, and stops at the first failure. */
function lastFile(output: string, files: readonly string[]): string | undefined {
  const named = output.split("\n").filter((line) => line.endsWith(":") && files.includes(line.slice(0, -1)));
  return named.at(-1)?.slice(0, -1);
}

/** The folders of conformance cases, by the path of the changed file. The cases in `every-operation` test the code that every request runs. */
const CASES: readonly (readonly [path: RegExp, folder: string])[] = [
  [/^src\/(?:auth|graph|http|kernel|surfaces)\//, "conformance/cases/every-operation/"],
  [/^src\/webhooks\//, "conformance/cases/webhooks/"],
];

/**
 * Returns the command that runs the conformance cases for a file: the cases of the clauses of its feature, or the cases in the folder for its part
 * of the server.
 */
export function conformanceOf(paths: readonly string[], read: (path: string) => string): (path: string) => Command | undefined {
  // Clauses without a case are left out, because the suite refuses to run with a clause that no case cites.
  const cited = new Set(
    paths
      .filter((path) => path.startsWith("conformance/cases/"))
      .flatMap((path) => read(path).match(/^\s*(?:clauses|decisions): .*$/gm) ?? [])
      .flatMap((line) => line.match(/[A-Z][A-Z\d]*-\d+[a-z]?/g) ?? []),
  );
  const among = (pattern: RegExp, files: readonly string[]) => [...new Set(files.flatMap((file) => read(file).match(pattern) ?? []))];
  const choicesOf = (path: string): readonly string[] => {
    const feature = /^src\/features\/[^/]+\//.exec(path)?.[0];
    const folder = CASES.find(([part]) => part.test(path))?.[1];
    const contracts = paths.filter((each) => feature !== undefined && each.startsWith(feature) && each.endsWith(".contract.ts"));
    const cases = paths.filter((each) => folder !== undefined && each.startsWith(folder));
    return [
      ...among(/(?<=")[A-Z][A-Z\d]*-\d+(?=")/g, contracts).flatMap((clause) => (cited.has(clause) ? ["--clause", clause] : [])),
      ...among(/(?<=^area: )[\w-]+$/gm, cases).flatMap((area) => ["--area", area]),
    ];
  };
  return (path) => {
    const choices = paths.includes("conformance/run.ts") ? choicesOf(path) : [];
    return choices.length === 0 ? undefined : [BUN, "conformance/run.ts", "--failures", ...choices];
  };
}
