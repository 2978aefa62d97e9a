/** References from requests of a batch to responses of earlier requests: `{result=name:$.path}` (D-34), with limits (D-39). */
import { bodyTooLarge, headersTooLarge, invalidParameter } from "#kernel/errors";
import { findHeader, type RawHeaders } from "#kernel/http-text/headers";
import { parseMediaType } from "#kernel/http-text/multipart";
import { endOfString } from "#kernel/redaction/json-text";
import { kindOf } from "../../request-text/body.ts";
import { decoded } from "../../request-text/pairs.ts";
import type { GraphResponse } from "../request.ts";

const REFERENCE = /\{result=([^:{}]+):(\$[^{}]*)\}/g;

/**
 * The greatest number of bytes of an address after its references are resolved; by default an ordinary request has the same limit. A chain of
 * references could double the length of its text with each request.
 */
const ADDRESS_BYTES_MAX = 16_384;
const BODY_BYTES_MAX = 1_048_576;
/** The greatest number of bytes of all texts of the batch in which references were resolved: four times the largest body. */
const DERIVED_BYTES_MAX = 4_194_304;
/**
 * The greatest number of values that the references of a batch may look at in earlier responses. For comparison, a list of 100 items has some 1,000
 * values.
 */
const VISITS_MAX = 1_000_000;
/** The number of characters of JSON that the server can read or write in the time in which it looks at one value. */
const CHARACTERS_PER_VISIT = 8;

/** The notation of a text: it decides how the text is split and decoded before the server searches it for references. */
type Notation = "address" | "form" | "json";

/** The notation of a request body. The notation is undefined for a multipart body, which cannot have references. */
export function bodyNotation(text: string, headers: RawHeaders): Notation | undefined {
  const type = parseMediaType(findHeader(headers, "content-type") ?? "").type;
  if (type.startsWith("multipart/")) return undefined;
  // A body that begins with a reference is not JSON, although its first character is a brace.
  return kindOf(text.trimStart().startsWith("{result=") ? "" : text, type === "" ? undefined : type) === "json" ? "json" : "form";
}

/** The names of the requests to which a text refers. Throws `invalidParameter` if the JSONPath of a reference is malformed. */
export function referencesIn(text: string, notation: Notation | undefined): readonly string[] {
  const names: string[] = [];
  changeTexts(text, notation, (decodedText) => {
    for (const [, name, path] of decodedText.matchAll(REFERENCE)) {
      readPath(path as string);
      names.push(name as string);
    }
    return decodedText;
  });
  return names;
}

/** The references of one batch. All requests of the batch share the limits on references. */
export class References {
  readonly #results: ReadonlyMap<string, GraphResponse>;
  #derivedBytes = 0;
  #visits = 0;

  constructor(results: ReadonlyMap<string, GraphResponse>) {
    this.#results = results;
  }

  /**
   * Resolves the references in an address. Throws `headersTooLarge`, or `invalidParameter` if references have made too many bytes in the whole batch.
   */
  address(text: string): string {
    return this.#resolved(text, "address", ADDRESS_BYTES_MAX, headersTooLarge);
  }

  /** Resolves the references in a body. Throws `bodyTooLarge`, or `invalidParameter` if references have made too many bytes in the whole batch. */
  body(text: string, notation: Notation | undefined): string {
    return this.#resolved(text, notation, BODY_BYTES_MAX, bodyTooLarge);
  }

  #resolved(text: string, notation: Notation | undefined, bytesMax: number, tooLarge: (bytesMax: number) => Error): string {
    let characters = 0;
    const resolved = changeTexts(text, notation, (decodedText) =>
      decodedText.replaceAll(REFERENCE, (_, name: string, path: string) => {
        const value = this.#valuesOf(name, path)
          .map((one) => this.#textOf(one))
          .join(",");
        characters += value.length;
        if (characters > bytesMax) throw tooLarge(bytesMax);
        return value;
      }),
    );
    const bytes = Buffer.byteLength(resolved);
    if (bytes > bytesMax) throw tooLarge(bytesMax);
    if (resolved !== text) this.#derivedBytes += bytes;
    if (this.#derivedBytes > DERIVED_BYTES_MAX)
      throw invalidParameter("batch", `inserts more than ${DERIVED_BYTES_MAX} bytes of earlier responses by references`);
    return resolved;
  }

  #valuesOf(name: string, path: string): readonly unknown[] {
    const body = this.#results.get(name)?.body ?? "";
    this.#visit(body.length / CHARACTERS_PER_VISIT);
    // A response to HEAD does not have a body.
    return body === "" ? [] : valuesAt(JSON.parse(body), readPath(path), () => this.#visit(1));
  }

  #textOf(value: unknown): string {
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    this.#visit(text.length / CHARACTERS_PER_VISIT);
    return text;
  }

  #visit(count: number): void {
    this.#visits += count;
    if (this.#visits > VISITS_MAX)
      throw invalidParameter("batch", "reads too much of earlier responses by its references; use fewer references, or request fewer fields");
  }
}

/** Matches a text that may have a reference: plain, percent-encoded, or escaped in JSON. */
const MAY_REFER = /\{result=|%7B|\\u007B/i;

/**
 * Calls `change` with each decoded piece of a text that may have a reference. If `change` returns a piece of text unchanged, the encoded text of this
 * piece stays the same byte for byte.
 */
function changeTexts(text: string, notation: Notation | undefined, change: (decodedText: string) => string): string {
  if (notation === undefined || !MAY_REFER.test(text)) return text;
  if (notation === "json") return changeStrings(text, change);
  const changed = (part: string) => {
    const decodedText = part.includes("%") ? decoded(part) : undefined;
    const result = decodedText === undefined ? undefined : change(decodedText);
    return result === undefined || result === decodedText ? part : encodeURIComponent(result);
  };
  const changePair = (pair: string) => {
    const equals = pair.indexOf("=");
    return equals === -1 ? changed(pair) : `${changed(pair.slice(0, equals))}=${changed(pair.slice(equals + 1))}`;
  };
  const changePairs = (pairs: string) => pairs.split("&").map(changePair).join("&");
  // An unencoded reference may have characters such as `&`, `/` or `?`, at which the text is split.
  const encoded = text.replaceAll(REFERENCE, (reference) => encodeURIComponent(reference));
  const mark = encoded.indexOf("?");
  if (notation === "form") return changePairs(encoded);
  const changePath = (path: string) => path.split("/").map(changed).join("/");
  return mark === -1 ? changePath(encoded) : `${changePath(encoded.slice(0, mark))}?${changePairs(encoded.slice(mark + 1))}`;
}

function changeStrings(text: string, change: (decodedText: string) => string): string {
  let changed = "";
  let end = 0;
  for (let start = text.indexOf('"'); start !== -1; start = text.indexOf('"', end)) {
    const close = endOfString(text, start) + 1;
    const value = stringOf(text.slice(start, close));
    const result = value === undefined ? undefined : change(value);
    changed += text.slice(end, start) + (result === undefined || result === value ? text.slice(start, close) : JSON.stringify(result));
    end = close;
  }
  return changed + text.slice(end);
}

function stringOf(json: string): string | undefined {
  try {
    return JSON.parse(json) as string;
  } catch {
    return undefined;
  }
}

/**
 * One step of a JSONPath, such as `.a` or `[0]`. Batches support this subset of JSONPath: `$.a.b`, `$.a[0]`, `$.a.*.b`, `$.a[*]`, `$['a']`, `$..a`.
 */
const STEP = /\.\.([\w-]+)|\.([\w-]+)|\.\*|\[(\d+)\]|\[\*\]|\['([^']*)'\]/y;
/** The greatest number of steps in a JSONPath. No response is nested more deeply than such a path can reach. */
const STEPS_MAX = 32;

interface Step {
  /** The key of the child that the JSONPath step selects. Undefined if the JSONPath step selects every child. */
  readonly key: string | undefined;
  /** Whether the JSONPath step finds the child at any depth (`..`). */
  readonly isAnywhere: boolean;
}

/** Reads a JSONPath. Throws `invalidParameter` if the JSONPath is malformed. */
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

/**
 * The values that a JSONPath finds in a document. Calls `visit` for every value of the document that the search looks at. `visit` may throw to limit
 * the work, because `$..a..a` finds nested values many times.
 */
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
