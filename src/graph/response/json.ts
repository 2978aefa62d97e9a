/**
 * Reads JSON from a caller, with limits on its depth, values and names. If a binary float cannot represent a number, the number is returned as text
 * (63-bit ids, `_valueToSum`, `1e400`; D-02, D-70). The caller may not be authenticated yet, so this file limits the time in which its JSON is read
 * (D-337).
 */
import { invalidParameter, malformedRequest } from "#kernel/errors";
import { endOfString } from "#kernel/redaction/json-text";
import { JsonNumber } from "../pipeline/request.ts";

/**
 * The greatest depth of a caller's JSON. The deepest request of the interface has six levels. A limit of 32 levels leaves space for deeper requests
 * in the future, and keeps every recursion short.
 */
export const JSON_DEPTH_MAX = 32;
/**
 * The greatest number of digits of a number that is read as a binary float without a check for lost digits. A float represents up to 15 significant
 * digits without loss.
 */
const EXACT_DIGITS_MAX = 15;
/**
 * The greatest number of digits in a number. D-337: the runtime takes 20 ms to read a number of a million digits (measured), and no client needs such
 * a number.
 */
const DIGITS_MAX = 10_000;
/**
 * The greatest number of values in a JSON text. D-337: `JSON.parse` blocks the event loop, and takes 20 ms for 150,000 lists (measured). A request
 * with the greatest number of events, with six parameters each, has 80,000 values.
 */
export const JSON_VALUES_MAX = 150_000;
/**
 * A number with many digits counts as this number of values, because returning it as text costs more than reading it. 58,000 such numbers blocked the
 * event loop for 50 ms (measured).
 */
const LONG_NUMBER_VALUES = 5;
/**
 * The greatest number of different names in a JSON text. D-337: `JSON.parse` takes 1 µs for each new name, 30 times as long as for a name that has
 * occurred before. The interface uses only some hundreds of different names.
 */
export const JSON_NAMES_MAX = 10_000;

/** Reads JSON. `what` is the name of the JSON text in the error, e.g. `The request body`. Throws `invalidParameter` (code 100). */
export const parseJson = (text: string, what: string): unknown => parseJsonOr(text, (problem) => malformedRequest(`${what} ${problem}`));

/** Reads JSON from the value of a parameter (D-34). The error about wrong JSON names the parameter. */
export const parseJsonParameter = (text: string, name: string): unknown => parseJsonOr(text, (problem) => invalidParameter(name, problem));

type Refusal = (problem: string) => Error;

/** Reads JSON. If the JSON text has a problem, e.g. `is not valid JSON`, throws the error that `refused` makes from the problem. */
export function parseJsonOr(text: string, refused: Refusal): unknown {
  const mayBeInexact = boundJson(text, refused);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw refused("is not valid JSON");
  }
  return mayBeInexact ? new DigitKeeper(text).keptIn(value) : value;
}

/**
 * Scans the JSON text outside of its strings. Returns whether the JSON text may have a number that a float cannot represent. Throws if the JSON text
 * is nested too deep, or has too many values or too many different names.
 */
export function boundJson(text: string, refused: Refusal): boolean {
  let depth = 0;
  let digits = 0;
  let values = 0;
  let stringAt = 0;
  let stringEnd = 0;
  let mayBeInexact = false;
  const names = text.length > FEW_NAMES_CHARACTERS ? new DistinctNames(text) : undefined;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 34) {
      stringAt = i;
      i = stringEnd = endOfString(text, i);
    } else if (unit === 123 || unit === 91) {
      values++;
      if (++depth > JSON_DEPTH_MAX) throw refused(`nests deeper than ${JSON_DEPTH_MAX} levels`);
    } else if (unit === 125 || unit === 93) depth--;
    else if (unit >= 48 && unit <= 57) {
      if (++digits > EXACT_DIGITS_MAX) mayBeInexact = true;
      // The extra values for a number with many digits are added only once for each number.
      if (digits === EXACT_DIGITS_MAX + 1) values += LONG_NUMBER_VALUES - 1;
      if (digits > DIGITS_MAX) throw refused(`has a number of more than ${DIGITS_MAX} digits`);
    } else if (digits > 0 && (unit === 101 || unit === 69)) mayBeInexact = true;
    // Two numbers are always separated by a comma, a colon or a bracket.
    else if (unit !== 46) {
      digits = 0;
      if (unit === 44) values++;
      else if (unit === 58 && names?.count(stringAt, stringEnd) === JSON_NAMES_MAX + 1)
        throw refused(`has more than ${JSON_NAMES_MAX} different names`);
    }
    if (values > JSON_VALUES_MAX) throw refused(`has more than ${JSON_VALUES_MAX} values`);
  }
  return mayBeInexact;
}

/** A text of at most this length cannot have too many names, because each name takes at least six characters. */
const FEW_NAMES_CHARACTERS = 6 * JSON_NAMES_MAX;
/**
 * The number of different hashes of names. Names with the same hash count as one name. With 65,536 hashes for 10,000 names, at most every eighth name
 * has the same hash as another name.
 */
const HASHES = 65_536;
/** The number of characters at each end of a name from which its hash is made, so that a name of a megabyte costs no more than a short one. */
const HASHED_CHARACTERS = 16;

/**
 * Estimates the number of different names in a JSON text. The estimate is never higher than the number of different names. A set of all names would
 * take as long as parsing the names does.
 */
class DistinctNames {
  readonly #text: string;
  readonly #isKnown = new Uint8Array(HASHES);
  #count = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Counts the name between two quotes, and returns the number of different names so far. */
  count(start: number, end: number): number {
    let hash = end - start;
    const firstEnd = Math.min(end, start + 1 + HASHED_CHARACTERS);
    for (let at = start + 1; at < firstEnd; at++) hash = Math.imul(hash ^ this.#text.charCodeAt(at), 0x01_00_01_93);
    for (let at = Math.max(firstEnd, end - HASHED_CHARACTERS); at < end; at++) hash = Math.imul(hash ^ this.#text.charCodeAt(at), 0x01_00_01_93);
    const slot = (hash ^ (hash >>> 16)) & (HASHES - 1);
    this.#count += 1 - (this.#isKnown[slot] as number);
    this.#isKnown[slot] = 1;
    return this.#count;
  }
}

/** A list or object that is open at the current position in the text. */
interface Open {
  /**
   * The list or object as `JSON.parse` has returned it. The parsed list or object is looked up only when the digits of a number inside it must be
   * stored. Undefined if a later member with the same name has replaced the list or object.
   */
  value: unknown;
  isKnown: boolean;
  isList: boolean;
  /**
   * For a list, `index` is the index of the next item. For an object, `nameStart` and `nameEnd` are the positions at which the name of the next value
   * begins and ends.
   */
  index: number;
  nameStart: number;
  nameEnd: number;
}

/**
 * Replaces numbers in a parsed value by their exact digits. A reviver of `JSON.parse` would take eight times as long, because it is called for each
 * value.
 */
class DigitKeeper {
  readonly #text: string;
  /**
   * The first `#depth` elements of the stack are the lists and objects that are open. The elements of the stack from `#depth` on are reused for lists
   * and objects that open later.
   */
  readonly #open: Open[] = [];
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  keptIn(root: unknown): unknown {
    const text = this.#text;
    let stringAt = 0;
    let stringEnd = 0;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit === 34) {
        stringAt = i;
        i = stringEnd = endOfString(text, i);
      } else if (unit === 123 || unit === 91) this.#enter(root, unit === 91);
      else if (unit === 125 || unit === 93) this.#depth--;
      else if (unit === 44) this.#innermost.index++;
      else if (unit === 58) {
        this.#innermost.nameStart = stringAt;
        this.#innermost.nameEnd = stringEnd + 1;
      } else if ((unit >= 48 && unit <= 57) || unit === 45) {
        const start = i;
        while (isOfNumber(text.charCodeAt(i + 1))) i++;
        const source = text.slice(start, i + 1);
        if (isExact(source)) continue;
        if (this.#depth === 0) return new JsonNumber(source);
        this.#keep(source);
      }
    }
    return root;
  }

  get #innermost(): Open {
    return this.#open[this.#depth - 1] as Open;
  }

  #enter(root: unknown, isList: boolean): void {
    const used = this.#open[this.#depth++];
    if (used === undefined) this.#open.push({ value: root, isKnown: this.#depth === 1, isList, index: 0, nameStart: 0, nameEnd: 0 });
    else {
      used.isKnown = false;
      used.isList = isList;
      used.index = 0;
    }
  }

  #keep(source: string): void {
    const container = this.#containerAt(this.#depth - 1);
    if (container === undefined) return;
    const key = this.#keyIn(this.#innermost);
    const present = container[key];
    // If several members of an object have the same name, only the last one counts.
    if (Object.hasOwn(container, key) && (present === Number(source) || present instanceof JsonNumber)) container[key] = new JsonNumber(source);
  }

  #containerAt(depth: number): Record<PropertyKey, unknown> | undefined {
    const open = this.#open[depth] as Open;
    if (!open.isKnown) {
      const outer = this.#containerAt(depth - 1);
      const key = this.#keyIn(this.#open[depth - 1] as Open);
      const value = outer !== undefined && Object.hasOwn(outer, key) ? outer[key] : undefined;
      open.value = typeof value === "object" && value !== null && Array.isArray(value) === open.isList ? value : undefined;
      open.isKnown = true;
    }
    return open.value as Record<PropertyKey, unknown> | undefined;
  }

  #keyIn({ isList, index, nameStart, nameEnd }: Open): string | number {
    return isList ? index : (JSON.parse(this.#text.slice(nameStart, nameEnd)) as string);
  }
}

/** Whether the character may be in a number: a digit, a point, a sign or the letter of an exponent. */
const isOfNumber = (unit: number): boolean => (unit >= 48 && unit <= 57) || unit === 46 || unit === 43 || unit === 45 || unit === 101 || unit === 69;

function isExact(source: string): boolean {
  if (source.length > EXACT_DIGITS_MAX) return false;
  const value = Number(source);
  // As a binary float, `1e400` would become Infinity, and `1e-400` would become 0.
  return Number.isFinite(value) && (value !== 0 || !/[1-9]/.test(source.split(/e/i, 1).join()));
}
