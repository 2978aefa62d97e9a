/** The results of the cases of a run. */
import type { Case } from "../cases.ts";
import type { CaseFailure } from "../session.ts";

export interface CaseResult {
  readonly testCase: Case;
  readonly outcome: "passed" | "failed" | "skipped";
  readonly failure?: CaseFailure;
  /** The reason why a case was skipped. */
  readonly reason?: string;
  readonly durationMs: number;
}

const indented = (text: string, by: string): string => text.replaceAll(/^/gm, by);

export function failureText({ step, sent, problems, response }: CaseFailure): string {
  const differences = problems.map(({ where, expected, got }) => `${where}\n  expected: ${expected}\n  got:      ${got}`).join("\n");
  const parts = [
    `in step ${step}`,
    differences,
    ...(sent === "" ? [] : [`sent:\n${indented(sent, "  ")}`]),
    ...(response === "" ? [] : [`came:\n${indented(response, "  ")}`]),
  ];
  return indented(parts.join("\n"), "    ");
}

export function resultText({ testCase, outcome, failure, reason }: CaseResult): string {
  if (outcome === "skipped") return `skip  ${testCase.title} (${reason})`;
  if (failure === undefined) return `pass  ${testCase.title}`;
  return `FAIL  ${testCase.title}\n    ${testCase.file}; ${[...testCase.clauses, ...testCase.decisions].join(", ")}\n${failureText(failure)}`;
}

export const resultJson = ({ testCase, outcome, failure, reason, durationMs }: CaseResult): Record<string, unknown> => ({
  title: testCase.title,
  area: testCase.area,
  file: testCase.file,
  clauses: testCase.clauses,
  decisions: testCase.decisions,
  profile: testCase.profile,
  outcome,
  duration_ms: Math.round(durationMs),
  ...(failure === undefined ? {} : { failure }),
  ...(reason === undefined ? {} : { reason }),
});

const BAR_CHARACTERS = 24;
/** The control codes (ECMA-48) that move to the first column and erase the line. */
const CLEARED = "\r\u001b[K";

/** Shows on stderr how many cases have run. The bar is not shown if stderr is not a terminal. */
export class Progress {
  readonly #total: number;
  #done = 0;
  #failed = 0;

  constructor(total: number) {
    this.#total = total;
  }

  /** Erases the bar, so that a line of the report can be printed. The next call of `ended` shows the bar again. */
  clear(): void {
    if (process.stderr.isTTY) process.stderr.write(CLEARED);
  }

  ended(isFailed: boolean): void {
    this.#done++;
    if (isFailed) this.#failed++;
    if (!process.stderr.isTTY) return;
    const filled = Math.floor((this.#done / this.#total) * BAR_CHARACTERS);
    const bar = `${"█".repeat(filled)}${"░".repeat(BAR_CHARACTERS - filled)}`;
    process.stderr.write(`${CLEARED}${bar} ${this.#done} of ${this.#total} cases, ${this.#failed} failed`);
  }
}
