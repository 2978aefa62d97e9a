/** Runs the tests on a mutant until one notices it. */
import { BUN } from "../steps.ts";
import { testFiles } from "../test-runs/files.ts";
import { BOTH, quickDatabases } from "../test-runs/runs.ts";
import type { Importers } from "./files.ts";
import { type Mutant, withMutant } from "./mutants.ts";
import { TypeCheck } from "./type-check.ts";
import type { Ended, WorkCopy } from "./work-copy.ts";

type Outcome = "noticed" | "timeout" | "does not compile" | "survived" | "equivalent";

export const RUNS = ["npm test", "test:all"] as const;

/** `npm run test:all` has the tests of `npm test`, and more. */
export type Run = (typeof RUNS)[number];

export interface Verdict {
  readonly outcome: Outcome;
  /** The test or case that noticed it. */
  readonly by?: string;
  /** In which run. */
  readonly run?: Run;
  /** How many files of tests passed on it. */
  readonly ran: number;
}

/** Enough tests to notice most mutants that any test notices: the file's own tests and those of its neighbours. */
const NEAR_FILES = 4;
/** The rule of the lint that refuses a promise that nobody awaits. */
const PROMISES = ["node_modules/.bin/biome", "lint", "--only=nursery/noFloatingPromises"] as const;
const LINT_TIMEOUT_MS = 120_000;

/** They stand near to nothing, and in a second or two compare all that documents say, and the order of all that a world exports. */
const OF_ALL = ["tools/write-docs/pages.test.ts", "test/worlds/export-order.test.ts"];

/** A test that hangs by a mutant keeps the run waiting so long; those of the project take less, also on a busy machine. */
const TEST_TIMEOUT_MS = 20_000;

/**
 * A loop without an end cannot be stopped by the runner. Files of tests take some seconds each, those with browsers, streams and packages a
 * minute, as the conformance cases of an area do; on a machine with other work several times as long.
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
  /** How long a survivor of the nearest tests meets the others of a run, after the conformance cases; 0 for none of these. */
  readonly restMs: number;
  readonly conformanceOf: (path: string) => Command | undefined;
  /** Whether a command passes on the unchanged project, known to all copies: what fails there notices nothing. */
  readonly passes: Map<string, Promise<boolean>>;
}

interface Trial {
  readonly mutant: Mutant;
  readonly original: string;
  readonly tests: readonly string[];
  /** Files of tests that passed. */
  passed: number;
}

export class Judge {
  readonly #copy: WorkCopy;
  readonly #importers: Importers;
  readonly #limits: Limits;
  readonly #types: TypeCheck;
  /** By path, the databases on which `npm test` runs a file. */
  readonly #quick: ReadonlyMap<string, readonly string[]>;
  /** Functions that declare tests for each database. */
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

  /** A file that every run has comes again if it may declare more tests now. */
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

  /** Files that run on other databases have runs of their own, as in `npm test`. */
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

/** Bun names a file before its tests, and stops at the first failure. */
function lastFile(output: string, files: readonly string[]): string | undefined {
  const named = output.split("\n").filter((line) => line.endsWith(":") && files.includes(line.slice(0, -1)));
  return named.at(-1)?.slice(0, -1);
}

/** The cases about every operation test the code that every request passes; webhooks have cases of their own. */
const CASES: readonly (readonly [path: RegExp, folder: string])[] = [
  [/^src\/(?:auth|graph|http|kernel|surfaces)\//, "conformance/cases/every-operation/"],
  [/^src\/webhooks\//, "conformance/cases/webhooks/"],
];

/** The cases of the clauses that a feature serves, or of the areas that a part of the server is about. */
export function conformanceOf(paths: readonly string[], read: (path: string) => string): (path: string) => Command | undefined {
  // A contract may name what no case cites, and the cases refuse to be asked for it.
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
