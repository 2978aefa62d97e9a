/**
 * The examples of a page: its `sh` blocks, each with the `json` or `text` block that follows and shows its output, and its blocks of files. Comments
 * that readers of the page do not see tell the test things that a code block cannot say:
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Example {
  readonly line: number;
  readonly script: string;
  /** Whether the command runs until the page ends. */
  readonly isService: boolean;
  /** The output that the page shows, as JSON or as text. */
  readonly shown?: { readonly json: unknown } | { readonly text: string };
}

/** A file that the reader of a page writes. */
export interface ExampleFile {
  readonly line: number;
  readonly file: string;
  readonly text: string;
}

interface Block {
  readonly language: string;
  readonly body: string;
  readonly mark: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

const BLOCK = /^( *)(?:<!-- (.*) -->\n\s*)?```(\w+)\n([\s\S]*?)^ *```$/gm;
const ROOT = join(import.meta.dir, "../..");
const SERVICE = /^(?!#)(?:.*\s)?(?:npm start|(?:bin\/|npx --no-install )plaza (?:start|listen))\b/m;

export function examplesOf(path: string): (Example | ExampleFile)[] {
  const text = readFileSync(join(ROOT, path), "utf8");
  const blocks = blocksOf(text);
  return blocks.flatMap((block, at): (Example | ExampleFile)[] => {
    const { language, body, line, mark } = block;
    const file = /^file: (.+)$/.exec(mark)?.[1];
    if (file !== undefined) return [{ line, file, text: body }];
    if (language !== "sh" || isRunElsewhere(block, path)) return [];
    const next = blocks[at + 1];
    const shown = next !== undefined && /^(?:\s|prints)*$/.test(text.slice(block.end, next.start)) ? shownIn(next) : {};
    return [{ line, script: body, isService: SERVICE.test(body), ...shown }];
  });
}

const blocksOf = (text: string): Block[] =>
  [...text.matchAll(BLOCK)].map(({ 0: whole, 1: indent = "", 2: mark = "", 3: language = "", 4: body = "", index }) => ({
    language,
    mark,
    body: body.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
    line: text.slice(0, index).split("\n").length,
    start: index,
    end: index + whole.length,
  }));

function isRunElsewhere({ mark, line }: Block, path: string): boolean {
  const test = /^run by (\S+)$/.exec(mark)?.[1];
  if (test !== undefined && !existsSync(join(ROOT, test))) throw new Error(`${path}:${line}: there is no ${test}`);
  const program = /^needs (\S+)$/.exec(mark)?.[1];
  return test !== undefined || (program !== undefined && Bun.which(program) === null);
}

function shownIn({ language, body, mark }: Block): Pick<Example, "shown"> {
  if (mark !== "") return {};
  if (language === "json") return { shown: { json: JSON.parse(body) } };
  return language === "text" ? { shown: { text: body.trim() } } : {};
}
