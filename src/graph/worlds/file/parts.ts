/** Reads a world file part by part, so that the process serves others meanwhile, and a wrong file is refused at its first mistake. */
import { InexactNumber } from "#kernel/json/exact-json";
import { LongJson, LongJsonValue, TooDeepJson } from "#kernel/json/long-json";
import { nextTurn } from "#kernel/turns";
import { lineInChild, partsInChild } from "./file-process.ts";
import type { WorldProblem } from "./schema-words.ts";
import { DEPTH_MAX, lineAt, lineInYaml, parseYamlFile, stepsOf, tooDeep, WorldFileProblem, type WorldPart } from "./text.ts";

/** A world file as its author wrote it. */
export interface FileText {
  readonly text: string;
  /** True at the start, when nobody is served yet: then this process reads long YAML itself, which saves the start of another process. */
  readonly mayHold?: boolean | undefined;
}

/** Takes the parts of a file in their order, and makes a value of them. */
export interface PartsTaker<T> {
  take(part: WorldPart): void;
  result(): T;
}

/**
 * The longest YAML that is read in the process that serves requests. The parser that knows lines takes 30 ms for this text (measured), and nothing
 * can interrupt it.
 */
const YAML_HERE_CHARACTERS_MAX = 16_384;

const isReadHere = ({ text, mayHold = false }: FileText): boolean => mayHold || text.length <= YAML_HERE_CHARACTERS_MAX;

const BEGINS_AS_JSON = /^\s*\{/;

/** Reads a file in YAML or JSON. `begin` makes the taker of its parts, a second one if the first one got JSON that ends in a mistake. */
export async function readParts<T>(file: FileText, begin: () => PartsTaker<T>): Promise<T> {
  const { text } = file;
  if (BEGINS_AS_JSON.test(text)) {
    try {
      return await takeAll(partsOfJson(text), begin());
    } catch (error) {
      // The text is YAML in braces, or has a mistake, whose line the parser of YAML knows.
      if (!(error instanceof SyntaxError || error instanceof InexactNumber)) throw error;
    }
  }
  return takeAll(isReadHere(file) ? partsOfYaml(text) : partsInChild(text), begin());
}

async function takeAll<T>(parts: AsyncIterable<WorldPart>, taker: PartsTaker<T>): Promise<T> {
  for await (const part of parts) taker.take(part);
  return taker.result();
}

/** The longest entry: a page with 10,000 people is some 600,000 characters. Longer ones would fill the memory, whatever they hold. */
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

/** The number of entries of a part. A part of small entries is read in a millisecond. */
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
 * The longest YAML in which the line of a problem is found. For longer texts only the path is reported, because the parser that knows lines would
 * take seconds and hundreds of megabytes.
 */
const LINES_OF_CHARACTERS_MAX = 2_000_000;

/** Returns the problem with the line of its place. If the place does not exist, the line is that of the closest place around it. */
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
      // The text is YAML in braces.
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  if (text.length > LINES_OF_CHARACTERS_MAX) return undefined;
  return isReadHere(file) ? lineInYaml(path, text) : lineInChild(text, path);
}
