/** The text of a world file, and where in it something is wrong. */
import type { WorldProblem } from "./schema-words.ts";
import { readWithLines, readYaml, YamlProblem } from "./yaml.ts";

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
export async function parseWorldFile(text: string): Promise<Readonly<Record<string, unknown>>> {
  const value = await parse(text);
  if (value === null || value === undefined) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw new WorldFileProblem("a world file is a map, e.g. `pages: […]`", "", undefined);
  return value as Record<string, unknown>;
}

async function parse(text: string): Promise<unknown> {
  if (text.trimStart().startsWith("{")) {
    try {
      return JSON.parse(text);
    } catch {
      // YAML in braces, or a mistake.
    }
  }
  await refuseAliases(text);
  try {
    return await readYaml(text);
  } catch (error) {
    if (!(error instanceof YamlProblem)) throw error;
    throw new WorldFileProblem(error.problem, "", error.line);
  }
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

/** Beyond this the parser that knows lines would take seconds and hundreds of megabytes to name a line; the path alone is reported. */
const LINES_OF_CHARACTERS_MAX = 2_000_000;

/** The problem with its line: that of the place, or of the closest one around it that exists. */
export async function atItsLine(error: WorldProblem, text: string): Promise<WorldFileProblem> {
  const { path, problem } = error;
  if (text.length > LINES_OF_CHARACTERS_MAX) return new WorldFileProblem(problem, path, undefined);
  const { document, lines } = await readWithLines(text);
  const steps = [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, key]) => (index === undefined ? (key as string) : Number(index)));
  for (let length = steps.length; length > 0; length--) {
    const node = document.getIn(steps.slice(0, length), true) as { range?: [number, number, number] } | undefined;
    if (node?.range !== undefined) return new WorldFileProblem(problem, path, lines.linePos(node.range[0]).line);
  }
  return new WorldFileProblem(problem, path, undefined);
}
