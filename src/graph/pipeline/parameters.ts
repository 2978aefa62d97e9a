/**
 * Reads parameters by the operation's contract, for the step `parse`. Values arrive as text (query, form) or as JSON. Each parameter is converted as
 * its schema says, or refused with an error that names the parameter (D-21). Unknown parameters are ignored (D-34).
 */
import type { TObject } from "typebox";
import { invalidParameter } from "#kernel/errors";
import { parseJsonOr } from "../response/json.ts";
import { readerOf } from "../schema/reader.ts";
import { type Dialect, ValueProblem } from "../schema/scalars.ts";
import { everywhere, type ServedIn } from "../schema/schema-node.ts";
import { readId, secondsOf } from "../worlds/file/schema-words.ts";
import { JsonNumber, type Parameters } from "./request.ts";

/**
 * Reads the parameters of an operation. Throws `invalidParameter` with the parameter's name and the path of the wrong value in it, e.g. `users[0]`.
 */
export type ReadParameters = (source: Parameters, where?: ServedIn) => Record<string, unknown>;

/**
 * Makes the reader of an operation's parameters, once for each operation. Throws an ordinary `Error` if the schema has keywords that this reader does
 * not support.
 */
export function parametersReader(schema: TObject): ReadParameters {
  const read = readerOf(schema, dialect);
  return (source, where = everywhere) => {
    try {
      return read(source, where) as Record<string, unknown>;
    } catch (error) {
      throw error instanceof ValueProblem ? invalidParameter(error.path, error.problem) : error;
    }
  };
}

/** The greatest number of characters of an integer: the sixteen digits of the longest safe integer, and a sign. */
const INTEGER_CHARACTERS_MAX = 17;
const INTEGER = /^-?\d+$/;
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

const booleans = new Map<unknown, boolean>([
  ...[true, 1, "true", "1", "True", "TRUE"].map((yes) => [yes, true] as const),
  ...[false, 0, "false", "0", "False", "FALSE"].map((no) => [no, false] as const),
]);

/** Whether the parameter of a flag says that the flag is on. The function is used for flags that are not in a contract. */
export const isYes = (flag: unknown): boolean => booleans.get(flag) === true;
export const isNo = (flag: unknown): boolean => booleans.get(flag) === false;

const parsed = (text: string): unknown => parseJsonOr(text, (problem) => new ValueProblem(problem));

/**
 * Returns the value as text: a number becomes text with all its digits. A number that is too large for a float is returned unchanged, and a later
 * check refuses the number.
 */
export function textOf(value: unknown): unknown {
  if (value instanceof JsonNumber) return Number.isFinite(Number(value.text)) ? value.text : value;
  return typeof value === "number" ? String(value) : value;
}

/** Reads an integer. The JSON parser returns a number with more than 15 digits as text, and a safe integer has up to 16 digits. */
function integerOf(value: unknown): unknown {
  const text = value instanceof JsonNumber ? value.text : value;
  return typeof text === "string" && text.length <= INTEGER_CHARACTERS_MAX && INTEGER.test(text) ? Number(text) : text;
}

function numberOf(value: unknown): unknown {
  const text = value instanceof JsonNumber ? value.text : value;
  return typeof text === "string" && DECIMAL.test(text) ? Number(text) : text;
}

/**
 * Reads a list. D-161: a list of plain values is JSON, a repeated name, `a[]=x`, or text with commas. A list of objects is never text with commas.
 */
function listOf(value: unknown, isCommaSeparated: boolean): unknown {
  if (Array.isArray(value)) return isCommaSeparated ? value.flatMap((item) => (typeof item === "string" ? partsOf(item) : [item])) : value;
  if (typeof value !== "string") return value;
  if (value.trimStart().startsWith("[")) return parsed(value);
  return isCommaSeparated ? (value === "" ? [] : partsOf(value)) : value;
}

const partsOf = (text: string): string[] => text.split(",").map((part) => part.trim());

/**
 * D-161: reads a list of texts that no contract declares. Undefined if the value is not a list of texts. Throws `invalidParameter` if the text begins
 * like JSON and is not valid JSON.
 */
export function textsOf(value: unknown, parameter: string): string[] | undefined {
  try {
    const list = listOf(value, true);
    const texts = Array.isArray(list) ? list.map(textOf) : [];
    return texts.every((text) => typeof text === "string") ? (texts as string[]) : undefined;
  } catch (error) {
    throw error instanceof ValueProblem ? invalidParameter(parameter, error.problem) : error;
  }
}

function objectOf(value: unknown): unknown {
  if (value instanceof JsonNumber) return value.text;
  return typeof value === "string" && value.trimStart().startsWith("{") ? parsed(value) : value;
}

const dialect: Dialect = {
  coerce: {
    text: textOf,
    integer: integerOf,
    number: numberOf,
    null: (value) => (value === "null" ? null : value),
    boolean: (value) => booleans.get(value) ?? value,
    list: listOf,
    object: objectOf,
  },
  readings: {
    id: (value) => readId(textOf(value), ""),
    time: (value) => secondsOf(integerOf(value), ""),
  },
  undeclaredKeys: "left out",
  missingKeys: "in order",
  messages: {
    notText: () => "must be a string",
    notObject: "must be an object",
    noMatch: () => "has an invalid format",
    noneOf: (allowed) => `must be one of ${allowed.join(", ")}`,
  },
};

export function isEmpty(parameters: Parameters): boolean {
  for (const _ in parameters) return false;
  return true;
}
