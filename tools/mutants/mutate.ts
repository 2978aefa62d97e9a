/**
 * `npm run mutate`: makes small mistakes in the code, one at a time, and prints the mistakes that no test notices. The program works on a copy in the
 * system's temporary folder. CONTRIBUTING.md explains the output; `--help` prints the options.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { changedLines, filesOf, Importers, isMutable } from "./files.ts";
import { conformanceOf, Judge } from "./judge.ts";
import { type Mutant, mutantsOf, sampleOf, staleEquivalents } from "./mutants.ts";
import { type Judged, json, judgedBefore, lineOf, missed, table } from "./report.ts";
import { WorkCopy } from "./work-copy.ts";

const HELP = `Makes small mistakes in the code, one at a time, and runs the tests on each: first those of \`npm test\` that are nearest to the
file, then the others; on survivors, the tests that only \`npm run test:all\` runs.

  --changed           only lines that differ from the main branch
  --since REF         only lines that have changed since the branch left REF
  --only PATH         only files below this path (repeatable); src unless given
  --match TEXT        only mutants whose change holds this text, such as "ORDER BY"
  --sample N          only N of the mutants, chosen at random
  --seed S            the seed of the random choice (default 1)
  --rest-seconds N    how long the other tests of npm test try to notice what the nearest did not, and then as long those of test:all (default
                      120); 0 leaves out both, and the conformance cases
  --at-once N         N mutants at a time, each in a copy of its own (default 1)
  --resume            continues an earlier run with this report that was interrupted, and then tries the survivors of that run again
  --list              print the names of the mutants, and run nothing
  --json FILE         the file of the report (default test-artefacts/mutants.json)`;

const INTERRUPTED = 130;
const WRONG_USE = 2;

const { values: options } = parseArgs({
  options: {
    changed: { type: "boolean" },
    since: { type: "string" },
    only: { type: "string", multiple: true, default: ["src"] },
    match: { type: "string", default: "" },
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
    "rest-seconds": { type: "string", default: "120" },
    "at-once": { type: "string", default: "1" },
    resume: { type: "boolean" },
    list: { type: "boolean" },
    json: { type: "string", default: "test-artefacts/mutants.json" },
    help: { type: "boolean" },
  },
});

/** The root of the project. npm makes the folder of package.json the working folder. */
const root = process.cwd();

function whole(name: "sample" | "seed" | "rest-seconds" | "at-once"): number {
  const text = options[name] ?? "";
  if (/^\d+$/.test(text)) return Number(text);
  console.error(`--${name} takes a whole number, not "${text}"`);
  process.exit(WRONG_USE);
}

function chosen(paths: readonly string[]): Mutant[] {
  const isBelow = (path: string): boolean => options.only.some((only) => path === only || path.startsWith(`${only.replace(/\/$/, "")}/`));
  const changed = options.changed === true || options.since !== undefined ? changedLines(root, options.since) : undefined;
  const mutants = paths
    .filter((path) => isMutable(path) && isBelow(path) && (changed?.has(path) ?? true) && existsSync(join(root, path)))
    .flatMap(mutantsIn)
    .filter(({ path, line }) => changed?.get(path)?.(line) ?? true)
    .filter(({ change }) => change.includes(options.match));
  return options.sample === undefined ? mutants : sampleOf(mutants, whole("sample"), whole("seed"));
}

/** The mutants of a file. */
function mutantsIn(path: string): Mutant[] {
  const text = readFileSync(join(root, path), "utf8");
  const mutants = mutantsOf(path, text);
  for (const { at, of } of staleEquivalents(text, mutants))
    console.error(`${path}:${at}: delete the comment, because this mutant does not exist: ${of}`);
  return mutants;
}

/** Reads the verdicts on mutants that an earlier run of the command wrote to a file. */
function earlier(mutants: readonly Mutant[]): Map<Mutant, Judged> {
  const file = resolve(root, options.json);
  return options.resume === true && existsSync(file) ? judgedBefore(readFileSync(file, "utf8"), mutants) : new Map();
}

async function run(mutants: readonly Mutant[], paths: readonly string[]): Promise<Judged[]> {
  const found = earlier(mutants);
  const survivors = mutants.filter((mutant) => found.get(mutant)?.outcome === "survived");
  // The mutants that survived the earlier run are tested again, because new tests may notice them.
  const left = [...mutants.filter((mutant) => !found.has(mutant)), ...survivors].values();
  const all = (): Judged[] => mutants.map((mutant) => found.get(mutant)).filter((one) => one !== undefined);
  const importers = new Importers(root, paths);
  const read = (path: string): string => readFileSync(join(root, path), "utf8");
  const limits = { restMs: whole("rest-seconds") * 1000, conformanceOf: conformanceOf(paths, read), passes: new Map<string, Promise<boolean>>() };
  const work = async (copy: WorkCopy): Promise<void> => {
    const judge = new Judge(copy, importers, limits);
    for (const mutant of left) {
      const one = { mutant, ...(await judge.judge(mutant)) };
      found.set(mutant, one);
      console.log(`${found.size}/${mutants.length} ${lineOf(one)}`);
      mkdirSync(dirname(resolve(root, options.json)), { recursive: true });
      // The file is written after each mutant, so that it has all results so far even if somebody stops the program.
      writeFileSync(resolve(root, options.json), json(all(), whole("seed")));
    }
  };
  const copies = Array.from({ length: Math.max(1, whole("at-once")) }, () => new WorkCopy(root, paths));
  process.on("exit", () => {
    for (const copy of copies) copy.remove();
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(INTERRUPTED));
  await Promise.all(copies.map(work));
  return all();
}

try {
  if (options.help === true) {
    console.log(HELP);
    process.exit();
  }
  const paths = filesOf(root);
  const mutants = chosen(paths);
  if (options.list === true) {
    for (const { path, line, kind, change } of mutants) console.log(`${path}:${line}: ${kind}: ${change}`);
    console.log(`${mutants.length} mutants`);
    process.exit();
  }
  const all = await run(mutants, paths);
  console.log(`\n${table(all)}\n\n${missed(all)}`);
  process.exit(all.some(({ outcome }) => outcome === "survived") ? 1 : 0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(WRONG_USE);
}
