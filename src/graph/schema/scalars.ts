/** Readers of single values: text, numbers, booleans and constants. */
import { codePointCount, isStorableText } from "#kernel/text";
import { type Format, findFormat } from "./formats.ts";
import { NAMES_OF, type SchemaNode, type ServedIn, TRIMMED } from "./schema-node.ts";

/** The differences between reading a request and reading a world file with the same schema. */
export interface Dialect {
  /**
   * Converts a value to the expected type, because a query contains numbers, lists and objects as text. A value that cannot be converted is
   * returned unchanged, and a later check refuses it. Throws `ValueProblem`.
   */
  readonly coerce?: {
    text(value: unknown): unknown;
    integer(value: unknown): unknown;
    number(value: unknown): unknown;
    null(value: unknown): unknown;
    boolean(value: unknown): unknown;
    list(value: unknown, isCommaSeparated: boolean): unknown;
    object(value: unknown): unknown;
  };
  /**
   * The dialect's readers by the name that a schema has under `x-plaza-read-as`. If the dialect has no reader with the name under `x-plaza-read-as`,
   * the schema's other keywords apply. A dialect's reader throws `ValueProblem` if the value is wrong.
   */
  readonly readings: Readonly<Record<string, (value: unknown) => unknown>>;
  /** Whether undeclared keys of an object are copied or left out, if the schema does not decide that. */
  readonly undeclaredKeys: "kept" | "left out";
  /** Whether a missing key is reported in the order of the schema, or after the problems of the object's other keys. */
  readonly missingKeys: "in order" | "last";
  readonly messages: {
    notText(value: unknown): string;
    readonly notObject: string;
    noMatch(pattern: string): string;
    noneOf(allowed: readonly unknown[]): string;
  };
}

/**
 * The error about a value that does not match its schema. For requests, a `ValueProblem` becomes `invalidParameter`; for world files, it becomes
 * `WorldProblem`.
 */
export class ValueProblem extends Error {
  constructor(
    readonly problem: string,
    /** The path of the problem inside the value, e.g. `users[0].name`. An empty path means that the whole value is wrong. */
    readonly path = "",
  ) {
    super(path === "" ? problem : `${path} ${problem}`);
    this.name = "ValueProblem";
  }
}

/** Throws the problem again, with its path extended by the key or index `step`. Errors of other classes are thrown unchanged. */
function below(error: unknown, step: string | number): never {
  if (!(error instanceof ValueProblem)) throw error;
  const outer = typeof step === "number" ? `[${step}]` : step;
  const isPlace = error.path === "" || error.path.startsWith("[");
  throw new ValueProblem(error.problem, isPlace ? outer + error.path : `${outer}.${error.path}`);
}

/** Returns the value in the normal form of its schema. Throws `ValueProblem` if the value does not match the schema. */
export type Read = (value: unknown, where: ServedIn) => unknown;

/** Reads the value of a key or of a list item. If the value is wrong, the key or index is added to the path of the problem. */
export function readAt(step: string | number, value: unknown, read: Read, where: ServedIn): unknown {
  try {
    return read(value, where);
  } catch (error) {
    return below(error, step);
  }
}

/** D-21: returns the text if it can be stored. */
export function storable(text: string): string {
  if (!isStorableText(text)) throw new ValueProblem("contains U+0000 or a lone surrogate");
  return text;
}

export function text(node: SchemaNode, { coerce, messages }: Dialect): Read {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, format: formatName, [NAMES_OF]: names, [TRIMMED]: isTrimmed = false } = node;
  // linear: tidy checks the patterns of schemas where they are written.
  const expression = pattern === undefined ? undefined : new RegExp(pattern, "u");
  const format = formatName === undefined ? undefined : findFormat(formatName);
  if (formatName !== undefined && format === undefined) throw new Error(`no value is read by the schema format ${formatName}`);
  const isBounded = minLength > 0 || maxLength < Number.POSITIVE_INFINITY;
  return (given, where) => {
    const sent = coerce === undefined ? given : coerce.text(given);
    if (typeof sent !== "string") throw new ValueProblem(messages.notText(sent));
    const value = isTrimmed ? sent.trim() : sent;
    storable(value);
    const length = isBounded ? codePointCount(value) : 0;
    if (length < minLength) throw new ValueProblem(minLength === 1 ? "must not be empty" : `must have at least ${minLength} characters`);
    if (length > maxLength) throw new ValueProblem(`must have at most ${maxLength} characters`);
    if (expression !== undefined && !expression.test(value)) throw new ValueProblem(messages.noMatch(pattern as string));
    if (names !== undefined && !where.namesOf(names).includes(value)) throw new ValueProblem(messages.noneOf(where.namesOf(names)));
    return format === undefined ? value : formatted(value, format, coerce !== undefined);
  };
}

function formatted(value: string, { read, problem, error }: Format, isRequest: boolean): string {
  const text = read(value);
  if (text !== undefined) return text;
  throw error === undefined || !isRequest ? new ValueProblem(problem) : error(problem);
}

export function integer(node: SchemaNode, { coerce }: Dialect): Read {
  return (given) => {
    const value = coerce === undefined ? given : coerce.integer(given);
    if (!Number.isSafeInteger(value)) throw new ValueProblem("must be an integer");
    return withinBounds(value as number, node);
  };
}

export function number(node: SchemaNode, { coerce }: Dialect): Read {
  return (given) => {
    const value = coerce === undefined ? given : coerce.number(given);
    if (typeof value !== "number" || !Number.isFinite(value)) throw new ValueProblem("must be a number");
    return withinBounds(value, node);
  };
}

function withinBounds(value: number, { minimum, maximum }: SchemaNode): number {
  if (minimum !== undefined && value < minimum) throw new ValueProblem(`must be at least ${minimum}`);
  if (maximum !== undefined && value > maximum) throw new ValueProblem(`must be at most ${maximum}`);
  return value;
}

export function boolean({ coerce }: Dialect): Read {
  return (given) => {
    const value = coerce === undefined ? given : coerce.boolean(given);
    if (typeof value !== "boolean") throw new ValueProblem("must be true or false");
    return value;
  };
}

export function nothing({ coerce }: Dialect): Read {
  return (given) => {
    const value = coerce === undefined ? given : coerce.null(given);
    if (value !== null) throw new ValueProblem("must be null");
    return value;
  };
}

/** Reads one of several constants. Requests may write numbers and booleans as text, so the constant 1 matches both `1` and `"1"`. */
export function constants(allowed: readonly unknown[], { coerce, messages }: Dialect): Read {
  const isByText = coerce !== undefined;
  const known = new Map(allowed.map((one) => [isByText ? String(one) : one, one]));
  return (value) => {
    const key = isByText && (typeof value === "number" || typeof value === "boolean") ? String(value) : value;
    if (!known.has(key)) throw new ValueProblem(messages.noneOf(allowed));
    return known.get(key);
  };
}
