/**
 * Reads an entry of a world file, or the body of a request to the control API, by its schema. The reader of an entry refuses unknown keys, converts
 * ids and times to their normal form, and fills in `default`s.
 */
import type { TSchema } from "typebox";
import { readerOf } from "../../schema/reader.ts";
import { type Dialect, ValueProblem } from "../../schema/scalars.ts";
import { everywhere } from "../../schema/schema-node.ts";
import { readId, secondsOf, WorldProblem } from "./schema-words.ts";

/** Reads a value. For a wrong value, throws `WorldProblem` with the path inside the value. */
export type ReadEntry = (value: unknown) => unknown;

const made = new WeakMap<TSchema, ReadEntry>();

/**
 * Makes the reader of a world file's entry, once for each schema. Throws an ordinary `Error` if the schema of the entry has keywords that no reader
 * supports.
 */
export function entryReader(schema: TSchema): ReadEntry {
  const known = made.get(schema);
  if (known !== undefined) return known;
  const read = readerOf(schema, dialect);
  const readEntry: ReadEntry = (value) => {
    try {
      return read(value, everywhere);
    } catch (error) {
      throw error instanceof ValueProblem ? new WorldProblem(error.path, error.problem) : error;
    }
  };
  made.set(schema, readEntry);
  return readEntry;
}

const dialect: Dialect = {
  readings: { id: (value) => readId(value, ""), time: (value) => secondsOf(value, "") },
  undeclaredKeys: "kept",
  // Unknown keys are reported before missing keys, because a missing key is often a misspelt one.
  missingKeys: "last",
  messages: {
    notText: (value) => (typeof value === "number" ? "must be a text; put it in quotes" : "must be a text"),
    notObject: "must be a map",
    noMatch: (pattern) => `must match ${pattern}`,
    noneOf: (allowed) => `must be ${allowed.length === 1 ? "" : "one of "}${allowed.join(", ")}`,
  },
};
