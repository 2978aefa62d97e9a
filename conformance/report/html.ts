/** Reports a run as one HTML page with the results by clause. The HTML page is a single file without scripts. */

import type { ClauseResult } from "./by-clause.ts";
import { escaped } from "./junit.ts";
import { type CaseResult, failureText } from "./results.ts";

const STYLE = `:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; } body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; } td { border-top: 1px solid #8884; padding: .3rem .6rem; vertical-align: top; } pre { overflow-x: auto; }
.broken { color: #c62828; } .shown { color: #2e7d32; } .open { opacity: .7; } td:first-child, td:nth-child(2) { white-space: nowrap; }`;

const words: Readonly<Record<ClauseResult["state"], string>> = { broken: "not kept", shown: "kept", open: "not run" };

export function htmlReport(results: readonly CaseResult[], clauses: readonly ClauseResult[]): string {
  const states = (["shown", "broken", "open"] as const).map((state) => `${clauses.filter((one) => one.state === state).length} ${words[state]}`);
  const outcomes = (["passed", "failed", "skipped"] as const).map(
    (outcome) => `${results.filter((result) => result.outcome === outcome).length} ${outcome}`,
  );
  const areas = [...Map.groupBy(clauses, ({ clause }) => clause.area)].map(
    ([area, own]) => `<h2>${escaped(area)}</h2>\n<table>\n${own.map(rowOf).join("\n")}\n</table>`,
  );
  const others = results.filter(({ testCase, outcome }) => outcome === "failed" && testCase.clauses.length === 0);
  const decisions = others.length === 0 ? "" : `<h2>Decisions</h2>\n${others.map(caseOf).join("\n")}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Conformance</title><style>${STYLE}</style></head><body>
<h1>Conformance</h1>
<p>Clauses: ${states.join(", ")}. Cases: ${outcomes.join(", ")}.</p>
${[...areas, decisions].filter((part) => part !== "").join("\n")}
</body></html>
`;
}

const rowOf = ({ clause, state, results }: ClauseResult): string =>
  `<tr id="${escaped(clause.id)}"><td>${escaped(clause.id)}</td><td class="${state}">${words[state]}</td><td>${escaped(clause.text)}${results.map(caseOf).join("")}</td></tr>`;

function caseOf({ testCase, outcome, failure, reason }: CaseResult): string {
  const title = `<summary>${outcome}: ${escaped(testCase.title)}</summary>`;
  const more = failure === undefined ? `<p>${escaped(reason ?? testCase.file)}</p>` : `<pre>${escaped(failureText(failure))}</pre>`;
  return `<details${outcome === "failed" ? " open" : ""}>${title}${more}</details>`;
}
