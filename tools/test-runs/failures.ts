/** The output of Bun's test runner about each failed test, taken out of the output of a run. */

export interface Failure {
  /** Its file, its groups and its title. */
  readonly test: string;
  /** The output between the end of the previous test and its own end: the error, and the test's own output. */
  readonly output: string;
}

const FILE = /^\S+\.(?:test|proof)\.ts:$/;
const END = /^\((pass|fail|skip|todo)\) (.*?)(?: \[[\d.]+ ?m?s\])?$/;
/** Bun repeats the titles of all that failed at its end. */
const SUMMARY = /^\d+ tests? failed:$/;
const BETWEEN = "# Unhandled error between tests";
/** Of one test. The error is at the end. */
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
      // The reason if there was no error: the test took too long.
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
