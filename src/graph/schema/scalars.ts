/** Readers of single values: text, numbers, booleans, constants. */
import { codePointCount, isStorableText } from "#kernel/text";
import type { Dialect } from "./dialect.ts";
import type { SchemaNode } from "./schema-node.ts";
import { ValueProblem } from "./value-problem.ts";

/** Returns the value as it is to be used. Throws `ValueProblem`. */
export type Read = (value: unknown) => unknown;

/** D-21. */
export function storable(text: string): string {
  if (!isStorableText(text)) throw new ValueProblem("contains U+0000 or a lone surrogate");
  return text;
}

export function text({ minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern }: SchemaNode, { coerce, messages }: Dialect): Read {
  // linear: tidy checks the patterns of schemas where they are written.
  const expression = pattern === undefined ? undefined : new RegExp(pattern, "u");
  const isBounded = minLength > 0 || maxLength < Number.POSITIVE_INFINITY;
  return (given) => {
    const value = coerce === undefined ? given : coerce.text(given);
    if (typeof value !== "string") throw new ValueProblem(messages.notText(value));
    storable(value);
    const length = isBounded ? codePointCount(value) : 0;
    if (length < minLength) throw new ValueProblem(messages.tooShort(minLength));
    if (length > maxLength) throw new ValueProblem(`must have at most ${maxLength} characters`);
    if (expression !== undefined && !expression.test(value)) throw new ValueProblem(messages.noMatch(pattern as string));
    return value;
  };
}

export function integer(node: SchemaNode, { coerce }: Dialect): Read {
  return (given) => {
    const value = coerce === undefined ? given : coerce.integer(given);
    if (!Number.isSafeInteger(value)) throw new ValueProblem("must be an integer");
    return withinBounds(value as number, node);
  };
}

export function number(node: SchemaNode, { coerce }: Dialect): Read {
  if (coerce !== undefined) return coerce.decimal;
  return (value) => {
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

export const nothing: Read = (value) => {
  if (value !== null) throw new ValueProblem("must be null");
  return value;
};

/** A closed set. Where text stands for other kinds, `1` is the constant 1 and `"1"` too. */
export function constants(allowed: readonly unknown[], { coerce, messages }: Dialect): Read {
  const isByText = coerce !== undefined;
  const known = new Map(allowed.map((one) => [isByText ? String(one) : one, one]));
  return (value) => {
    const key = isByText && typeof value === "number" ? String(value) : value;
    if (!known.has(key)) throw new ValueProblem(messages.noneOf(allowed));
    return known.get(key);
  };
}
