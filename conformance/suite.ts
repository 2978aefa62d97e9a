/** Chooses cases, runs them, and reports the results. `npm run conformance` and `plaza conform` call this module. */
import { closeSync, openSync, writeFileSync } from "node:fs";
import { type Case, loadCases } from "./cases.ts";
import { type Clause, coverageOf, readClauses, uncoveredText, wrongCitations } from "./coverage.ts";
import { Receiver } from "./http/receiver.ts";
import { clausesOf, clausesText } from "./report/by-clause.ts";
import { htmlReport } from "./report/html.ts";
import { junitReport } from "./report/junit.ts";
import { type CaseResult, Progress, resultJson, resultText } from "./report/results.ts";
import type { Note } from "./run-cases.ts";

export interface SuiteOptions {
  readonly area?: readonly string[];
  readonly clause?: readonly string[];
  readonly title?: string;
  readonly list?: boolean;
  readonly json?: boolean;
  readonly failures?: boolean;
  readonly uncovered?: boolean;
  /** The path of the JUnit report. */
  readonly junit?: string;
  readonly html?: string;
}

/** A wrong option: the option chooses no case, or names a file that cannot be written. */
export class SuiteProblem extends Error {
  constructor(
    readonly option: string,
    problem: string,
  ) {
    super(problem);
  }
}

/** The options of both programs as help text. `npm run conformance` and `plaza conform` also pass these options to `parseArgs`. */
export const SUITE_HELP = `  --area NAME         only the cases of this area (repeatable)
  --clause ID         only the cases that cite this clause or decision (repeatable)
  --title TEXT        only the cases whose title contains this text
  --list              print the titles of the cases and run no case
  --json              print one JSON document instead of lines
  --failures          print only failures
  --uncovered         also name the clauses without a passing case
  --junit FILE        also write the report as JUnit XML, a test for each case
  --html FILE         also write the report as a page, by clause`;

const isChosen =
  ({ area, clause, title }: SuiteOptions) =>
  (testCase: Case): boolean =>
    (area === undefined || area.includes(testCase.area)) &&
    (clause === undefined || [...testCase.clauses, ...testCase.decisions].some((id) => clause.includes(id))) &&
    (title === undefined || testCase.title.includes(title));

export function expectAreas(given: readonly string[] | undefined, all: readonly Case[] = loadCases()): void {
  const areas = [...new Set(all.map(({ area }) => area))].sort();
  const unknown = given?.find((one) => !areas.includes(one));
  if (unknown !== undefined) throw new SuiteProblem("--area", `no case is of the area "${unknown}"; the areas are ${areas.join(", ")}`);
}

/**
 * Returns the cases that the options choose. An unknown area or clause is an error, because otherwise a misspelt name would choose no case
 * without a message.
 */
function chosen(all: readonly Case[], options: SuiteOptions): Case[] {
  expectAreas(options.area, all);
  const clause = options.clause?.find((id) => !all.some(({ clauses, decisions }) => clauses.includes(id) || decisions.includes(id)));
  if (clause !== undefined) throw new SuiteProblem("--clause", `no case cites "${clause}"; clauses are written as A5-4, decisions as D-33`);
  const cases = all.filter(isChosen(options));
  if (cases.length > 0) return cases;
  const given = (["area", "clause", "title"] as const).filter((name) => options[name] !== undefined);
  throw new SuiteProblem(
    `--${given.at(-1)}`,
    given.length === 1 ? `no title contains "${options.title}"` : "no case fulfils all of these conditions",
  );
}

/** Checks before the run that the reports can be written, because otherwise the results would be lost. */
function expectWritable(options: SuiteOptions): void {
  for (const name of ["junit", "html"] as const) {
    const file = options[name];
    if (file === undefined) continue;
    try {
      closeSync(openSync(file, "a"));
    } catch (error) {
      throw new SuiteProblem(`--${name}`, error instanceof Error ? error.message : String(error));
    }
  }
}

/**
 * Runs the suite. Returns the exit code: 0 if all cases passed, 1 if a case failed or no case ran. Throws SuiteProblem, or an error if a case
 * file is wrong.
 */
export async function runSuite(
  options: SuiteOptions,
  run: (cases: readonly Case[], receiver: Receiver, note: Note) => Promise<void>,
): Promise<number> {
  const clauses = readClauses();
  const all = loadCases();
  const wrong = wrongCitations(all, clauses);
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
  const cases = chosen(all, options);
  expectWritable(options);
  if (options.list === true) {
    for (const testCase of cases) console.log(`${testCase.area}: ${testCase.title}`);
    return 0;
  }
  const results: CaseResult[] = [];
  const progress = new Progress(cases.length);
  const receiver = await Receiver.start();
  try {
    await run(cases, receiver, (result) => {
      results.push(result);
      progress.clear();
      if (options.json !== true && (options.failures !== true || result.outcome === "failed")) console.log(resultText(result));
      progress.ended(result.outcome === "failed");
    });
  } finally {
    progress.clear();
    receiver.stop();
  }
  report(results, clauses, options);
  return results.length === 0 || results.some(({ outcome }) => outcome === "failed") ? 1 : 0;
}

function report(results: readonly CaseResult[], clauses: readonly Clause[], options: SuiteOptions): void {
  const byClause = clausesOf(results, clauses);
  if (options.junit !== undefined) writeFileSync(options.junit, junitReport(results));
  if (options.html !== undefined) writeFileSync(options.html, htmlReport(results, byClause));
  const count = (outcome: CaseResult["outcome"]) => results.filter((result) => result.outcome === outcome).length;
  const passed = results.filter(({ outcome }) => outcome === "passed").map(({ testCase }) => testCase);
  const coverage = coverageOf(passed, clauses);
  const { covered, total, uncovered } = coverage;
  if (options.json === true) {
    const summary = { passed: count("passed"), failed: count("failed"), skipped: count("skipped"), covered, total };
    const broken = byClause.filter(({ state }) => state === "broken").map(({ clause }) => clause.id);
    console.log(JSON.stringify({ ...summary, broken, uncovered: uncovered.map(({ id }) => id), results: results.map(resultJson) }, null, 2));
    return;
  }
  const broken = clausesText(byClause);
  if (broken !== "") console.log(broken);
  if (options.uncovered === true) console.log(uncoveredText(coverage));
  if (count("skipped") > 0) console.log(`${count("skipped")} skipped`);
  console.log(`covered ${covered} of ${total} clauses`);
  console.log(`${count("passed")} passed, ${count("failed")} failed`);
}
