/**
 * Checks one value against its expectation: the value must be equal to a plain expected value, or all operators of an expected object
 * must be true for the value.
 */
import { isDeepStrictEqual } from "node:util";
import { valueAt } from "./paths.ts";

/** One expectation that a value does not fulfil. */
export interface Problem {
  readonly where: string;
  readonly expected: string;
  readonly got: string;
}

type Check = (value: unknown, argument: unknown, where: string) => Problem[];

const show = (value: unknown): string => {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > 2000 ? `${text.slice(0, 2000)}… (${text.length} characters)` : text;
};

export const problem = (where: string, expected: string, got: unknown): Problem => ({ where, expected, got: show(got) });

const LARGEST_ID = 2n ** 63n - 1n;

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  integer: (value) => Number.isSafeInteger(value),
  number: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  null: (value) => value === null,
  // D-02: an id is a decimal string of a positive integer up to 2^63 − 1, without leading zeros.
  id: (value) => typeof value === "string" && /^[1-9]\d{0,18}$/.test(value) && BigInt(value) <= LARGEST_ID,
  url: (value) => typeof value === "string" && /^https?:\/\//.test(value) && URL.canParse(value),
};

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** Writes a value as text, so that members of a set can be sorted and compared even if they are objects. */
const sortable = (value: unknown): string => JSON.stringify(value) ?? "undefined";

const lengthOf = (value: unknown): number | undefined => {
  if (typeof value === "string") return [...value].length;
  if (Array.isArray(value)) return value.length;
  return typeof value === "object" && value !== null ? Object.keys(value).length : undefined;
};

const holds =
  (expected: (argument: unknown) => string, test: (value: unknown, argument: unknown) => boolean): Check =>
  (value, argument, where) =>
    test(value, argument) ? [] : [problem(where, expected(argument), value)];

const operators: Readonly<Record<string, Check>> = {
  equals: holds(show, (value, argument) => isDeepStrictEqual(value, argument)),
  not: (value, argument, where) => (matches(value, argument, where).length > 0 ? [] : [problem(where, `not ${show(argument)}`, value)]),
  absent: holds(
    (argument) => (argument === true ? "nothing" : "something"),
    (value, argument) => (value === undefined) === argument,
  ),
  present: holds(
    (argument) => (argument === true ? "something" : "nothing"),
    (value, argument) => (value !== undefined) === argument,
  ),
  type: holds(
    (argument) => `a value of type ${argument}`,
    (value, argument) => {
      const test = types[String(argument)];
      if (test === undefined) throw new Error(`no such type: ${argument} (${Object.keys(types).join(", ")})`);
      return test(value);
    },
  ),
  matches: holds(
    (argument) => `text matching /${argument}/`,
    (value, argument) => typeof value === "string" && new RegExp(String(argument), "u").test(value),
  ),
  one_of: holds(
    (argument) => `one of ${show(argument)}`,
    (value, argument) => listOf(argument).some((item) => isDeepStrictEqual(item, value)),
  ),
  length: (value, argument, where) => matches(lengthOf(value), argument, `length of ${where}`),
  contains: (value, argument, where) => contains(value, argument, where),
  each: (value, argument, where) => {
    const items = listOf(value);
    if (items.length === 0) return [problem(where, "at least one element", value)];
    return items.flatMap((item, i) => matches(item, argument, `${where}[${i}]`));
  },
  same_set: holds(
    (argument) => `in any order ${show(argument)}`,
    (value, argument) => isDeepStrictEqual(listOf(value).map(sortable).sort(), listOf(argument).map(sortable).sort()),
  ),
  unique: holds(
    () => "no element twice",
    (value) => new Set(listOf(value).map(sortable)).size === listOf(value).length,
  ),
  min: holds(
    (argument) => `at least ${argument}`,
    (value, argument) => typeof value === "number" && value >= Number(argument),
  ),
  max: holds(
    (argument) => `at most ${argument}`,
    (value, argument) => typeof value === "number" && value <= Number(argument),
  ),
  id_after: holds(
    (argument) => `an id later than ${argument}`,
    (value, argument) => types.id?.(value) === true && BigInt(String(value)) > BigInt(String(argument)),
  ),
  keys: holds(
    (argument) => `exactly the keys ${show(argument)}`,
    (value, argument) =>
      types.object?.(value) === true && isDeepStrictEqual(Object.keys(value as object).sort(), listOf(argument).map(String).sort()),
  ),
  at: (value, argument, where) =>
    Object.entries(argument as object).flatMap(([path, inner]) => matches(valueAt(value, path), inner, `${where}.${path}`)),
  query: (value, argument, where) => {
    if (typeof value !== "string" || !URL.canParse(value)) return [problem(where, "an address", value)];
    const given = new URL(value).searchParams;
    return Object.entries(argument as object).flatMap(([name, inner]) =>
      matches(given.get(name) ?? undefined, typeof inner === "number" ? String(inner) : inner, `${where}?${name}`),
    );
  },
};

function contains(value: unknown, argument: unknown, where: string): Problem[] {
  const wanted = Array.isArray(argument) ? argument : [argument];
  const has = (item: unknown): boolean => {
    if (typeof value === "string") return value.includes(String(item));
    if (Array.isArray(value)) return value.some((member) => isDeepStrictEqual(member, item));
    return types.object?.(value) === true && Object.hasOwn(value as object, String(item));
  };
  return wanted.filter((item) => !has(item)).map((item) => problem(where, `to contain ${show(item)}`, value));
}

const isOperators = (matcher: unknown): matcher is Record<string, unknown> =>
  typeof matcher === "object" && matcher !== null && !Array.isArray(matcher);

/** Returns the expectations in `matcher` that `value` does not fulfil. A missing value is `undefined`. */
export function matches(value: unknown, matcher: unknown, where: string): Problem[] {
  if (!isOperators(matcher)) return isDeepStrictEqual(value, matcher) ? [] : [problem(where, show(matcher), value)];
  return Object.entries(matcher).flatMap(([name, argument]) => {
    const check = Object.hasOwn(operators, name) ? operators[name] : undefined;
    if (check === undefined) throw new Error(`no such expectation: ${name} (${Object.keys(operators).join(", ")})`);
    return check(value, argument, where);
  });
}
