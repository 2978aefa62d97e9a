/** Finds the clauses of the interface that have a passing case. */

import type { Case } from "./cases.ts";
import { specTexts } from "./files.ts";
import { readYaml } from "./yaml.ts";

export interface Clause {
  readonly id: string;
  readonly area: string;
  readonly kind: string;
  readonly text: string;
}

/**
 * The kinds of clauses that responses of a server can prove. Responses cannot prove a clause of the kind `open`, which leaves a question open, or
 * of the kind `info`, which is not about the server.
 */
export const showableKinds: ReadonlySet<string> = new Set(["rule", "shape", "limit", "state"]);

export const readClauses = (): Clause[] => readYaml(specTexts["clauses.yaml"] ?? "") as Clause[];

/** Returns a message for each case that cites no clause or decision, or an id that is not a clause or decision. */
export function wrongCitations(cases: readonly Case[], clauses: readonly Clause[]): string[] {
  const known = new Set(clauses.map((clause) => clause.id));
  return cases.flatMap((testCase) => {
    if (testCase.clauses.length + testCase.decisions.length === 0) return [`${testCase.file}: "${testCase.title}" cites neither clause nor decision`];
    const clausesWrong = testCase.clauses
      .filter((id) => !known.has(id))
      .map((id) => `${testCase.file}: "${testCase.title}" cites ${id}, which is not a clause`);
    const decisionsWrong = testCase.decisions
      .filter((id) => !/^D-\d{2,3}$/.test(id))
      .map((id) => `${testCase.file}: "${testCase.title}" cites ${id}, which is not a decision`);
    return [...clausesWrong, ...decisionsWrong];
  });
}

/** Reads from `spec/uncovered.md` the reason why a clause has no case, by the id of the clause. */
export const readReasons = (): Map<string, string> => readClauseTable("uncovered.md");

/** Reads the rows of a table in `spec/` whose first column is a clause. */
export function readClauseTable(file: string): Map<string, string> {
  const rows = (specTexts[file] ?? "").matchAll(/^\|\s*([A-Z][\w-]*)\s*\|\s*(.+?)\s*\|\s*$/gm);
  return new Map([...rows].map(([, id = "", reason = ""]) => [id, reason]));
}

export interface Coverage {
  readonly covered: number;
  readonly total: number;
  readonly uncovered: readonly (Clause & { readonly reason?: string })[];
}

export function coverageOf(passed: readonly Case[], clauses: readonly Clause[]): Coverage {
  const cited = new Set(passed.flatMap((testCase) => testCase.clauses));
  const reasons = readReasons();
  const showable = clauses.filter((clause) => showableKinds.has(clause.kind));
  const uncovered = showable
    .filter((clause) => !cited.has(clause.id))
    .map((clause) => {
      const reason = reasons.get(clause.id);
      return reason === undefined ? clause : { ...clause, reason };
    });
  return { covered: showable.length - uncovered.length, total: showable.length, uncovered };
}

export function uncoveredText({ uncovered }: Coverage): string {
  const areas = [...new Set(uncovered.map((clause) => clause.area))];
  return areas
    .map((area) => {
      const lines = uncovered
        .filter((clause) => clause.area === area)
        .map((clause) => `  ${clause.id}: ${clause.text}${clause.reason === undefined ? "" : `\n      reason: ${clause.reason}`}`);
      return `${area} (${lines.length})\n${lines.join("\n")}`;
    })
    .join("\n");
}
