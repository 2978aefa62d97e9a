/**
 * Reads YAML with the runtime's own parser: 100,000 entries take 1 s, and 10 s and a gigabyte with the npm package. The package knows lines, so
 * it reads a wrong text again to name the line.
 */
import type { Document, LineCounter } from "yaml";

export class YamlProblem extends Error {
  constructor(
    readonly problem: string,
    /** Counted from 1. Undefined: no line can be named. */
    readonly line: number | undefined,
  ) {
    super(`${problem}${line === undefined ? "" : ` (line ${line})`}`);
    this.name = "YamlProblem";
  }
}

/** Throws `YamlProblem`. */
export async function readYaml(text: string): Promise<unknown> {
  if (!text.trimStart().startsWith("{") && !repeatsKey(text)) {
    try {
      return Bun.YAML.parse(text);
    } catch {
      // The package names the line of the mistake.
    }
  }
  const { document } = await readWithLines(text);
  const [error] = document.errors;
  if (error !== undefined) throw new YamlProblem(firstLineOf(error.message), error.linePos?.[0].line);
  return document.toJS();
}

/** The runtime's parser accepts a second `labels:`, which silently replaces the first. */
function repeatsKey(text: string): boolean {
  const seen = new Set<string>();
  for (const [, key] of text.matchAll(/^([a-z_-]+)[ \t]*:/gm)) {
    if (seen.has(key as string)) return true;
    seen.add(key as string);
  }
  return false;
}

const firstLineOf = (message: string): string => (message.split("\n", 1)[0] ?? message).replace(/ at line \d+, column \d+:?$/, "");

export async function readWithLines(text: string): Promise<{ document: Document; lines: LineCounter }> {
  const { LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  return { document: parseDocument(text, { lineCounter: lines, merge: true }), lines };
}
