/** Finds the commonest patterns that nobody would say aloud (STYLE.md, Prose), in documents and in the comments and messages of source files. */
import type { Check, Problem, RepositoryFile } from "./repository.ts";
import { sentencesOf } from "./sentences.ts";

interface Pattern {
  readonly pattern: RegExp;
  /** Whether the pattern is only wrong at the beginning of a paragraph, item, cell, comment or message. */
  readonly isFirst?: true;
  readonly what: string;
  readonly fix: string;
}

const PATTERNS: readonly Pattern[] = [
  { pattern: /^What (?!.*\?$)/, what: 'begins with a "what" that is not a question', fix: "begin with a noun: who or what acts?" },
  { pattern: /^Who (?!.*\?$)/, what: 'begins with a "who" that is not a question', fix: "name who acts" },
  {
    pattern: /^How (?:many|much|often|long|far)\b(?!.*\?$)/,
    what: 'begins with a "how" that is not a question',
    fix: 'say "the number of …" or "the time for which …"',
  },
  {
    pattern: /^(?:Why|When) [^,?]*[.]?$/,
    what: 'begins with a "why" or "when" and has no main clause',
    fix: 'say "the reason why …" or "the time when …"',
  },
  { pattern: /^(?:It|Its|They|Their|Them|Those|That)\b/, isFirst: true, what: "begins with a pronoun before its noun", fix: "begin with the noun" },
  { pattern: /^The most (?:\w+ )?\w+s (?:of|that|in|with|for|on)\b/, what: 'says "the most …" for a limit', fix: 'say "the greatest number of …"' },
  { pattern: /^Where (?!.*\?$)/, what: 'says "where" for a condition', fix: 'say "if"' },
  { pattern: /\b(?:of|from|with|beside|against|by) what (?!kind|sort)/, what: 'has a "what" after a preposition', fix: "use a noun" },
  { pattern: /(?<!\bthere )\b(?:is|are|was|were) none\b/i, what: 'says "is none"', fix: 'say what is missing, or use "not"' },
  {
    pattern: /(?<!\bthere )\b(?:is|are|was|were) no (?!(?:longer|more|less|fewer|sooner|later)\b)/i,
    what: 'says "is no …"',
    fix: 'say "is not a …"',
  },
  { pattern: /\bso (?:many|few)\b(?! (?:\w+ )?that\b)|\bfor so long\b(?! that\b)/i, what: 'says "so many" for a number', fix: "name the number" },
  { pattern: /\bstands? (?:there|at|beside|above|below|in (?:the|its|their))\b/i, what: 'says "stands" for "is"', fix: 'say "is"' },
];

export const prose: Check = (files) => files.flatMap(proseProblems);

/** Finds the patterns in the sentences of a file. */
const proseProblems = (file: RepositoryFile): Problem[] =>
  sentencesOf(file).flatMap(({ path, line, text, isFirst }) =>
    PATTERNS.filter((one) => (isFirst || one.isFirst !== true) && one.pattern.test(withoutCode(text))).map(
      ({ what, fix }): Problem => ({ path, line, what: `"${text.slice(0, 60)}" ${what}`, fix }),
    ),
  );

/** Returns the sentence without code and quotations, because the writer did not choose their words. */
const withoutCode = (text: string): string => text.replaceAll(/`[^`]*`/g, "`").replaceAll(/"[^"]*"/g, '"');
