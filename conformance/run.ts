/** The conformance suite as a program: `bun conformance/run.ts --help`. */
import { parseArgs } from "node:util";
import { type Case, loadCases } from "./cases.ts";
import { coverageOf, readClauses, uncoveredText, wrongCitations } from "./coverage.ts";
import { Receiver } from "./receiver.ts";
import { type CaseResult, Progress, resultJson, resultText } from "./report.ts";
import { givenTarget, prepareGiven, serverKey, startServer } from "./server.ts";
import { runCase } from "./session.ts";

const HELP = `Runs the cases of conformance/cases against a server and says which clauses of the interface they cover.

  --base-url URL      a server that runs already; without it servers are started from bin/plaza
  --control-url URL   its control API, for cases that mint tokens or move the clock
  --control-key KEY   the key of that control API
  --profile NAME      the profile that the given server runs in: strict (default) or clients
  --data WHERE        for started servers: :memory: (default), a folder, or postgres://…
  --area NAME         only the cases of this area (repeatable)
  --clause ID         only the cases that cite this clause or decision (repeatable)
  --title TEXT        only the cases whose title contains this text
  --list              name the cases and run nothing
  --json              one JSON document instead of lines
  --failures          write only what failed
  --uncovered         also name the clauses without a passing case`;

const { values: options } = parseArgs({
  options: {
    "base-url": { type: "string" },
    "control-url": { type: "string" },
    "control-key": { type: "string" },
    profile: { type: "string", default: "strict" },
    data: { type: "string", default: ":memory:" },
    area: { type: "string", multiple: true },
    clause: { type: "string", multiple: true },
    title: { type: "string" },
    list: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    failures: { type: "boolean", default: false },
    uncovered: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

const isChosen = (testCase: Case): boolean =>
  (options.area === undefined || options.area.includes(testCase.area)) &&
  (options.clause === undefined || [...testCase.clauses, ...testCase.decisions].some((id) => options.clause?.includes(id))) &&
  (options.title === undefined || testCase.title.includes(options.title));

function say(line: string): void {
  if (!options.json) console.log(line);
}

let progress: Progress | undefined;

function note(result: CaseResult): CaseResult {
  progress?.clear();
  if (!options.failures || result.outcome === "failed") say(resultText(result));
  progress?.ended(result.outcome === "failed");
  return result;
}

const failed = (testCase: Case, error: unknown): CaseResult => ({
  testCase,
  outcome: "failed",
  failure: {
    step: 0,
    sent: "",
    response: "",
    problems: [{ where: "the server", expected: "to be ready", got: error instanceof Error ? error.message : String(error) }],
  },
  durationMs: 0,
});

async function timed(testCase: Case, run: () => ReturnType<typeof runCase>): Promise<CaseResult> {
  const start = performance.now();
  const failure = await run();
  const durationMs = performance.now() - start;
  return { testCase, durationMs, ...(failure === undefined ? { outcome: "passed" } : { outcome: "failed", failure }) };
}

/** Starts a server for each profile and world, one after the other. */
async function runOnOwn(cases: readonly Case[], receiver: Receiver): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  for (const group of Map.groupBy(cases, serverKey).values()) {
    const [first] = group;
    if (first === undefined) continue;
    const server = await startServer(first, options.data, receiver.address).catch((error: unknown) => {
      for (const testCase of group) results.push(note(failed(testCase, error)));
      return undefined;
    });
    if (server === undefined) continue;
    for (const testCase of group) results.push(note(await timed(testCase, () => runCase(testCase, server, receiver))));
    await server.stop();
  }
  return results;
}

/** Why a given server cannot run the case. */
function obstacle(testCase: Case, hasControl: boolean): string | undefined {
  if (testCase.profile !== options.profile) return `needs profile ${testCase.profile}`;
  if (Object.keys(testCase.options).length > 0) return `needs the options ${Object.keys(testCase.options).join(", ")}`;
  const needsControl = testCase.isAlone || testCase.steps.some((step) => step.kind === "request" && (step.on === "world" || step.on === "control"));
  return needsControl && !hasControl ? "needs the control API" : undefined;
}

async function runOnGiven(baseUrl: string, cases: readonly Case[], receiver: Receiver): Promise<CaseResult[]> {
  const controlUrl = options["control-url"];
  const controlKey = options["control-key"];
  const target = givenTarget({ baseUrl, ...(controlUrl === undefined ? {} : { controlUrl }), ...(controlKey === undefined ? {} : { controlKey }) });
  const results: CaseResult[] = [];
  for (const group of Map.groupBy(cases, serverKey).values()) {
    const runnable = group.filter((testCase) => {
      const reason = obstacle(testCase, controlUrl !== undefined && controlKey !== undefined);
      if (reason !== undefined) results.push(note({ testCase, outcome: "skipped", reason, durationMs: 0 }));
      return reason === undefined;
    });
    const [first] = runnable;
    if (first === undefined) continue;
    const prepared = await prepareGiven(target, first, receiver.address).catch((error: unknown) => {
      for (const testCase of runnable) results.push(note(failed(testCase, error)));
      return undefined;
    });
    if (prepared === undefined) continue;
    const { obstacle: reason } = prepared;
    if (reason !== undefined) {
      for (const testCase of runnable) results.push(note({ testCase, outcome: "skipped", reason, durationMs: 0 }));
      continue;
    }
    for (const testCase of runnable) results.push(note(await timed(testCase, () => runCase(testCase, target, receiver))));
    await prepared.after();
  }
  return results;
}

async function main(): Promise<number> {
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  const clauses = readClauses();
  const all = loadCases();
  const wrong = wrongCitations(all, clauses);
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
  const cases = all.filter(isChosen);
  if (options.list) {
    for (const testCase of cases) console.log(`${testCase.area}: ${testCase.title}`);
    return 0;
  }
  progress = new Progress(cases.length);
  const receiver = await Receiver.start();
  const baseUrl = options["base-url"];
  const results = baseUrl === undefined ? await runOnOwn(cases, receiver) : await runOnGiven(baseUrl, cases, receiver);
  receiver.stop();
  progress.clear();

  const count = (outcome: CaseResult["outcome"]) => results.filter((result) => result.outcome === outcome).length;
  const coverage = coverageOf(
    results.filter((result) => result.outcome === "passed").map((result) => result.testCase),
    clauses,
  );
  if (options.json) {
    const { covered, total, uncovered } = coverage;
    const summary = { passed: count("passed"), failed: count("failed"), skipped: count("skipped"), covered, total };
    console.log(JSON.stringify({ ...summary, uncovered: uncovered.map((clause) => clause.id), results: results.map(resultJson) }, null, 2));
  }
  if (options.uncovered) say(uncoveredText(coverage));
  if (count("skipped") > 0) say(`${count("skipped")} skipped`);
  say(`covered ${coverage.covered} of ${coverage.total}`);
  say(`${count("passed")} passed, ${count("failed")} failed`);
  return count("failed") > 0 || results.length === 0 ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
