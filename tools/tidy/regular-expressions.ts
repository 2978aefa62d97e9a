/**
 * `npm run check -- expressions`: checks that every regular expression of the server takes time in proportion to the length of its text, because
 * callers choose the text. The package recheck computes the time from the expression itself.
 */
import { check } from "recheck";
import ts from "typescript";
import { eachNode, isCode, isTest, lineOf, type Problem, problemText, type RepositoryFile, readRepository } from "./repository.ts";

const FIX = "write the expression so that no text matches in two ways and a failed match is not tried again from each position; or use a loop";
/**
 * Matches the comment that an expression built at run time needs. The comment is up to three lines above the expression, and says why the expression
 * is linear.
 */
const REASON = /\/\/.*\blinear\b/i;
/**
 * The time limit for one expression. Most expressions take some ms; an expression that recheck cannot judge within this time is too complicated for
 * readers as well.
 */
const MS_MAX = 20_000;

interface Found {
  readonly path: string;
  readonly line: number;
  /** The expression; undefined if it is built at run time. */
  readonly expression: { readonly source: string; readonly flags: string } | undefined;
}

/** Finds the expressions of the server: literals, the patterns of schemas, and expressions that are built at run time without a reason. */
function expressionsIn(files: readonly RepositoryFile[]): Found[] {
  return files
    .filter((file) => file.path.startsWith("src/") && isCode(file) && !isTest(file))
    .flatMap((file) => {
      const lines = file.text.split("\n");
      const found: Found[] = [];
      eachNode(file, (node) => {
        const line = lineOf(file, node);
        const expression = expressionOf(node);
        const isReasoned = () => REASON.test(lines.slice(Math.max(0, line - 4), line).join("\n"));
        if (expression !== undefined || (isBuilt(node) && !isReasoned())) found.push({ path: file.path, line, expression });
      });
      return found;
    });
}

function expressionOf(node: ts.Node): Found["expression"] {
  if (ts.isRegularExpressionLiteral(node)) {
    const end = node.text.lastIndexOf("/");
    return { source: node.text.slice(1, end), flags: node.text.slice(end + 1) };
  }
  const isPattern = ts.isPropertyAssignment(node) && node.name.getText() === "pattern" && ts.isStringLiteralLike(node.initializer);
  return isPattern ? { source: (node.initializer as ts.StringLiteralLike).text, flags: "u" } : undefined;
}

const isBuilt = (node: ts.Node): boolean => (ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === "RegExp";

export async function slowExpressions(files: readonly RepositoryFile[]): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const { path, line, expression } of expressionsIn(files)) {
    const what = expression === undefined ? "builds a regular expression that cannot be checked" : await problemOf(expression);
    if (what !== undefined) problems.push({ path, line, what, fix: FIX });
  }
  return problems;
}

async function problemOf({ source, flags }: { readonly source: string; readonly flags: string }): Promise<string | undefined> {
  const result = await check(source, flags, { timeout: MS_MAX });
  if (result.status === "safe") return undefined;
  const problem = result.status === "vulnerable" ? `takes ${result.complexity.type} time` : "recheck cannot decide whether the expression is linear";
  return `/${source}/${flags} ${problem}`;
}

if (import.meta.main) {
  const files = readRepository(new URL("../..", import.meta.url).pathname);
  const problems = await slowExpressions(files);
  for (const problem of problems) console.error(problemText(problem));
  console.log(`${expressionsIn(files).length} regular expressions, ${problems.length === 0 ? "all linear" : `${problems.length} problems`}`);
  process.exit(problems.length === 0 ? 0 : 1);
}
