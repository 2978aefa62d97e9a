/** Whether an entry (a request, a webhook) is one that was expected, and in what it differs where it is not. */

export interface Expected {
  /** Keys that say what kind of entry it is, with their values, such as the operation of a request. */
  readonly kind: Readonly<Record<string, unknown>>;
  /** Further keys of an entry with their values. */
  readonly match: Readonly<Record<string, unknown>>;
}

export interface Difference {
  /** What differs, e.g. `status` or `request_body.users[0]`. */
  readonly at: string;
  readonly expected: unknown;
  /** Undefined: there is nothing in this place. */
  readonly actual: unknown;
}

export interface NearMiss<Entry extends object> {
  readonly entry: Entry;
  /** The first of them. */
  readonly differences: readonly Difference[];
}

/** Enough to find the mistake; a long list that is shifted by one differs everywhere. */
const DIFFERENCES_MAX = 20;

export const isExpected = (entry: object, expected: Expected): boolean => differencesOf(entry, expected).length === 0;

export const isOfKind = (entry: object, { kind }: Expected): boolean => isExpected(entry, { kind, match: {} });

/**
 * The entry with the fewest differences, of several the first: the newest. One of the expected kind goes before any other. Undefined:
 * there is none that is not as expected.
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

/** Maps are compared key by key, lists item by item, numbers also as text (a form has only text). */
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
