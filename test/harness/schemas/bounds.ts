/** The smallest and largest values that the schema of a world file's entry or of a control request allows. */
import { expect } from "bun:test";
import type { TSchema } from "typebox";
import { entryReader } from "#graph/worlds/file/entry-reader";
import { WorldProblem } from "#graph/worlds/file/schema-words";

interface Bounds {
  /** The smallest and the largest ones: they are read. */
  readonly right: readonly unknown[];
  /** The next ones beyond them: they are refused, each at its key. */
  readonly wrong: readonly unknown[];
}

function refusedAt(schema: TSchema, value: object): string | undefined {
  try {
    entryReader(schema)(value);
    return undefined;
  } catch (error) {
    if (error instanceof WorldProblem) return error.path;
    throw error;
  }
}

/** `rest` is what else the schema needs. */
export function expectBounds(schema: TSchema, rest: object, all: Readonly<Record<string, Bounds>>): void {
  for (const [key, { right, wrong }] of Object.entries(all)) {
    for (const value of right)
      expect({ key, value, refused: refusedAt(schema, { ...rest, [key]: value }) }).toEqual({ key, value, refused: undefined });
    for (const value of wrong)
      expect({ key, value, refused: refusedAt(schema, { ...rest, [key]: value }) ?? "" }).toMatchObject({ refused: expect.stringContaining(key) });
  }
}

/** A web address of that length. */
export const addressOf = (length: number): string => "https://example.com/".padEnd(length, "x");

export const textOf = (length: number): string => "x".repeat(length);
