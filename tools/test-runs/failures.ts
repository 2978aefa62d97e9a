/** What Bun's test runner says of each test that failed, taken out of everything that a run prints. */

export interface Failure {
  /** Its file, its groups and its title. */
  readonly test: string;
  /** What was printed between the end of the test before it and its own: the error, and what the test printed itself. */
  readonly output: string;
}

const FILE = /^\S+\.(?:test|proof)\.ts:$/;
const END = /^\((pass|fail|skip|todo)\) (.*?)(?: \[[\d.]+ ?m?s\])?$/;
/** Bun repeats the titles of all that failed at its end. */
const SUMMARY = /^\d+ tests? failed:$/;
const BETWEEN = "# Unhandled error between tests";
/** Of one test; the error stands at the end. */
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
      if (block.includes(BETWEEN)) add("(between tests)");
      else if (result === "fail") {
        // Why, where it is no error: that it took too long.
        if (lines[at + 1]?.startsWith("  ^ ") === true) block.push(lines[at + 1]?.trim() ?? "");
        add(title);
      }
      block = [];
    } else if (!line.startsWith("  ^ ")) block.push(line);
    if (isFile) file = line.slice(0, -1);
  }
  return failures;
}

export const failureText = ({ test, output }: Failure): string => `✗ ${test}\n${output.replaceAll(/^(?=.)/gm, "    ")}`;
