/** Writes the result of a review as text and as an HTML page for the platform's reviewers. */
import { escaped } from "#conformance/report/junit";
import { permissionText } from "./permissions.ts";
import type { Needed, Review } from "./review.ts";

const listOf = (names: readonly string[]): string =>
  names.length === 0 ? "no request was refused because of this permission alone" : names.join(", ");

const usedBy = ({ operations, tests }: Needed): string => `${listOf(operations)}${tests.length === 0 ? "" : `; tests: ${tests.join(", ")}`}`;

/** The sentence about the needed permissions. */
function proofOf(count: number): string {
  if (count === 0) return "The suite passes without any permission.";
  return `The suite passes with the ${count === 1 ? "needed permission, and fails without it" : `${count} needed permissions, and fails without any one of them`}.`;
}

export function reviewText({ needed, unused, runs }: Review): string {
  const lines = needed.flatMap((one) => [
    `needed      ${permissionText(one.permission)}`,
    `            without it, these are refused: ${usedBy(one)}`,
  ]);
  const rest = unused.map((permission) => `not needed  ${permissionText(permission)}`);
  const proof = `The suite ran ${runs} times. ${proofOf(needed.length)}`;
  return [...lines, ...rest, proof].join("\n");
}

export function reviewPage({ needed, unused, operations, runs }: Review, command: string): string {
  const row = (...cells: readonly string[]): string => `<tr>${cells.map((cell) => `<td>${escaped(cell)}</td>`).join("")}</tr>`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Permissions of the app</title>
<style>body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; } table { border-collapse: collapse; width: 100%; } td, th { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top; }</style>
<h1>Permissions of the app</h1>
<p>The suite <code>${escaped(command)}</code> ran ${runs} times, each time in worlds of its own. ${proofOf(needed.length)}</p>
<h2>Needed</h2>
<table><tr><th>permission</th><th>operations that are refused without it</th><th>tests</th><th>result without it</th></tr>
${needed.map((one) => row(permissionText(one.permission), listOf(one.operations), one.tests.join(", "), one.problem)).join("\n")}
</table>
<h2>Granted and not needed</h2>
${unused.length === 0 ? "<p>Nothing.</p>" : `<ul>${unused.map((one) => `<li>${escaped(permissionText(one))}</li>`).join("")}</ul>`}
<h2>Operations</h2>
<table><tr><th>operation</th><th>requests that succeeded</th></tr>
${[...operations].map(([name, count]) => row(name, String(count))).join("\n")}
</table>
</html>
`;
}
