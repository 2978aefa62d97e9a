/** Reads and writes the files of histories that once failed. Every test run plays these histories. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { History } from "../histories/steps.ts";

const FOLDER = join(import.meta.dirname, "../cases");

export interface KeptCase {
  readonly name: string;
  /** The mistake that the history showed, and the rule that the server broke. */
  readonly about: string;
  readonly history: History;
}

export const keptCases = (): KeptCase[] =>
  (existsSync(FOLDER) ? readdirSync(FOLDER) : [])
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => ({ name, ...(JSON.parse(readFileSync(join(FOLDER, name), "utf8")) as Omit<KeptCase, "name">) }));

/** Writes a history to a file, and returns the path of the file. */
export function keepCase(name: string, about: string, history: History): string {
  const path = join(FOLDER, `${name}.json`);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(path, `${JSON.stringify({ about, history }, undefined, 2)}\n`);
  return path;
}
