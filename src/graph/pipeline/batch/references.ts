/** What requests of a batch take from the responses to earlier ones: `{result=name:$.path}` (D-34), within bounds (D-39). */
import { bodyTooLarge, headersTooLarge, invalidParameter } from "#kernel/errors";
import type { GraphResponse } from "../request.ts";

const REFERENCE = /\{result=([^:{}]+):(\$[^{}]*)\}/g;

/** What a request of its own may have by default. A chain of references could double its text with each request. */
const ADDRESS_BYTES_MAX = 16_384;
const BODY_BYTES_MAX = 1_048_576;
/** Of the texts of all requests that refer to others: four of the largest bodies. */
const DERIVED_BYTES_MAX = 4_194_304;
/** Values of responses that are looked at; a list of 100 items has some 1,000. */
const VISITS_MAX = 1_000_000;
/** Reading or writing so many characters of JSON costs about as much as looking at one value. */
const CHARACTERS_PER_VISIT = 8;

/** The names that a text refers to. Throws `invalidParameter` for a path that cannot be read. */
export function referencesIn(text: string): readonly string[] {
  return [...text.matchAll(REFERENCE)].map(([, name, path]) => {
    readPath(path as string);
    return name as string;
  });
}

/** The references of one batch, whose requests share what may be derived. */
export class References {
  readonly #results: ReadonlyMap<string, GraphResponse>;
  #derivedBytes = 0;
  #visits = 0;

  constructor(results: ReadonlyMap<string, GraphResponse>) {
    this.#results = results;
  }

  /** Throws `headersTooLarge`, or `invalidParameter` where the batch derives too much. */
  address(text: string): string {
    return this.#resolved(text, encodeURIComponent, ADDRESS_BYTES_MAX, headersTooLarge);
  }

  /** `isJson`: references stand in strings of it; otherwise in a form. Throws `bodyTooLarge`, or `invalidParameter` as above. */
  body(text: string, isJson: boolean): string {
    return this.#resolved(text, isJson ? jsonText : encodeURIComponent, BODY_BYTES_MAX, bodyTooLarge);
  }

  #resolved(text: string, encode: (value: string) => string, bytesMax: number, tooLarge: (bytesMax: number) => Error): string {
    let resolved = "";
    let end = 0;
    for (const match of text.matchAll(REFERENCE)) {
      const [whole, name = "", path = ""] = match;
      resolved += text.slice(end, match.index);
      end = match.index + whole.length;
      let separator = "";
      for (const value of this.#valuesOf(name, path)) {
        resolved += separator + encode(this.#textOf(value));
        separator = encode(",");
        if (resolved.length > bytesMax) throw tooLarge(bytesMax);
      }
    }
    if (end === 0 && text.length <= bytesMax / MOST_BYTES_OF_UNIT) return text;
    resolved += text.slice(end);
    const bytes = Buffer.byteLength(resolved);
    if (bytes > bytesMax) throw tooLarge(bytesMax);
    if (end > 0) this.#derivedBytes += bytes;
    if (this.#derivedBytes > DERIVED_BYTES_MAX) throw invalidParameter("batch", `derives more than ${DERIVED_BYTES_MAX} bytes by references`);
    return resolved;
  }

  #valuesOf(name: string, path: string): readonly unknown[] {
    const { body = "null" } = this.#results.get(name) ?? {};
    this.#visit(body.length / CHARACTERS_PER_VISIT);
    return valuesAt(JSON.parse(body), readPath(path), () => this.#visit(1));
  }

  #textOf(value: unknown): string {
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    this.#visit(text.length / CHARACTERS_PER_VISIT);
    return text;
  }

  #visit(count: number): void {
    this.#visits += count;
    if (this.#visits > VISITS_MAX) throw invalidParameter("batch", "looks at too much of earlier responses by its references; ask for less of them");
  }
}

/** A UTF-16 unit has at most three bytes in UTF-8. */
const MOST_BYTES_OF_UNIT = 3;

const jsonText = (value: string): string => JSON.stringify(value).slice(1, -1);

/** The part of JSONPath that batches use: `$.a.b`, `$.a[0]`, `$.a.*.b`, `$.a[*]`, `$['a']`, `$..a`. */
const STEP = /\.\.([\w-]+)|\.([\w-]+)|\.\*|\[(\d+)\]|\[\*\]|\['([^']*)'\]/y;
/** Deeper than any response. */
const STEPS_MAX = 32;

interface Step {
  /** Undefined: every child. */
  readonly key: string | undefined;
  /** At any depth. */
  readonly isAnywhere: boolean;
}

/** Throws `invalidParameter` for a path that cannot be read. */
export function readPath(path: string): readonly Step[] {
  const steps: Step[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < path.length) {
    const at = STEP.lastIndex;
    const match = STEP.exec(path);
    if (match === null || steps.length >= STEPS_MAX) throw invalidParameter("batch", `has a path that cannot be read at position ${at}: ${path}`);
    const [, anywhere, name, index, quoted] = match;
    steps.push({ key: anywhere ?? name ?? index ?? quoted, isAnywhere: anywhere !== undefined });
  }
  return steps;
}

/** `visit` is called for every value that is looked at, and may throw: `$..a..a` finds what nests in itself many times. */
export function valuesAt(document: unknown, steps: readonly Step[], visit: () => void): readonly unknown[] {
  let found: unknown[] = [document];
  for (const step of steps) {
    const next: unknown[] = [];
    for (const value of found) collect(value, step, next, visit);
    found = next;
  }
  return found;
}

function collect(value: unknown, step: Step, found: unknown[], visit: () => void): void {
  visit();
  if (typeof value !== "object" || value === null) return;
  const { key, isAnywhere } = step;
  if (key !== undefined && Object.hasOwn(value, key)) found.push((value as Record<string, unknown>)[key]);
  if (key !== undefined && !isAnywhere) return;
  for (const inner of Object.values(value)) {
    if (isAnywhere) collect(inner, step, found, visit);
    else {
      visit();
      found.push(inner);
    }
  }
}
