/**
 * The text of a world file. The given YAML reader is the runtime's own (100,000 entries in 1 s, where the npm package needs 10 s
 * and a gigabyte); the package, which knows lines, reads the text again where something is wrong.
 */
import type { Document, LineCounter } from "yaml";
import type { WorldProblem } from "./schema-words.ts";

export type ParseYaml = (text: string) => unknown;

/** Why a world file cannot be loaded; nothing of it was. */
export class WorldFileProblem extends Error {
  constructor(
    readonly problem: string,
    /** Where in the file, e.g. `labels[0].name`; empty for the whole. */
    readonly path: string,
    /** Counted from 1; undefined where no line can be named. */
    readonly line: number | undefined,
  ) {
    super(`${path === "" ? "" : `${path} `}${problem}${line === undefined ? "" : ` (line ${line})`}`);
    this.name = "WorldFileProblem";
  }
}

/** The top level of a world file, YAML or JSON. Throws `WorldFileProblem`. */
export async function parseWorldFile(text: string, parseYaml: ParseYaml): Promise<Readonly<Record<string, unknown>>> {
  const value = await parse(text, parseYaml);
  if (value === null || value === undefined) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw new WorldFileProblem("a world file is a map, e.g. `pages: […]`", "", undefined);
  return value as Record<string, unknown>;
}

async function parse(text: string, parseYaml: ParseYaml): Promise<unknown> {
  if (text.trimStart().startsWith("{")) {
    try {
      return JSON.parse(text);
    } catch {
      // YAML in braces, or a mistake whose line the careful reader names.
    }
  }
  await refuseAliases(text);
  if (!text.trimStart().startsWith("{") && !repeatsKey(text)) {
    try {
      return parseYaml(text);
    } catch {
      // The careful reader names the line of the mistake.
    }
  }
  const { document } = await carefully(text);
  const [error] = document.errors;
  if (error !== undefined) throw new WorldFileProblem(firstLineOf(error.message), "", error.linePos?.[0].line);
  return document.toJS();
}

/** An alias stands where a word may begin. Also in text, where it is none. */
const ALIAS = /(?:^|[\s[{,:?-])\*[^\s[\]{},]/;

/** A few lines of aliases to lists of aliases are gigabytes when they are read. One to nothing is usually a word with a star before it. */
async function refuseAliases(text: string): Promise<void> {
  if (!ALIAS.test(text)) return;
  const { Lexer } = await import("yaml");
  let line = 1;
  let isText = false;
  for (const token of new Lexer().lex(text)) {
    if (!isText && token.startsWith("*")) throw new WorldFileProblem(`${token} is an alias: write out what it repeats`, "", line);
    // The lexer puts this mark before plain text.
    isText = token === "\u001f";
    for (let at = token.indexOf("\n"); at !== -1; at = token.indexOf("\n", at + 1)) line++;
  }
}

/** The fast reader accepts a second `labels:`, which silently replaces the first. */
function repeatsKey(text: string): boolean {
  const seen = new Set<string>();
  for (const [, key] of text.matchAll(/^([a-z_]+)[ \t]*:/gm)) {
    if (seen.has(key as string)) return true;
    seen.add(key as string);
  }
  return false;
}

const firstLineOf = (message: string): string => (message.split("\n", 1)[0] ?? message).replace(/ at line \d+, column \d+:?$/, "");

async function carefully(text: string): Promise<{ document: Document; lines: LineCounter }> {
  const { LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  return { document: parseDocument(text, { lineCounter: lines, merge: true }), lines };
}

/** Beyond this the careful reader would take seconds and hundreds of megabytes to name a line; the path alone is reported. */
const LINES_OF_CHARACTERS_MAX = 2_000_000;

/** The problem with its line: that of the place, or of the closest one around it that exists. */
export async function atItsLine(error: WorldProblem, text: string): Promise<WorldFileProblem> {
  const { path, problem } = error;
  if (text.length > LINES_OF_CHARACTERS_MAX) return new WorldFileProblem(problem, path, undefined);
  const { document, lines } = await carefully(text);
  const steps = [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, key]) => (index === undefined ? (key as string) : Number(index)));
  for (let length = steps.length; length > 0; length--) {
    const node = document.getIn(steps.slice(0, length), true) as { range?: [number, number, number] } | undefined;
    if (node?.range !== undefined) return new WorldFileProblem(problem, path, lines.linePos(node.range[0]).line);
  }
  return new WorldFileProblem(problem, path, undefined);
}
