/** What a run says about its cases. */
import type { Case } from "../cases.ts";
import type { CaseFailure } from "../session.ts";

export interface CaseResult {
  readonly testCase: Case;
  readonly outcome: "passed" | "failed" | "skipped";
  readonly failure?: CaseFailure;
  /** Why a case was skipped. */
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
