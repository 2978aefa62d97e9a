/**
 * Reads YAML with the runtime's own parser. The runtime's parser takes 1 s for 100,000 entries; the npm package takes 10 s and a gigabyte. Only the
 * npm package reports lines, so a wrong text is parsed a second time with this package to find the line.
 */
import type { Document, LineCounter } from "yaml";
import { isExact, LONG_NUMBER } from "#kernel/json/exact-json";

export class YamlProblem extends Error {
  constructor(
    readonly problem: string,
    /** The line of the problem in the YAML text, counted from 1. Undefined if the line could not be found. */
    readonly line: number | undefined,
  ) {
    super(`${problem}${line === undefined ? "" : ` (line ${line})`}`);
    this.name = "YamlProblem";
  }
}

/** Parses YAML. Throws `YamlProblem` if the text is not valid YAML. */
export async function readYaml(text: string): Promise<unknown> {
  await refuseInexactNumbers(text);
  if (!text.trimStart().startsWith("{") && !repeatsKey(text)) {
    try {
      return Bun.YAML.parse(text);
    } catch {
      // The text has a mistake. The package, which parses the text next, finds its line.
    }
  }
  const { document, lines } = await readWithLines(text);
  const [error] = document.errors;
  if (error !== undefined) throw new YamlProblem(firstLineOf(error.message), error.linePos?.[0].line);
  const repeated = await findRepeatedKey(document);
  if (repeated !== undefined) throw new YamlProblem("Map keys must be unique", lines.linePos(repeated).line);
  return document.toJS();
}

/**
 * Matches numbers outside of quotes, and words inside texts that look like numbers. The pattern takes linear time, because each match begins after a
 * separator and ends before one.
 */
const NUMBERS = /(?<![^\s[{,:])[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?(?=[\s\]},:]|$)/g;

/**
 * D-324: refuses numbers in the YAML whose digits a parser would change. The package's lexer recognizes texts and lines; it runs only if the text may
 * have a number that a parser would change.
 */
async function refuseInexactNumbers(text: string): Promise<void> {
  if (!text.matchAll(NUMBERS).some(([number]) => losesDigits(number))) return;
  const { Lexer } = await import("yaml");
  let line = 1;
  for (const token of new Lexer().lex(text)) {
    if (/^[-+.\d]/.test(token) && token.matchAll(NUMBERS).some(([number]) => number === token && losesDigits(number)))
      throw new YamlProblem(`the number ${token.slice(0, 50)} has more digits than can be kept: write it in quotes, or with fewer digits`, line);
    for (let at = token.indexOf("\n"); at !== -1; at = token.indexOf("\n", at + 1)) line++;
  }
}

const losesDigits = (number: string): boolean => LONG_NUMBER.test(number) && !isExact(number);

/**
 * Whether the YAML text may have the same key twice at its top level. The runtime's parser accepts a second `labels:` in a file, which silently
 * replaces the first.
 */
function repeatsKey(text: string): boolean {
  const seen = new Set<string>();
  for (const [, key] of text.matchAll(/^([a-z_-]+)[ \t]*:/gm)) {
    if (seen.has(key as string)) return true;
    seen.add(key as string);
  }
  return false;
}

/**
 * The position in the YAML text of the second of two equal keys in a map. The npm package's own check for equal keys would take quadratic time,
 * because it compares each key with every other key.
 */
async function findRepeatedKey(document: Document): Promise<number | undefined> {
  const { isScalar, visit } = await import("yaml");
  let found: number | undefined;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          found = key.range?.[0];
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}

const firstLineOf = (message: string): string => (message.split("\n", 1)[0] ?? message).replace(/ at line \d+, column \d+:?$/, "");

export async function readWithLines(text: string): Promise<{ document: Document; lines: LineCounter }> {
  const { LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  return { document: parseDocument(text, { lineCounter: lines, merge: true, uniqueKeys: false }), lines };
}
