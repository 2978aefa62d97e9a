/** Reports a run as JUnit XML, with a suite for each area and a test for each case. */
import { type CaseResult, failureText } from "./results.ts";

/** Matches characters that a response may contain although XML 1.0 forbids them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 has no way to write them.
const UNWRITABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes a text for XML and HTML, in text and in attributes. */
export const escaped = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(UNWRITABLE, "\ufffd")
    .replaceAll(/[&<>"]/g, (letter) => ESCAPES[letter] ?? letter);

const seconds = (results: readonly CaseResult[]): string => (results.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000).toFixed(3);

const counts = (results: readonly CaseResult[]): string => {
  const count = (outcome: CaseResult["outcome"]) => results.filter((result) => result.outcome === outcome).length;
  return `tests="${results.length}" failures="${count("failed")}" skipped="${count("skipped")}" time="${seconds(results)}"`;
};

export function junitReport(results: readonly CaseResult[]): string {
  const suites = [...Map.groupBy(results, ({ testCase }) => testCase.area)].map(
    ([area, own]) => `  <testsuite name="${escaped(area)}" ${counts(own)}>\n${own.map(testOf).join("\n")}\n  </testsuite>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="conformance" ${counts(results)}>\n${suites.join("\n")}\n</testsuites>\n`;
}

function testOf(result: CaseResult): string {
  const { testCase, failure, reason, outcome } = result;
  const cited = [...testCase.clauses.map((id) => property("clause", id)), ...testCase.decisions.map((id) => property("decision", id))];
  const problem = failure?.problems.map(({ where, expected, got }) => `${where}: expected ${expected}, got ${got}`).join("; ") ?? "";
  const end = {
    passed: [],
    skipped: [`      <skipped message="${escaped(reason ?? "")}"/>`],
    failed: [`      <failure message="${escaped(problem)}">${failure === undefined ? "" : escaped(failureText(failure))}</failure>`],
  }[outcome];
  const head = `    <testcase classname="${escaped(testCase.area)}" name="${escaped(testCase.title)}" file="${escaped(testCase.file)}" time="${seconds([result])}">`;
  return [head, "      <properties>", ...cited, "      </properties>", ...end, "    </testcase>"].join("\n");
}

const property = (name: string, value: string): string => `        <property name="${name}" value="${escaped(value)}"/>`;
