/** Makes the small mistakes that a person makes in an expression, a statement or SQL, as changes of the source text. */
import ts from "typescript";

export interface Change {
  readonly kind: string;
  /** The offset in the file at which the change begins. */
  readonly start: number;
  readonly end: number;
  readonly now: string;
}

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

/** Methods that a mutant leaves out: `list.filter(f)` becomes `list`. */
const DROPPED_METHODS = new Set(["filter", "sort", "toSorted", "reverse", "toReversed", "trim", "toLowerCase", "toUpperCase", "slice"]);

/**
 * A number of this size or more is probably a duration or a size in bytes. In a large number, an error of one is seldom a real mistake, so the mutant
 * has twice the value instead.
 */
const LARGE = 1_000;

/** Properties that appear only in documents. `npm run check` compares the documents, so tests need not check these properties. */
const DESCRIBING = new Set(["summary", "description", "clauses", "clause", "decisions", "decision", "example", "examples"]);

/** Functions whose arguments are not exchanged, because `Math.max(b, a)` is the same as `Math.max(a, b)`. */
const COMMUTATIVE = /^Math\.(?:min|max)$/;

/** Returns the changes that mutants make at this node itself, without the changes at its children. */
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
  if (ts.isCallExpression(node)) return [...methodChanges(node.expression, node.end), ...argumentChanges(node.expression, node.arguments)];
  if (ts.isNewExpression(node)) return argumentChanges(node.expression, node.arguments);
  if (ts.isObjectLiteralExpression(node)) return isAssignedTo(node) ? [] : node.properties.flatMap(propertyChanges);
  if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) return sqlChanges(node);
  if (ts.isExpressionStatement(node)) return statementChanges(node);
  if (ts.isContinueStatement(node) || ts.isThrowStatement(node) || (ts.isReturnStatement(node) && node.expression === undefined))
    return [replaced("statement", node, ";")];
  return [];
}

const textOf = (node: ts.Node): string => node.getText();

const replaced = (kind: string, node: ts.Node, now: string): Change => ({ kind, start: node.getStart(), end: node.end, now });

/**
 * Returns the changes that make a condition always true or always false. If the condition is a comparison, there are also changes of its operator,
 * from another function.
 */
const decided = (condition: ts.Expression): Change[] =>
  /^(true|false)$/.test(textOf(condition)) ? [] : [replaced("condition", condition, "true"), replaced("condition", condition, "false")];

function operatorChanges(whole: ts.BinaryExpression): Change[] {
  const { left, operatorToken, right } = whole;
  if (operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) return [{ kind: "condition", start: left.end, end: right.end, now: "" }];
  const operator = textOf(operatorToken);
  const other = OPERATORS[operator];
  if (other === undefined || (operator === "+" && (isText(left) || isText(right)))) return [];
  const dropped = { "&&": [left, right], "||": [left, right], "+": [left] }[operator] ?? [];
  return [replaced(other[0], operatorToken, other[1]), ...dropped.map((operand) => replaced("operand", whole, textOf(operand)))];
}

/** Whether a node is a text. A plus between texts gets no mutant with a minus, because it joins texts instead of adding numbers. */
const isText = (node: ts.Expression): boolean =>
  ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || (ts.isBinaryExpression(node) && (isText(node.left) || isText(node.right)));

function numberChanges(node: ts.NumericLiteral): Change[] {
  if (ts.isPropertyAssignment(node.parent) && node.parent.name === node) return [];
  const value = Number(node.text);
  return [replaced("constant", node, String(value < LARGE ? value + 1 : value * 2))];
}

/**
 * Whether an awaited promise is returned, so that the caller awaits it as well. Inside a `try` the await is needed, because only an awaited promise
 * fails into the `catch`.
 */
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

/** Exchanges two neighbouring arguments. */
function argumentChanges(callee: ts.Expression, all: readonly ts.Expression[] = []): Change[] {
  if (COMMUTATIVE.test(textOf(callee))) return [];
  return all.slice(1).flatMap((second, at) => {
    const first = all[at];
    if (first === undefined || !isSimple(first) || !isSimple(second) || textOf(first) === textOf(second)) return [];
    return [{ kind: "arguments", start: first.getStart(), end: second.end, now: `${textOf(second)}, ${textOf(first)}` }];
  });
}

/** Whether a node is a name, a property access or a literal. */
const isSimple = (node: ts.Expression): boolean =>
  ts.isIdentifier(node) ||
  ts.isPropertyAccessExpression(node) ||
  ts.isElementAccessExpression(node) ||
  ts.isLiteralExpression(node) ||
  ts.isTemplateExpression(node) ||
  /^(?:true|false|null|this|-\d[\d_]*)$/.test(textOf(node));

/**
 * Returns the changes that leave out the property or empty its text. A property that is spread on a condition (`...(is ? { a } : {})`) is not left
 * out, because the changes of the condition are enough.
 */
function propertyChanges(property: ts.ObjectLiteralElementLike): Change[] {
  if (ts.isMethodDeclaration(property) || ts.isAccessor(property)) return [];
  if (ts.isSpreadAssignment(property)) return isSimple(property.expression) ? [withoutProperty(property)] : [];
  if (DESCRIBING.has(textOf(property.name))) return [];
  if (ts.isShorthandPropertyAssignment(property)) return [withoutProperty(property)];
  const { initializer: value } = property;
  if (textOf(value) === "undefined") return [];
  const isFilled = ts.isStringLiteralLike(value) && value.text !== "";
  return [withoutProperty(property), ...(isFilled ? [replaced("property", value, '""')] : [])];
}

function withoutProperty(property: ts.ObjectLiteralElementLike): Change {
  const comma = /^\s*,/.exec(property.getSourceFile().text.slice(property.end))?.[0] ?? "";
  return { kind: "property", start: property.getStart(), end: property.end + comma.length, now: "" };
}

/** Whether an object literal is the target of an assignment, as in `({ a } = b)`, which reads the property. */
function isAssignedTo(node: ts.ObjectLiteralExpression): boolean {
  let at: ts.Node = node;
  while (ts.isObjectLiteralElement(at.parent) || ts.isObjectLiteralExpression(at.parent) || ts.isArrayLiteralExpression(at.parent)) at = at.parent;
  const { parent } = at;
  return ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken && parent.left === at;
}

function statementChanges(node: ts.ExpressionStatement): Change[] {
  const acts = ts.isAwaitExpression(node.expression) ? node.expression.expression : node.expression;
  if (ts.isCallExpression(acts)) return acts.expression.kind === ts.SyntaxKind.SuperKeyword ? [] : [replaced("call", node, ";")];
  return ts.isBinaryExpression(acts) || ts.isDeleteExpression(acts) ? [replaced("statement", node, ";")] : [];
}

/** Matches SQL: a whole statement, or the end of a statement that is appended to another text. */
const SQL = /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE|ORDER BY|LIMIT|AND|RETURNING|FOR UPDATE)\b\s+[a-zA-Z?(\d]/;

/** The character that replaces each `${…}`, repeated to the same length, so that offsets stay the same. */
const VALUE = "\uE000";

/** Matches the text after a condition of SQL. */
const NEXT = String.raw`(?=\s+(?:AND|OR|ORDER|GROUP|LIMIT|RETURNING|ON CONFLICT|FOR)\b|\s*\)|\s*$)`;

const ORDER = /\bORDER BY [\w.]+(?: ASC| DESC)?(?:, [\w.]+(?: ASC| DESC)?)*(?![\w.(])/g;

interface Rule {
  readonly pattern: RegExp;
  /** Returns the replacement for the match; undefined leaves the match unchanged. */
  readonly now: (found: RegExpExecArray) => string | undefined;
}

const turned = (pattern: RegExp, names: Readonly<Record<string, string>>): Rule => ({ pattern, now: ([found]) => names[found] });

const RULES: readonly Rule[] = [
  // The first two rules leave out one condition of the SQL.
  { pattern: new RegExp(String.raw`(?:(?<=^.)|\s+)AND\s+[^()]*?${NEXT}`, "g"), now: (found) => (endsInBetween(found) ? undefined : "") },
  { pattern: /\bWHERE\s+[^()]*?\s+AND\b/g, now: ([found]) => (/BETWEEN/.test(found) ? undefined : "WHERE") },
  turned(/\bIS( NOT)? NULL\b/g, { "IS NULL": "IS NOT NULL", "IS NOT NULL": "IS NULL" }),
  turned(/\bNOT (EXISTS|IN)\b/g, { "NOT EXISTS": "EXISTS", "NOT IN": "IN" }),
  turned(/(?<=\s)(<=|>=|<>|<|>)(?=\s)/g, { "<": "<=", "<=": "<", ">": ">=", ">=": ">", "<>": "=" }),
  { pattern: /(?<=\s)=(?=\s)/g, now: (found) => (isSetting(found) ? undefined : "<>") },
  turned(/\b(DESC|ASC)\b/g, { DESC: "ASC", ASC: "DESC" }),
  { pattern: /\bORDER BY [\w.]+(?!\s+(?:ASC|DESC)|[\w.(])/g, now: ([found]) => `${found} DESC` },
  // The two rules for ORDER BY leave out the whole ORDER BY, or all of its columns except the first.
  { pattern: ORDER, now: () => "" },
  { pattern: ORDER, now: ([found]) => (found.includes(",") ? found.slice(0, found.indexOf(",")) : undefined) },
  turned(/\b(MIN|MAX)\b(?=\()/g, { MIN: "MAX", MAX: "MIN" }),
  turned(/(?<=\s)[+-](?=\s)/g, { "+": "-", "-": "+" }),
  { pattern: /\bLIMIT(?=\s+[\uE000?])/g, now: () => "LIMIT 1 +" },
  { pattern: /(?<![\w.$'])\d+(?![\w.'])/g, now: ([found]) => String(Number(found) + 1) },
  { pattern: /\b(?:DISTINCT|LEFT)\s/g, now: () => "" },
  { pattern: /\bFOR UPDATE(?: OF \w+)?(?: SKIP LOCKED)?/g, now: () => "" },
];

function sqlChanges(node: ts.StringLiteralLike | ts.TemplateExpression): Change[] {
  const text = masked(node);
  if (!SQL.test(text)) return [];
  return RULES.flatMap(({ pattern, now: nowOf }) =>
    [...text.matchAll(pattern)].flatMap((found) => {
      const now = nowOf(found);
      const start = node.getStart() + found.index;
      return now === undefined ? [] : [{ kind: "sql", start, end: start + found[0].length, now }];
    }),
  );
}

/** Returns the source of the literal, with `VALUE` in place of the opening quote and of every `${…}`. */
function masked(node: ts.StringLiteralLike | ts.TemplateExpression): string {
  // A closing quote ends a condition and is not part of it, so a blank replaces the quote.
  const source = `${VALUE}${node.getText().slice(1, -1)} `;
  if (!ts.isTemplateExpression(node)) return source;
  let text = source;
  for (const { expression } of node.templateSpans) {
    const from = expression.getFullStart() - node.getStart() - "${".length;
    const to = from + "${".length + expression.getFullWidth() + "}".length;
    text = text.slice(0, from) + VALUE.repeat(to - from) + text.slice(to);
  }
  return text;
}

/** Whether an AND belongs to a BETWEEN: `a BETWEEN b AND c` is one condition. */
const endsInBetween = ({ input, index }: RegExpExecArray): boolean => /\bBETWEEN\s+\S+$/.test(input.slice(0, index));

/** Whether an equals sign assigns: `SET a = b` is not a condition. */
function isSetting({ input, index }: RegExpExecArray): boolean {
  const words = input.slice(0, index).match(/\b(SET|WHERE|ON|HAVING|WHEN|SELECT)\b/g);
  return words?.at(-1) === "SET";
}
