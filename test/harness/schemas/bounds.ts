/** Checks the smallest and largest values that a schema allows, for entries of world files and for control requests. */
import { expect } from "bun:test";
import type { TSchema } from "typebox";
import { entryReader } from "#graph/worlds/file/entry-reader";
import { WorldProblem } from "#graph/worlds/file/schema-words";

interface Bounds {
  /** The smallest and the largest value that the schema accepts for each key. */
  readonly right: readonly unknown[];
  /** The values just beyond the smallest and the largest one, which the schema refuses, each at its key. */
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

/** Expects that each key in `all` has the bounds that `all` gives. `rest` has values for the other keys that the schema requires. */
export function expectBounds(schema: TSchema, rest: object, all: Readonly<Record<string, Bounds>>): void {
  for (const [key, { right, wrong }] of Object.entries(all)) {
    for (const value of right)
      expect({ key, value, refused: refusedAt(schema, { ...rest, [key]: value }) }).toEqual({ key, value, refused: undefined });
    for (const value of wrong)
      expect({ key, value, refused: refusedAt(schema, { ...rest, [key]: value }) ?? "" }).toMatchObject({ refused: expect.stringContaining(key) });
  }
}

/** A web address of the given length. */
export const addressOf = (length: number): string => "https://example.com/".padEnd(length, "x");

export const textOf = (length: number): string => "x".repeat(length);
