/**
 * What a write says about itself is looked at: a persona whose id was taken must not be acknowledged. Found by form, since types would take
 * a minute: a statement that is nothing but `tx.run`, or a function that takes a `Transaction` and declares a result.
 */
import ts from "typescript";
import { type Check, eachNode, isCode, isTest, lineOf, type Problem, type RepositoryFile } from "./repository.ts";

const NO_OUTCOME = /^(void|unknown|Promise<(void|unknown)>)$/;

const isProgram = (file: RepositoryFile): boolean => file.path.startsWith("src/") && isCode(file) && !isTest(file);

const takesTransaction = ({ parameters }: ts.SignatureDeclaration): boolean => parameters.some(({ type }) => type?.getText() === "Transaction");

interface Writer {
  readonly name: string;
  readonly hasOutcome: boolean;
}

/** A function, method or constant that takes a transaction and declares what it returns. */
function writerOf(node: ts.Node): Writer | undefined {
  if (!ts.isFunctionLike(node) || !takesTransaction(node) || node.type === undefined) return undefined;
  const hasOutcome = !NO_OUTCOME.test(node.type.getText());
  if (node.name !== undefined) return { name: node.name.getText(), hasOutcome };
  const { parent } = node;
  return ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) ? { name: parent.name.getText(), hasOutcome } : undefined;
}

interface Invoked {
  /** As it is written: `tx.run`, `insertPersona`. */
  readonly callee: string;
  readonly given: readonly string[];
}

/** What a statement invokes and drops the result of, also through `write((tx) => …)`. */
function droppedIn(statement: ts.ExpressionStatement): Invoked | undefined {
  let dropped: ts.Node = statement.expression;
  while (ts.isAwaitExpression(dropped) || ts.isVoidExpression(dropped) || ts.isParenthesizedExpression(dropped)) dropped = dropped.expression;
  if (!ts.isCallExpression(dropped)) return undefined;
  const [body] = dropped.arguments;
  const isWrite = lastName(dropped.expression.getText()) === "write" && body !== undefined && ts.isArrowFunction(body);
  if (isWrite && ts.isCallExpression(body.body)) dropped = body.body;
  return ts.isCallExpression(dropped)
    ? { callee: dropped.expression.getText(), given: dropped.arguments.map((argument) => argument.getText()) }
    : undefined;
}

const lastName = (callee: string): string => callee.slice(callee.lastIndexOf(".") + 1);

/** Of a name that several functions have, one without a result excuses all: here names are known, not types. */
function writersWithOutcome(programs: readonly RepositoryFile[]): ReadonlySet<string> {
  const writers = new Map<string, boolean>();
  for (const file of programs) {
    eachNode(file, (node) => {
      const writer = writerOf(node);
      if (writer !== undefined) writers.set(writer.name, writer.hasOutcome && (writers.get(writer.name) ?? true));
    });
  }
  return new Set([...writers].filter(([, hasOutcome]) => hasOutcome).map(([name]) => name));
}

export const outcomes: Check = (files) => {
  const programs = files.filter(isProgram);
  const writers = writersWithOutcome(programs);
  return programs.flatMap((file) => {
    const problems: Problem[] = [];
    eachNode(file, (node) => {
      const invoked = ts.isExpressionStatement(node) ? droppedIn(node) : undefined;
      if (invoked === undefined) return;
      const { callee, given } = invoked;
      if (callee !== "tx.run" && !(writers.has(lastName(callee)) && given.includes("tx"))) return;
      const fix = callee === "tx.run" ? "use it, or say runOne or runAny" : "use it, or see src/storage/database.ts";
      problems.push({ path: file.path, line: lineOf(file, node), what: `drops what ${callee} says about the write`, fix });
    });
    return problems;
  });
};
