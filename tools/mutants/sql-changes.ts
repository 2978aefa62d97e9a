/** Small mistakes inside a statement of SQL: its conditions, its order, its limits, its constants. */
import ts from "typescript";
import type { Change } from "./change.ts";

/** Whole statements, and the ends that are put behind one. */
const SQL = /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|WHERE|ORDER BY|LIMIT|AND|RETURNING|FOR UPDATE)\b\s+[a-zA-Z?(\d]/;

/** Stands for what a `${…}` holds, one sign for each of its own, so that places stay the same. */
const VALUE = "\uE000";

/** Ends a condition. */
const NEXT = String.raw`(?=\s+(?:AND|OR|ORDER|GROUP|LIMIT|RETURNING|ON CONFLICT|FOR)\b|\s*\)|\s*$)`;

const ORDER = /\bORDER BY [\w.]+(?: ASC| DESC)?(?:, [\w.]+(?: ASC| DESC)?)*(?![\w.(])/g;

interface Rule {
  readonly pattern: RegExp;
  /** Instead of what was found; undefined keeps it. */
  readonly now: (found: RegExpExecArray) => string | undefined;
}

const turned = (pattern: RegExp, names: Readonly<Record<string, string>>): Rule => ({ pattern, now: ([found]) => names[found] });

const RULES: readonly Rule[] = [
  // A condition less.
  { pattern: new RegExp(String.raw`(?:(?<=^.)|\s+)AND\s+[^()]*?${NEXT}`, "g"), now: (found) => (endsInBetween(found) ? undefined : "") },
  { pattern: /\bWHERE\s+[^()]*?\s+AND\b/g, now: ([found]) => (/BETWEEN/.test(found) ? undefined : "WHERE") },
  turned(/\bIS( NOT)? NULL\b/g, { "IS NULL": "IS NOT NULL", "IS NOT NULL": "IS NULL" }),
  turned(/\bNOT (EXISTS|IN)\b/g, { "NOT EXISTS": "EXISTS", "NOT IN": "IN" }),
  turned(/(?<=\s)(<=|>=|<>|<|>)(?=\s)/g, { "<": "<=", "<=": "<", ">": ">=", ">=": ">", "<>": "=" }),
  { pattern: /(?<=\s)=(?=\s)/g, now: (found) => (isSetting(found) ? undefined : "<>") },
  turned(/\b(DESC|ASC)\b/g, { DESC: "ASC", ASC: "DESC" }),
  { pattern: /\bORDER BY [\w.]+(?!\s+(?:ASC|DESC)|[\w.(])/g, now: ([found]) => `${found} DESC` },
  // No order at all, and none among those that are equal in the first column.
  { pattern: ORDER, now: () => "" },
  { pattern: ORDER, now: ([found]) => (found.includes(",") ? found.slice(0, found.indexOf(",")) : undefined) },
  turned(/\b(MIN|MAX)\b(?=\()/g, { MIN: "MAX", MAX: "MIN" }),
  turned(/(?<=\s)[+-](?=\s)/g, { "+": "-", "-": "+" }),
  { pattern: /\bLIMIT(?=\s+[\uE000?])/g, now: () => "LIMIT 1 +" },
  { pattern: /(?<![\w.$'])\d+(?![\w.'])/g, now: ([found]) => String(Number(found) + 1) },
  { pattern: /\b(?:DISTINCT|LEFT)\s/g, now: () => "" },
  { pattern: /\bFOR UPDATE(?: OF \w+)?(?: SKIP LOCKED)?/g, now: () => "" },
];

export function sqlChanges(node: ts.StringLiteralLike | ts.TemplateExpression): Change[] {
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

/** The source of the literal, with everything between its texts hidden. */
function masked(node: ts.StringLiteralLike | ts.TemplateExpression): string {
  // A quote ends a condition as the text does, and is no part of it.
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

/** `a BETWEEN b AND c` is one condition. */
const endsInBetween = ({ input, index }: RegExpExecArray): boolean => /\bBETWEEN\s+\S+$/.test(input.slice(0, index));

/** `SET a = b` is no condition. */
function isSetting({ input, index }: RegExpExecArray): boolean {
  const words = input.slice(0, index).match(/\b(SET|WHERE|ON|HAVING|WHEN|SELECT)\b/g);
  return words?.at(-1) === "SET";
}
