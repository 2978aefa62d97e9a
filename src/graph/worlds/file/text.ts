/** Parses a world file in YAML, and finds the line of a problem. */
import { readWithLines, readYaml, YamlProblem } from "./yaml.ts";

/** The reason why a world file cannot be loaded. If this error is thrown, no part of the file is stored. */
export class WorldFileProblem extends Error {
  constructor(
    readonly problem: string,
    /** The place in the file, e.g. `labels[0].name`. Empty: the problem is with the whole file. */
    readonly path: string,
    /** The line of the problem, counted from 1. Undefined if the line is not known. */
    readonly line: number | undefined,
  ) {
    super(`${path === "" ? "" : `${path} `}${problem}${line === undefined ? "" : ` (line ${line})`}`);
    this.name = "WorldFileProblem";
  }
}

/** A value at the top of a file, or some of the items of a list there. */
export type WorldPart = { readonly key: string; readonly items: readonly unknown[] } | { readonly key: string; readonly value: unknown };

/** Parses a world file in YAML, and returns its top level. Throws `WorldFileProblem` if the text is not a world file. */
export async function parseYamlFile(text: string): Promise<Readonly<Record<string, unknown>>> {
  const value = await parse(text);
  if (value === null || value === undefined) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw new WorldFileProblem("a world file is a map, e.g. `pages: […]`", "", undefined);
  return value as Record<string, unknown>;
}

async function parse(text: string): Promise<unknown> {
  await refuseDepth(text);
  await refuseAliases(text);
  try {
    return await readYaml(text);
  } catch (error) {
    if (!(error instanceof YamlProblem)) throw error;
    throw new WorldFileProblem(error.problem, "", error.line);
  }
}

/** The line of a character, counted from 1. */
export function lineAt(text: string, place: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < place; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

export const tooDeep = (line?: number): WorldFileProblem => new WorldFileProblem(`nests deeper than ${DEPTH_MAX} levels`, "", line);

/** The greatest number of levels in a world file. The deepest entry of a world file has six levels. */
export const DEPTH_MAX = 64;
/** Matches many lists or maps that begin on one line, or a line whose indentation is that of many levels. */
const DEEP_BLOCKS = /^(?: *[-?] ){65}|^ {1000}/m;

/** Throws if the text nests too deep: a parser of YAML takes minutes for 16 MB of opening brackets, and other requests would wait meanwhile. */
async function refuseDepth(text: string): Promise<void> {
  if (DEEP_BLOCKS.test(text)) throw tooDeep();
  if (bracketDepthOf(text) <= DEPTH_MAX) return;
  // Brackets may belong to texts, which the lexer knows.
  const { Lexer } = await import("yaml");
  let [line, depth] = [1, 0];
  for (const token of new Lexer().lex(text)) {
    if (token === "[" || token === "{") depth++;
    else if (token === "]" || token === "}") depth--;
    if (depth > DEPTH_MAX) throw tooDeep(line);
    for (let at = token.indexOf("\n"); at !== -1; at = token.indexOf("\n", at + 1)) line++;
  }
}

/** The greatest number of brackets that are open at one place, among them brackets in texts. Stops when there are too many. */
function bracketDepthOf(text: string): number {
  let [depth, most] = [0, 0];
  for (let at = 0; at < text.length && most <= DEPTH_MAX; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 91 || unit === 123) most = Math.max(most, ++depth);
    else if (unit === 93 || unit === 125) depth = Math.max(0, depth - 1);
  }
  return most;
}

/** Matches an alias of YAML, which is at the beginning of a word. The pattern also matches text that is not an alias. */
const ALIAS = /(?:^|[\s[{,:?-])\*[^\s[\]{},]/;

/**
 * Throws for the first alias, because a few lines of aliases to lists of aliases become gigabytes. An alias to nothing is usually a word with a star
 * before it.
 */
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

/** The names and indexes that lead to a place, e.g. `labels[0].name`. */
export const stepsOf = (path: string): (string | number)[] =>
  [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, key]) => (index === undefined ? (key as string) : Number(index)));

/** The line of a place. If the place does not exist, the line is that of the closest place around it. Undefined if no line is found. */
export async function lineInYaml(path: string, text: string): Promise<number | undefined> {
  const { document, lines } = await readWithLines(text);
  const steps = stepsOf(path);
  for (let length = steps.length; length > 0; length--) {
    const node = document.getIn(steps.slice(0, length), true) as { range?: [number, number, number] } | undefined;
    if (node?.range !== undefined) return lines.linePos(node.range[0]).line;
  }
  return undefined;
}
