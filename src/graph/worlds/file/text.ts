/** Parses a world file in YAML, and finds the line of a problem. */
import { readWithLines, readYaml, YamlProblem } from "./yaml.ts";

/** The error about a world file that cannot be loaded. If a world file cannot be loaded, none of its entries is stored. */
export class WorldFileProblem extends Error {
  constructor(
    readonly problem: string,
    /** The path of the problem in the file, e.g. `labels[0].name`. The path is empty if the problem is with the whole file. */
    readonly path: string,
    /** The line of the problem, counted from 1. Undefined if the line could not be found. */
    readonly line: number | undefined,
  ) {
    super(`${path === "" ? "" : `${path} `}${problem}${line === undefined ? "" : ` (line ${line})`}`);
    this.name = "WorldFileProblem";
  }
}

/** A value at the top level of a world file, or some of the items of a list at the top level. */
export type WorldPart = { readonly key: string; readonly items: readonly unknown[] } | { readonly key: string; readonly value: unknown };

/**
 * Parses a world file in YAML, and returns its keys and values at the top level. Throws `WorldFileProblem` if the text is not valid YAML, or not a
 * world file.
 */
export async function parseYamlFile(text: string): Promise<Readonly<Record<string, unknown>>> {
  const value = await parse(text);
  if (value === null || value === undefined) return {};
  if (typeof value !== "object" || Array.isArray(value))
    throw new WorldFileProblem("a world file must be a map, such as `pages: […]`", "", undefined);
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

/** The line of a position in the text, counted from 1. */
export function lineAt(text: string, place: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < place; at = text.indexOf("\n", at + 1)) line++;
  return line;
}

export const tooDeep = (line?: number): WorldFileProblem => new WorldFileProblem(`nests deeper than ${DEPTH_MAX} levels`, "", line);

/** The greatest depth of a world file. For comparison, the deepest entry of a world file has six levels. */
export const DEPTH_MAX = 64;
/** Matches a line on which many lists or maps begin, or whose indentation suggests many levels. */
const DEEP_BLOCKS = /^(?: *[-?] ){65}|^ {1000}/m;

/** Throws if the YAML text is nested too deep. A YAML parser takes minutes for 16 MB of opening brackets, and other requests would have to wait. */
async function refuseDepth(text: string): Promise<void> {
  if (DEEP_BLOCKS.test(text)) throw tooDeep();
  if (bracketDepthOf(text) <= DEPTH_MAX) return;
  // Some of the counted brackets may be inside quoted texts. The lexer recognizes brackets inside quoted texts.
  const { Lexer } = await import("yaml");
  let [line, depth] = [1, 0];
  for (const token of new Lexer().lex(text)) {
    if (token === "[" || token === "{") depth++;
    else if (token === "]" || token === "}") depth--;
    if (depth > DEPTH_MAX) throw tooDeep(line);
    for (let at = token.indexOf("\n"); at !== -1; at = token.indexOf("\n", at + 1)) line++;
  }
}

/**
 * Counts the greatest number of brackets that are open at the same time, including brackets inside texts. The scan of the text stops when too many
 * brackets are open.
 */
function bracketDepthOf(text: string): number {
  let [depth, most] = [0, 0];
  for (let at = 0; at < text.length && most <= DEPTH_MAX; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 91 || unit === 123) most = Math.max(most, ++depth);
    else if (unit === 93 || unit === 125) depth = Math.max(0, depth - 1);
  }
  return most;
}

/** Matches a YAML alias, which always begins a word. The pattern for aliases also matches some texts that are not aliases. */
const ALIAS = /(?:^|[\s[{,:?-])\*[^\s[\]{},]/;

/**
 * Throws for the first alias in the YAML, because a few lines of aliases to lists of aliases expand to gigabytes. An alias without an anchor is
 * usually a word that the author has written after a star.
 */
async function refuseAliases(text: string): Promise<void> {
  if (!ALIAS.test(text)) return;
  const { Lexer } = await import("yaml");
  let line = 1;
  let isText = false;
  for (const token of new Lexer().lex(text)) {
    if (!isText && token.startsWith("*"))
      throw new WorldFileProblem(`${token} is an alias, which is not supported: write the repeated value out`, "", line);
    // The YAML lexer returns this character before plain text.
    isText = token === "\u001f";
    for (let at = token.indexOf("\n"); at !== -1; at = token.indexOf("\n", at + 1)) line++;
  }
}

/** The names and indexes of a path, e.g. of `labels[0].name`. */
export const stepsOf = (path: string): (string | number)[] =>
  [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, key]) => (index === undefined ? (key as string) : Number(index)));

/**
 * The line of the file that has the value at a path. If the path does not exist in the file, the line is that of the closest existing path around it.
 * The result is undefined if no line is found.
 */
export async function lineInYaml(path: string, text: string): Promise<number | undefined> {
  const { document, lines } = await readWithLines(text);
  const steps = stepsOf(path);
  for (let length = steps.length; length > 0; length--) {
    const node = document.getIn(steps.slice(0, length), true) as { range?: [number, number, number] } | undefined;
    if (node?.range !== undefined) return lines.linePos(node.range[0]).line;
  }
  return undefined;
}
