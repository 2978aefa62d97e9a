/**
 * Finds assertions that cannot fail, or fail too rarely: these assertions hold whatever the program does, or hold even if the value that they
 * check does not exist. The check looks only at the source text of an assertion, not at types or values.
 */
import ts from "typescript";
import { type Check, eachNode, isCode, lineOf, type Problem, type RepositoryFile } from "./repository.ts";

const isOfTests = (file: RepositoryFile): boolean => isCode(file) && (file.path.startsWith("test/") || file.path.endsWith(".test.ts"));

/**
 * Matchers that nearly every value passes. Use matchers that name the expected value or type instead, such as `toBe`, `toEqual` and `toBeString`.
 */
const VAGUE = new Set(["toBeTruthy", "toBeFalsy", "toBeDefined"]);
const EQUAL = new Set(["toBe", "toEqual", "toStrictEqual", "toMatchObject"]);

interface Assertion {
  /** The argument of `expect(…)`. */
  readonly actual: ts.Expression;
  readonly matcher: string;
  readonly expected: ts.Expression | undefined;
  readonly isNegated: boolean;
}

/** Splits `expect(actual).matcher(expected)`, with or without `.not`. */
function assertionOf(node: ts.Node): Assertion | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  let subject = node.expression.expression;
  const isNegated = ts.isPropertyAccessExpression(subject) && subject.name.text === "not";
  if (ts.isPropertyAccessExpression(subject)) subject = subject.expression;
  if (!ts.isCallExpression(subject) || subject.expression.getText() !== "expect") return undefined;
  const [actual] = subject.arguments;
  if (actual === undefined) return undefined;
  return { actual: bare(actual), matcher: node.expression.name.text, expected: optionalBare(node.arguments[0]), isNegated };
}

/** Returns the expression without brackets, `await`, and syntax that only the types need. */
function bare(node: ts.Expression): ts.Expression {
  let inner = node;
  while (ts.isParenthesizedExpression(inner) || ts.isAsExpression(inner) || ts.isNonNullExpression(inner) || ts.isAwaitExpression(inner))
    inner = inner.expression;
  return inner;
}

const optionalBare = (node: ts.Expression | undefined): ts.Expression | undefined => (node === undefined ? undefined : bare(node));

/** Returns the default in `a ?? 1`, which replaces a missing value. */
function defaultOf(node: ts.Expression): string | undefined {
  const isDefaulted = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken;
  return isDefaulted ? bare(node.right).getText() : undefined;
}

/** Whether an expression with `?.` may be undefined because a value before the `?.` is missing. */
const isOptional = (node: ts.Expression): boolean => (node.flags & ts.NodeFlags.OptionalChain) !== 0;

function isSorted(node: ts.Expression): boolean {
  return ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && /^(sort|toSorted)$/.test(node.expression.name.text);
}

/** Whether an expression has the same value each time. An expression with a call may have another value each time. */
const isConstant = (node: ts.Expression): boolean => !node.getText().includes("(");

function problemOf({ actual, matcher, expected, isNegated }: Assertion, hasReason: () => boolean): [what: string, fix: string] | undefined {
  if (VAGUE.has(matcher)) return [`${matcher} holds for nearly every value`, "say what is expected"];
  if (matcher === "toThrow" && expected === undefined && !isNegated) return ["the test accepts any error", "say which: toThrow(…)"];
  if (matcher === "toBe" && isNegated && /\bstatus$/.test(actual.getText())) return ["the test accepts any other status", "say which"];
  if (!EQUAL.has(matcher) || expected === undefined || isNegated) return undefined;
  if (isConstant(actual) && actual.getText() === expected.getText())
    return ["the value is compared with itself", "compare it with the expected value"];
  if (defaultOf(actual) === expected.getText()) return ["the assertion also holds if the value is missing", "leave the default out"];
  if (isOptional(actual) && isOptional(expected))
    return ["the assertion also holds if both values are missing", "compare values that certainly exist"];
  if (isSorted(actual) && isSorted(expected) && !hasReason())
    return ["both sides are sorted, so the test does not check the order", "compare the order, or say why it has no meaning: // order: …"];
  return undefined;
}

/** Returns the initializer of a constant with this name, in a block around `from`. */
function madeFrom(name: string, from: ts.Node): string {
  for (let scope: ts.Node | undefined = from.parent; scope !== undefined; scope = scope.parent) {
    if (!ts.isBlock(scope) && !ts.isSourceFile(scope)) continue;
    const declarations = scope.statements.flatMap((one) => (ts.isVariableStatement(one) ? [...one.declarationList.declarations] : []));
    const made = declarations.find((one) => new RegExp(`\\b${name}\\b`).test(one.name.getText()));
    if (made !== undefined) return made.initializer?.getText() ?? "";
  }
  return "";
}

const isWrittenOut = (list: ts.Expression): boolean =>
  ts.isArrayLiteralExpression(list)
    ? list.elements.some((one) => !ts.isSpreadElement(one))
    : ts.isCallExpression(list) && list.arguments.some((one) => ts.isArrayLiteralExpression(one) && isWrittenOut(one));

/** Whether a loop may run zero times. If the program returns no entries, the assertions in a loop over the entries check nothing. */
function isPerhapsEmpty(loop: ts.ForOfStatement): boolean {
  if (isWrittenOut(bare(loop.expression)) || !/\bexpect\w*\(/.test(loop.statement.getText())) return false;
  const list = loop.expression.getText();
  const [name = ""] = /[A-Za-z_]\w*/.exec(list.replace(/^(?:\[\.\.\.|Object\.\w+\()/, "")) ?? [];
  const isAwaited = (text: string): boolean => /^[([.]*await\b/.test(text);
  if (!isAwaited(list) && !isAwaited(madeFrom(name, loop))) return false;
  let block: ts.Node = loop.parent;
  while (!ts.isBlock(block) && !ts.isSourceFile(block)) block = block.parent;
  // The loop is accepted if another assertion is about the list, or about the value that contains the list, because that assertion fails if the
  // list is empty.
  return !new RegExp(`\\bexpect\\w*\\([^;]*\\b${name}\\b`).test(block.getText().replace(loop.getText(), ""));
}

export const assertions: Check = (files) =>
  files.filter(isOfTests).flatMap((file) => {
    const problems: Problem[] = [];
    const lines = file.text.split("\n");
    eachNode(file, (node) => {
      const line = lineOf(file, node);
      const assertion = assertionOf(node);
      const said = assertion && problemOf(assertion, () => lines.slice(line - 2, line).some((text) => text.includes("// order: ")));
      if (said !== undefined) problems.push({ path: file.path, line, what: said[0], fix: said[1] });
      if (ts.isForOfStatement(node) && isPerhapsEmpty(node))
        problems.push({
          path: file.path,
          line,
          what: "if the program returns nothing, this loop checks nothing",
          fix: "say how many there are, or that there is at least one",
        });
    });
    return problems;
  });
