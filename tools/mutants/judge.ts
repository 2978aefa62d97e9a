/** Runs the tests on a mutant until one notices it. */
import { BUN } from "../steps.ts";
import type { Importers } from "./files.ts";
import { type Mutant, withMutant } from "./mutants.ts";
import { TypeCheck } from "./type-check.ts";
import type { Ended, WorkCopy } from "./work-copy.ts";

type Outcome = "noticed" | "timeout" | "does not compile" | "survived" | "equivalent";

export interface Verdict {
  readonly outcome: Outcome;
  /** What noticed it. */
  readonly by?: string;
  /** How many files of tests ran to their end. */
  readonly ran: number;
}

/** As many as notice most mutants that any test notices: the file's own tests, and those of its neighbours. */
const NEAR_FILES = 4;
const FILES_AT_ONCE = 10;
/** It looks at all files and imports none. */
const OF_AWAITS = "tools/tidy/promises.test.ts";

/** They stand near to nothing, and in a second or two compare all that documents say, and the order of all that a world exports. */
const OF_ALL = ["tools/write-docs/pages.test.ts", "test/worlds/export-order.test.ts"];

/** A test that hangs by a mutant keeps the run waiting so long; those of the project take less, also on a busy machine. */
const TEST_TIMEOUT_MS = 20_000;

/**
 * A loop without an end cannot be stopped by the runner. Files of tests take some seconds each, the conformance cases of an area a minute; on a
 * machine with other work several times as long.
 */
const FILE_TIMEOUT_MS = 45_000;
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
  /** How long a survivor of the nearest tests is held against the others, after the conformance cases; 0 for neither. */
  readonly restMs: number;
  readonly conformanceOf: (path: string) => Command | undefined;
  /** Whether a command passes on the unchanged project, known to all copies: what fails there notices nothing. */
  readonly passes: Map<string, Promise<boolean>>;
}

export class Judge {
  readonly #copy: WorkCopy;
  readonly #importers: Importers;
  readonly #limits: Limits;
  readonly #types: TypeCheck;

  constructor(copy: WorkCopy, importers: Importers, limits: Limits) {
    this.#copy = copy;
    this.#types = new TypeCheck(copy.root);
    this.#importers = importers;
    this.#limits = limits;
  }

  async judge(mutant: Mutant): Promise<Verdict> {
    if (mutant.equivalent !== undefined) return { outcome: "equivalent", ran: 0 };
    const original = this.#copy.read(mutant.path);
    if (!this.#types.accepts(mutant.path, original, withMutant(original, mutant))) return { outcome: "does not compile", ran: 0 };
    const asMutant = async <T>(run: () => Promise<T>): Promise<T> => {
      this.#copy.write(mutant.path, withMutant(original, mutant));
      try {
        return await run();
      } finally {
        this.#copy.write(mutant.path, original);
      }
    };
    const tests = this.#importers.testsOf(mutant.path);
    const near = await this.#byTests(tests.slice(0, NEAR_FILES), asMutant);
    if (near.outcome !== "survived") return near;
    if (mutant.kind === "await" && tests.includes(OF_AWAITS)) {
      const lint = await this.#byTests([OF_AWAITS], asMutant);
      if (lint.outcome !== "survived") return { ...lint, ran: near.ran + 1 };
    }
    if (this.#limits.restMs === 0) return near;
    const ofAll = OF_ALL.filter((file) => tests.includes(file));
    const wide = await this.#byTests(ofAll, asMutant);
    if (wide.outcome !== "survived") return { ...wide, ran: near.ran + ofAll.length };
    const conformance = await this.#byConformance(mutant.path, asMutant);
    if (conformance !== undefined) return { ...conformance, ran: near.ran };
    let { ran } = near;
    const untilMs = performance.now() + this.#limits.restMs;
    for (let at = NEAR_FILES; at < tests.length && performance.now() < untilMs; at += FILES_AT_ONCE) {
      const far = await this.#byTests(tests.slice(at, at + FILES_AT_ONCE), asMutant);
      ran += far.ran;
      if (far.outcome !== "survived") return { ...far, ran };
    }
    return { outcome: "survived", ran };
  }

  async #byTests(files: readonly string[], asMutant: <T>(run: () => Promise<T>) => Promise<T>): Promise<Verdict> {
    let left = files;
    while (left.length > 0) {
      const command = testCommand(left);
      const withinMs = left.length * FILE_TIMEOUT_MS;
      const { ended, output } = await asMutant(() => this.#copy.run(command, withinMs));
      if (ended === "passed") break;
      const blamed = ended === "failed" ? lastFile(output, left) : undefined;
      const by = blamed === undefined ? left : [blamed];
      if (await this.#passesUnchanged(testCommand(by), withinMs))
        return { outcome: outcomeOf(ended), by: by.join(" "), ran: files.length - left.length };
      left = left.filter((file) => !by.includes(file));
    }
    return { outcome: "survived", ran: left.length };
  }

  async #byConformance(path: string, asMutant: <T>(run: () => Promise<T>) => Promise<T>): Promise<Verdict | undefined> {
    const command = this.#limits.conformanceOf(path);
    if (command === undefined) return undefined;
    const { ended } = await asMutant(() => this.#copy.run(command, CONFORMANCE_TIMEOUT_MS));
    return ended !== "passed" && (await this.#passesUnchanged(command, CONFORMANCE_TIMEOUT_MS))
      ? { outcome: outcomeOf(ended), by: "conformance", ran: 0 }
      : undefined;
  }

  async #passesUnchanged(command: Command, withinMs: number): Promise<boolean> {
    const key = command.join(" ");
    const known = this.#limits.passes.get(key) ?? this.#copy.run(command, withinMs).then(({ ended }) => ended === "passed");
    this.#limits.passes.set(key, known);
    if (!(await known)) console.error(`fails on the unchanged project, and does not count: ${key}`);
    return known;
  }
}

const outcomeOf = (ended: Ended): Outcome => (ended === "timeout" ? "timeout" : "noticed");

/** Bun names a file before its tests, and stops at the first failure. */
function lastFile(output: string, files: readonly string[]): string | undefined {
  const named = output.split("\n").filter((line) => line.endsWith(":") && files.includes(line.slice(0, -1)));
  return named.at(-1)?.slice(0, -1);
}

/** What every request passes through is held by the cases about every operation, webhooks by their own. */
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
