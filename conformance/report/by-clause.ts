/** Groups the results of a run by clause. */
import { type Clause, showableKinds } from "../coverage.ts";
import type { CaseResult } from "./results.ts";

export interface ClauseResult {
  readonly clause: Clause;
  /**
   * `broken` if a case that cites the clause failed, `shown` if all cases that cite the clause and ran have passed, and
   * `open` if none of these cases ran.
   */
  readonly state: "broken" | "shown" | "open";
  readonly results: readonly CaseResult[];
}

/** The clauses that responses can prove, with their results, in the order of the interface document. */
export const clausesOf = (results: readonly CaseResult[], clauses: readonly Clause[]): ClauseResult[] =>
  clauses
    .filter(({ kind }) => showableKinds.has(kind))
    .map((clause) => {
      const own = results.filter(({ testCase }) => testCase.clauses.includes(clause.id));
      const has = (outcome: CaseResult["outcome"]) => own.some((result) => result.outcome === outcome);
      return { clause, state: has("failed") ? "broken" : has("passed") ? "shown" : "open", results: own };
    });

/** Writes the broken clauses for a terminal, each with the failed cases that cite it; empty if no clause is broken. */
export function clausesText(results: readonly ClauseResult[]): string {
  const broken = results.filter(({ state }) => state === "broken");
  if (broken.length === 0) return "";
  const lines = broken.map(({ clause: { id, text }, results: own }) => {
    const failed = own.filter(({ outcome }) => outcome === "failed").map(({ testCase }) => `\n      ${testCase.title}`);
    return `  ${id}: ${text}${failed.join("")}`;
  });
  return `not kept (${broken.length}):\n${lines.join("\n")}`;
}
