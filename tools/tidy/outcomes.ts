/**
 * Checks that code uses the result of an insert: if the id of a new persona already exists, the request must not succeed. The check looks only at the
 * form of statements, because using types would take a minute. The check finds statements that only call a function `insert…` which takes a
 * `Transaction` and declares a result.
 */
import ts from "typescript";
import { type Check, eachNode, isCode, isTest, lineOf, type Problem, type RepositoryFile } from "./repository.ts";

const NO_OUTCOME = /^(void|unknown|Promise<(void|unknown)>)$/;

const isProgram = (file: RepositoryFile): boolean => file.path.startsWith("src/") && isCode(file) && !isTest(file);

const INSERT = /^insert[A-Z]/;

const takesTransaction = ({ parameters }: ts.SignatureDeclaration): boolean => parameters.some(({ type }) => type?.getText() === "Transaction");

/** Returns the name of a function, method or constant that takes a transaction and declares a result. */
function writerWithOutcome(node: ts.Node): string | undefined {
  if (!ts.isFunctionLike(node) || !takesTransaction(node) || node.type === undefined || NO_OUTCOME.test(node.type.getText())) return undefined;
  if (node.name !== undefined) return node.name.getText();
  const { parent } = node;
  return ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) ? parent.name.getText() : undefined;
}

/** Returns the name of the function that a statement calls without using its result, also through `write((tx) => …)`. */
function droppedIn(statement: ts.ExpressionStatement): string | undefined {
  let dropped: ts.Node = statement.expression;
  while (ts.isAwaitExpression(dropped) || ts.isVoidExpression(dropped) || ts.isParenthesizedExpression(dropped)) dropped = dropped.expression;
  if (!ts.isCallExpression(dropped)) return undefined;
  const [body] = dropped.arguments;
  const isWrite = lastName(dropped.expression.getText()) === "write" && body !== undefined && ts.isArrowFunction(body);
  if (isWrite && ts.isCallExpression(body.body)) dropped = body.body;
  return ts.isCallExpression(dropped) ? lastName(dropped.expression.getText()) : undefined;
}

const lastName = (callee: string): string => callee.slice(callee.lastIndexOf(".") + 1);

export const outcomes: Check = (files) => {
  const programs = files.filter(isProgram);
  const writers = new Set<string>();
  for (const file of programs) {
    eachNode(file, (node) => {
      const name = writerWithOutcome(node);
      if (name !== undefined && INSERT.test(name)) writers.add(name);
    });
  }
  return programs.flatMap((file) => {
    const problems: Problem[] = [];
    eachNode(file, (node) => {
      const name = ts.isExpressionStatement(node) ? droppedIn(node) : undefined;
      if (name === undefined || !writers.has(name)) return;
      problems.push({
        path: file.path,
        line: lineOf(file, node),
        what: `drops the result of ${name}, which says whether the write succeeded`,
        fix: "use it",
      });
    });
    return problems;
  });
};
