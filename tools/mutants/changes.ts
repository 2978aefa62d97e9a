/** The small mistakes that a person makes in an expression or a statement: what a place of the source could say instead. */
import ts from "typescript";
import type { Change } from "./change.ts";
import { sqlChanges } from "./sql-changes.ts";

const OPERATORS: Readonly<Record<string, readonly [kind: string, now: string]>> = {
  "<": ["boundary", "<="],
  "<=": ["boundary", "<"],
  ">": ["boundary", ">="],
  ">=": ["boundary", ">"],
  "===": ["condition", "!=="],
  "!==": ["condition", "==="],
  "&&": ["condition", "||"],
  "||": ["condition", "&&"],
  "+": ["arithmetic", "-"],
  "-": ["arithmetic", "+"],
  "*": ["arithmetic", "/"],
  "/": ["arithmetic", "*"],
  "+=": ["arithmetic", "-="],
  "-=": ["arithmetic", "+="],
};

const OTHER_METHODS: Readonly<Record<string, string>> = {
  min: "max",
  max: "min",
  some: "every",
  every: "some",
  startsWith: "endsWith",
  endsWith: "startsWith",
  floor: "ceil",
  ceil: "floor",
  shift: "pop",
  push: "unshift",
};

/** `list.filter(f)` becomes `list`. */
const DROPPED_METHODS = new Set(["filter", "sort", "toSorted", "reverse", "toReversed", "trim", "toLowerCase", "toUpperCase", "slice"]);

/** Durations and sizes begin here: one millisecond or byte more is seldom a mistake that anybody makes, twice as much is. */
const LARGE = 1_000;

/** What stands at this node itself; its children have their own. */
export function changesAt(node: ts.Node): Change[] {
  if (ts.isBinaryExpression(node)) return operatorChanges(node);
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
    return [replaced("condition", node, textOf(node.operand))];
  if (ts.isIfStatement(node)) return decided(node.expression);
  if (ts.isConditionalExpression(node)) return decided(node.condition);
  if (ts.isNumericLiteral(node)) return numberChanges(node);
  if (node.kind === ts.SyntaxKind.TrueKeyword) return [replaced("boolean", node, "false")];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return [replaced("boolean", node, "true")];
  if (ts.isAwaitExpression(node)) return isPassedOn(node) ? [] : [replaced("await", node, textOf(node.expression))];
  if (ts.isCallExpression(node)) return methodChanges(node.expression, node.end);
  if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) return sqlChanges(node);
  if (ts.isExpressionStatement(node)) return statementChanges(node);
  if (ts.isContinueStatement(node) || (ts.isReturnStatement(node) && node.expression === undefined)) return [replaced("statement", node, ";")];
  return [];
}

const textOf = (node: ts.Node): string => node.getText();

const replaced = (kind: string, node: ts.Node, now: string): Change => ({ kind, start: node.getStart(), end: node.end, now });

/** Where a condition is a comparison, its operator has a change of its own besides. */
const decided = (condition: ts.Expression): Change[] =>
  /^(true|false)$/.test(textOf(condition)) ? [] : [replaced("condition", condition, "true"), replaced("condition", condition, "false")];

function operatorChanges({ left, operatorToken, right }: ts.BinaryExpression): Change[] {
  if (operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) return [{ kind: "condition", start: left.end, end: right.end, now: "" }];
  const other = OPERATORS[textOf(operatorToken)];
  if (other === undefined || (operatorToken.kind === ts.SyntaxKind.PlusToken && (isText(left) || isText(right)))) return [];
  return [replaced(other[0], operatorToken, other[1])];
}

/** Texts are joined by plus as well. */
const isText = (node: ts.Expression): boolean =>
  ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || (ts.isBinaryExpression(node) && (isText(node.left) || isText(node.right)));

function numberChanges(node: ts.NumericLiteral): Change[] {
  if (ts.isPropertyAssignment(node.parent) && node.parent.name === node) return [];
  const value = Number(node.text);
  return [replaced("constant", node, String(value < LARGE ? value + 1 : value * 2))];
}

/** A promise that is returned is awaited by the caller, except that its failure passes by a `catch`. */
function isPassedOn(node: ts.AwaitExpression): boolean {
  if (!ts.isReturnStatement(node.parent) && !ts.isArrowFunction(node.parent)) return false;
  for (let at: ts.Node = node.parent; !ts.isFunctionLike(at) && at.parent !== undefined; at = at.parent) if (ts.isTryStatement(at)) return false;
  return true;
}

function methodChanges(callee: ts.Expression, end: number): Change[] {
  if (!ts.isPropertyAccessExpression(callee)) return [];
  const name = callee.name.text;
  if (DROPPED_METHODS.has(name)) return [{ kind: "call", start: callee.expression.end, end, now: "" }];
  const other = Object.hasOwn(OTHER_METHODS, name) ? OTHER_METHODS[name] : undefined;
  return other === undefined ? [] : [replaced("call", callee.name, other)];
}

function statementChanges(node: ts.ExpressionStatement): Change[] {
  const acts = ts.isAwaitExpression(node.expression) ? node.expression.expression : node.expression;
  if (ts.isCallExpression(acts)) return acts.expression.kind === ts.SyntaxKind.SuperKeyword ? [] : [replaced("call", node, ";")];
  return ts.isBinaryExpression(acts) || ts.isDeleteExpression(acts) ? [replaced("statement", node, ";")] : [];
}
