/**
 * Reads a world file in pieces. Reading in pieces lets the process serve other requests meanwhile, and a wrong file is refused at its first mistake.
 */
import { InexactNumber } from "#kernel/json/exact-json";
import { LongJson, LongJsonValue, TooDeepJson } from "#kernel/json/long-json";
import { nextTurn } from "#kernel/turns";
import { lineInChild, partsInChild } from "./file-process.ts";
import type { WorldProblem } from "./schema-words.ts";
import { DEPTH_MAX, lineAt, lineInYaml, parseYamlFile, stepsOf, tooDeep, WorldFileProblem, type WorldPart } from "./text.ts";

/** A world file as its author wrote it. */
export interface FileText {
  readonly text: string;
  /**
   * Whether parsing the file may block the event loop. At the start of the server, parsing may block the event loop, because the server does not
   * serve requests yet. If parsing may block the event loop, this process parses long YAML itself, which saves starting another process.
   */
  readonly mayHold?: boolean | undefined;
}

/** Receives the pieces of a file in their order, and makes a value from them. */
export interface PartsTaker<T> {
  take(part: WorldPart): void;
  result(): T;
}

/**
 * The greatest length of YAML that the process that serves requests parses itself and not in a child process. The YAML parser that reports lines
 * takes 30 ms for a text of this length (measured) and cannot be interrupted.
 */
const YAML_HERE_CHARACTERS_MAX = 16_384;

const isReadHere = ({ text, mayHold = false }: FileText): boolean => mayHold || text.length <= YAML_HERE_CHARACTERS_MAX;

const BEGINS_AS_JSON = /^\s*\{/;

/**
 * Reads a world file in YAML or JSON. `begin` makes the object that receives the pieces of the file. `begin` is called again if the text begins like
 * JSON but is not valid JSON.
 */
export async function readParts<T>(file: FileText, begin: () => PartsTaker<T>): Promise<T> {
  const { text } = file;
  if (BEGINS_AS_JSON.test(text)) {
    try {
      return await takeAll(partsOfJson(text), begin());
    } catch (error) {
      // A text that begins with a brace and is not valid JSON is YAML in braces, or JSON with a mistake. If the text is not valid JSON, the YAML
      // parser finds the line of the mistake.
      if (!(error instanceof SyntaxError || error instanceof InexactNumber)) throw error;
    }
  }
  return takeAll(isReadHere(file) ? partsOfYaml(text) : partsInChild(text), begin());
}

async function takeAll<T>(parts: AsyncIterable<WorldPart>, taker: PartsTaker<T>): Promise<T> {
  for await (const part of parts) taker.take(part);
  return taker.result();
}

/**
 * The greatest length of an entry in a world file. For comparison, the entry of a page with 10,000 people takes some 600,000 characters. An entry
 * that is longer than this would need too much memory.
 */
const ENTRY_CHARACTERS_MAX = 4_194_304;

async function* partsOfJson(text: string): AsyncGenerator<WorldPart> {
  const json = new LongJson(text, ENTRY_CHARACTERS_MAX);
  const known = new Set<string>();
  const tooLong = (key: string, at: number) =>
    new WorldFileProblem(`has an entry of more than ${ENTRY_CHARACTERS_MAX} characters`, key, lineAt(text, at));
  try {
    for await (const { name: key, ...span } of json.members(DEPTH_MAX)) {
      if (known.has(key)) throw new SyntaxError(`${key} is repeated`);
      known.add(key);
      if (json.isList(span)) {
        yield { key, items: [] };
        try {
          for await (const items of json.items(span)) yield { key, items };
        } catch (error) {
          throw error instanceof LongJsonValue ? tooLong(key, error.at) : error;
        }
      } else if (span.end - span.start > ENTRY_CHARACTERS_MAX) throw tooLong(key, span.start);
      else yield { key, value: await json.value(span) };
    }
  } catch (error) {
    throw error instanceof TooDeepJson ? tooDeep(lineAt(text, error.at)) : error;
  }
}

/** The number of entries in a piece of the file. Parsing 200 small entries takes a millisecond. */
const ITEMS_OF_PART = 200;

/** Reads YAML in this process. */
export async function* partsOfYaml(text: string): AsyncGenerator<WorldPart> {
  for (const [key, value] of Object.entries(await parseYamlFile(text))) {
    if (!Array.isArray(value)) {
      yield { key, value };
      continue;
    }
    yield { key, items: [] };
    for (let at = 0; at < value.length; at += ITEMS_OF_PART) {
      yield { key, items: value.slice(at, at + ITEMS_OF_PART) };
      await nextTurn();
    }
  }
}

/**
 * The greatest length of YAML for which the line of a problem is found. For a longer file only the path of a problem is reported, because the parser
 * that reports lines would take seconds and hundreds of megabytes.
 */
const LINES_OF_CHARACTERS_MAX = 2_000_000;

/**
 * Adds the line in the file to a problem. If the path of the problem does not exist, the reported line is that of the closest existing path around
 * it.
 */
export async function atItsLine({ path, problem }: WorldProblem, file: FileText): Promise<WorldFileProblem> {
  return new WorldFileProblem(problem, path, await lineOf(path, file));
}

async function lineOf(path: string, file: FileText): Promise<number | undefined> {
  const { text } = file;
  if (BEGINS_AS_JSON.test(text)) {
    try {
      const place = await new LongJson(text).placeOf(stepsOf(path));
      return place === undefined ? undefined : lineAt(text, place);
    } catch (error) {
      // A text that begins with a brace and is not valid JSON is YAML in braces.
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  if (text.length > LINES_OF_CHARACTERS_MAX) return undefined;
  return isReadHere(file) ? lineInYaml(path, text) : lineInChild(text, path);
}
