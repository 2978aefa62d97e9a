/** Checks an expectation about the entries of a growing list. The check of an expectation waits until enough entries match. */
import { type TSchema, Type } from "typebox";
import { within } from "#kernel/turns";
import { type ControlError, unprocessable } from "./errors.ts";
import type { ControlDeps } from "./route.ts";

/**
 * The longest time for which a request may wait for its expectation, enough for any test. This limit of the waiting time ensures that
 * connections do not stay open forever.
 */
const WITHIN_MS_MAX = 60_000;

/** Defines the parameters `count` and `within_ms`. `what` is the plural noun of the entries, for the description. */
export const countedWithin = (what: string, countMax?: number) => ({
  count: Type.Integer({
    minimum: 0,
    ...(countMax === undefined ? {} : { maximum: countMax }),
    default: 1,
    description: `the minimum number of matching ${what}; 0: no ${what} may match`,
  }),
  within_ms: Type.Integer({ minimum: 0, maximum: WITHIN_MS_MAX, default: 0, description: "the real time to wait for the expected entries" }),
});

/** Makes the schema of the response after an expectation was met. The response contains the entries that match the expectation. */
export const met = (entry: TSchema) => Type.Object({ count: Type.Integer(), data: Type.Array(entry) });

const difference = Type.Object({
  at: Type.String({ description: "the path of the value that differs, e.g. `status` or `request_body.users[0]`" }),
  expected: Type.Unknown(),
  actual: Type.Optional(Type.Unknown({ description: "the value that was found; left out if the entry has no value at this path" })),
});

/** Makes the schema of the compared entries, which are part of the error if the expectation was not met. `what` is the singular noun of an entry. */
export const unmet = (what: string, entry: TSchema) =>
  Type.Object({
    count: Type.Integer({ description: "the number of entries that matched" }),
    data: Type.Array(entry, { description: `each ${what} of the expected kind, the newest first` }),
    nearest: Type.Optional(Type.Object({ [what]: entry, differences: Type.Array(difference) })),
  });

/** The pause between two reads of the list. A delay of this length does not matter to a test, and a read takes only a fraction of a millisecond. */
const READ_EVERY_MS = 20;

interface Entries<Entry extends object> {
  /** The singular noun of an entry, e.g. `request`. In an error this noun is the key of the nearest entry. */
  readonly what: string;
  /** Reads the entries, the newest first. */
  read(): Promise<readonly Entry[]>;
  /** Resolves when the next entry is added. If a list has no `next`, its entries are read at intervals. */
  next?(): Promise<void>;
  show(entry: Entry): unknown;
}

interface Wait {
  readonly count: number;
  readonly within_ms: number;
}

export async function expectEntries<Entry extends object>(
  entries: Entries<Entry>,
  expected: Expected,
  { count, within_ms }: Wait,
  { monotonicMs, sleepMs }: ControlDeps["realTime"],
): Promise<{ count: number; data: unknown[] }> {
  const until = monotonicMs() + within_ms;
  for (;;) {
    // The wait begins before the entries are read, so that an entry that is added during the read is not missed.
    const next = entries.next?.();
    const all = await entries.read();
    const found = all.filter((entry) => isExpected(entry, expected));
    const isMet = count === 0 ? found.length === 0 : found.length >= count;
    const remaining = until - monotonicMs();
    if (isMet && (count > 0 || remaining <= 0)) return { count: found.length, data: found.map(entries.show) };
    if (!isMet && (count === 0 || remaining <= 0)) throw refusalOf(entries, all, found.length, expected, count);
    await (next === undefined ? sleepMs(Math.min(remaining, READ_EVERY_MS)) : within(next, remaining));
  }
}

/** The greatest number of compared entries in an error, enough to find the mistake. */
const SEEN_MAX = 50;

function refusalOf<Entry extends object>(
  { what, show }: Entries<Entry>,
  all: readonly Entry[],
  found: number,
  expected: Expected,
  count: number,
): ControlError {
  const data = all.filter((entry) => isOfKind(entry, expected)).slice(0, SEEN_MAX);
  // If the caller expected no entry, an error has no nearest entry to show.
  const nearest = count === 0 ? undefined : nearestOf(all, expected);
  const wanted = count === 0 ? `no ${what}` : `${count} ${what}${count === 1 ? "" : "s"}`;
  const inWords = nearest === undefined ? "" : `; the nearest differs in ${nearest.differences.map(({ at }) => at).join(", ")}`;
  return unprocessable(`expected ${wanted}, saw ${found}${inWords}`, undefined, {
    count: found,
    data: data.map(show),
    ...(nearest === undefined ? {} : { nearest: { [what]: show(nearest.entry), differences: nearest.differences } }),
  });
}

/** Compares an entry of a list (a request or a webhook) with the expected entry, and lists the differences. */

export interface Expected {
  /** The values of the keys that identify the kind of entry, such as the operation of a request. */
  readonly kind: Readonly<Record<string, unknown>>;
  /** The values of the keys that must also match, besides the keys that identify the kind of entry. */
  readonly match: Readonly<Record<string, unknown>>;
}

interface Difference {
  /** The path of the value that differs, e.g. `status` or `request_body.users[0]`. */
  readonly at: string;
  readonly expected: unknown;
  /** The value in the entry; undefined if the entry has no value at this path. */
  readonly actual: unknown;
}

interface NearMiss<Entry extends object> {
  readonly entry: Entry;
  /** The first differences between the entry and the expected entry, up to a limit. */
  readonly differences: readonly Difference[];
}

/**
 * The greatest number of differences that are shown. A few differences show the mistake, and a long list that is shifted by
 * one item would differ everywhere.
 */
const DIFFERENCES_MAX = 20;

export const isExpected = (entry: object, expected: Expected): boolean => differencesOf(entry, expected).length === 0;

export const isOfKind = (entry: object, { kind }: Expected): boolean => isExpected(entry, { kind, match: {} });

/**
 * Returns the entry with the fewest differences from the expected entry; if several entries have equally few, it returns the newest of these. An
 * entry of the expected kind counts as nearer than any entry of another kind. Returns undefined if all entries match.
 */
export function nearestOf<Entry extends object>(entries: readonly Entry[], expected: Expected): NearMiss<Entry> | undefined {
  let nearest: NearMiss<Entry> | undefined;
  for (const entry of entries) {
    const differences = differencesOf(entry, expected);
    if (differences.length > 0 && (nearest === undefined || isNearer({ entry, differences }, nearest, expected))) nearest = { entry, differences };
  }
  return nearest === undefined ? undefined : { entry: nearest.entry, differences: nearest.differences.slice(0, DIFFERENCES_MAX) };
}

function isNearer(one: NearMiss<object>, other: NearMiss<object>, expected: Expected): boolean {
  const isOneOf = isOfKind(one.entry, expected);
  return isOneOf === isOfKind(other.entry, expected) ? one.differences.length < other.differences.length : isOneOf;
}

function differencesOf(entry: object, { kind, match }: Expected): Difference[] {
  const found: Difference[] = [];
  for (const [key, wanted] of [...Object.entries(kind), ...Object.entries(match)]) {
    const actual = ownValue(entry, key);
    const isText = key === "query" || key === "request_body" || key === "response_body";
    if (!isText || typeof actual !== "string") compare(actual, wanted, key, found);
    else if (typeof wanted !== "string") compare(decoded(actual), wanted, key, found);
    else if (!actual.includes(wanted)) found.push({ at: key, expected: wanted, actual });
  }
  return found;
}

function decoded(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return Object.fromEntries(new URLSearchParams(text));
  }
}

/**
 * Compares two values: objects key by key, and lists item by item. An expected number also matches the same number as text,
 * because a form contains only text.
 */
function compare(actual: unknown, expected: unknown, at: string, found: Difference[]): void {
  if (typeof expected !== "object" || expected === null) {
    if (actual !== expected && !(typeof actual === "string" && actual === String(expected))) found.push({ at, expected, actual });
  } else if (Array.isArray(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) found.push({ at, expected, actual });
    else for (const [index, item] of expected.entries()) compare(actual[index], item, `${at}[${index}]`, found);
  } else if (typeof actual !== "object" || actual === null) found.push({ at, expected, actual });
  else for (const [key, inner] of Object.entries(expected)) compare(ownValue(actual, key), inner, `${at}.${key}`, found);
}

const ownValue = (object: object, key: string): unknown => (Object.hasOwn(object, key) ? (object as Record<string, unknown>)[key] : undefined);
