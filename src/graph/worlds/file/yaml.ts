/**
 * Reads YAML with the runtime's own parser: 100,000 entries take this parser 1 s, and take the npm package 10 s and a gigabyte. The package knows
 * lines, so the package reads a wrong text a second time to name the line.
 */
import type { Document, LineCounter } from "yaml";
import { isExact, LONG_NUMBER } from "#kernel/json/exact-json";

export class YamlProblem extends Error {
  constructor(
    readonly problem: string,
    /** The line of the problem, counted from 1. Undefined if the line is not known. */
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
      // The package, which runs next, finds the line of the mistake.
    }
  }
  const { document, lines } = await readWithLines(text);
  const [error] = document.errors;
  if (error !== undefined) throw new YamlProblem(firstLineOf(error.message), error.linePos?.[0].line);
  const repeated = await findRepeatedKey(document);
  if (repeated !== undefined) throw new YamlProblem("Map keys must be unique", lines.linePos(repeated).line);
  return document.toJS();
}

/** Numbers outside of quotes, and words in texts that look like numbers. Linear: each number begins behind a separator, and ends before one. */
const NUMBERS = /(?<![^\s[{,:])[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?(?=[\s\]},:]|$)/g;

/**
 * D-324: refuses numbers whose digits a parser would change. The lexer of the package, which knows texts and lines, runs only if the text may have
 * such a number.
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

/** Whether a key may be repeated on the top level: the runtime's parser accepts a second `labels:`, which silently replaces the first. */
function repeatsKey(text: string): boolean {
  const seen = new Set<string>();
  for (const [, key] of text.matchAll(/^([a-z_-]+)[ \t]*:/gm)) {
    if (seen.has(key as string)) return true;
    seen.add(key as string);
  }
  return false;
}

/** The place of the second of two equal keys of a map. The package itself would compare each key with every other key. */
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
