/** Finds the failed tests in the output of Bun's test runner, each with its lines of the output. */

export interface Failure {
  /** The file, the groups and the title of the failed test. */
  readonly test: string;
  /** The output from the end of the previous test to the end of this test: the error, and what the test itself printed. */
  readonly output: string;
}

const FILE = /^\S+\.(?:test|proof)\.ts:$/;
const END = /^\((pass|fail|skip|todo)\) (.*?)(?: \[[\d.]+ ?m?s\])?$/;
/** The heading at the end of the output, below which Bun repeats the titles of all failed tests. */
const SUMMARY = /^\d+ tests? failed:$/;
const BETWEEN = "# Unhandled error between tests";
/**
 * The greatest number of lines that are kept for one test. If a test prints more lines, only the last lines are kept,
 * because the error is at the end.
 */
const LINES_MAX = 150;

export function failuresOf(output: string): Failure[] {
  const failures: Failure[] = [];
  let file = "";
  let block: string[] = [];
  const lines = Bun.stripANSI(output).split("\n");
  const add = (title: string): void => void failures.push({ test: `${file} ${title}`, output: block.slice(-LINES_MAX).join("\n").trim() });
  for (const [at, line] of lines.entries()) {
    if (SUMMARY.test(line)) break;
    const isFile = FILE.test(line);
    const [, result, title = ""] = END.exec(line) ?? [];
    if (isFile || result !== undefined) {
      // If a test exceeds its time limit, Bun prints no error before the result; the next line, which begins with `^`, says so.
      if (result === "fail" && lines[at + 1]?.startsWith("  ^ ") === true) block.push(lines[at + 1]?.trim() ?? "");
      if (result === "fail") add(title);
      else if (block.includes(BETWEEN)) add("(between tests)");
      block = [];
    } else if (!line.startsWith("  ^ ")) block.push(line);
    if (isFile) file = line.slice(0, -1);
  }
  return failures;
}

export const failureText = ({ test, output }: Failure): string => `✗ ${test}\n${output.replaceAll(/^(?=.)/gm, "    ")}`;
