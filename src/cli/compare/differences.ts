/** Finds the differences between two responses to the same request. */
import { jsonOf } from "#conformance/http/response";
import type { WireResponse } from "#conformance/http/wire";
import { formText, type OperationForm } from "./operations.ts";
import { type Rule, ruleFor } from "./rules.ts";

export interface Difference {
  readonly operation: string;
  /** The method, path and query of the request, without secrets. */
  readonly request: string;
  /** The path of the differing value in the response, e.g. `body.data.0.name`. */
  readonly path: string;
  readonly first: string;
  readonly second: string;
}

export interface Compared {
  readonly form: OperationForm;
  readonly request: string;
  readonly first: WireResponse;
  readonly second: WireResponse;
}

/** The compared headers. All other headers depend on the connection, a cache or the server's program, not on the interface. */
const HEADERS = ["content-type", "www-authenticate", "x-ad-api-version-warning", "deprecation", "retry-after", "allow"];
/** The number of characters after which a value is cut in the report. */
const CHARACTERS_MAX = 200;

/** The ids and addresses that differ between the two servers although they mean the same node or server. */
export interface Translation {
  /** Maps the ids of the second server to the ids of the first server. For each node that the requests create, an id is added to the map. */
  readonly ids: Map<string, string>;
  /** The addresses of the second server and of its webhook receiver, each with the corresponding address on the first server. */
  readonly addresses: (readonly [own: string, first: string])[];
}

export function differencesOf({ form, request, first, second }: Compared, rules: readonly Rule[], { ids, addresses }: Translation): Difference[] {
  const found: Difference[] = [];
  const compare = (path: readonly string[], one: unknown, other: unknown): void => {
    const rule = ruleFor(rules, form, path);
    if (rule?.may_differ === "anything" || (rule?.may_differ === "value" && (one === undefined) === (other === undefined))) return;
    const keys = keysOf(one, other);
    if (keys !== undefined) {
      for (const key of keys) compare([...path, key], (one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]);
    } else if (JSON.stringify(one) !== JSON.stringify(other)) {
      found.push({ operation: formText(form), request, path: path.join("."), first: shown(one), second: shown(other) });
    }
  };
  compare(["status"], first.status, second.status);
  for (const name of HEADERS) compare(["header", name], first.headers.get(name), second.headers.get(name));
  const text = addresses.reduce((replaced, [own, other]) => replaced.replaceAll(own, other), second.text);
  compare(["body"], bodyOf(first.text), translated(bodyOf(text), ids));
  return found;
}

/**
 * Returns the keys of two objects or two lists, so that the caller compares them key by key. An item that only one of the two
 * lists has counts as a difference.
 */
function keysOf(one: unknown, other: unknown): string[] | undefined {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return undefined;
  if (Array.isArray(one) !== Array.isArray(other)) return undefined;
  return [...new Set([...Object.keys(one), ...Object.keys(other)])];
}

/** Parses the body of a response. In the response to a batch, the body of each request is parsed as well. */
export function bodyOf(text: string): unknown {
  if (text === "") return undefined;
  const json = jsonOf(text);
  const isBatch = Array.isArray(json) && json.every((one: unknown) => one === null || (typeof one === "object" && one !== null && "body" in one));
  return isBatch ? json.map((one) => one && { ...one, body: bodyOf(String(one.body)) }) : (json ?? text);
}

function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > CHARACTERS_MAX ? `${text.slice(0, CHARACTERS_MAX)}…` : text;
}

function translated(value: unknown, ids: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return translatedText(value, ids);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => translated(item, ids));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [translatedText(key, ids), translated(inner, ids)]));
}

/** Replaces each number in the text that is an id of the second server. */
export const translatedText = (text: string, ids: ReadonlyMap<string, string>): string =>
  ids.size === 0 ? text : text.replace(/\d+/g, (digits) => ids.get(digits) ?? digits);

/** Pairs the ids in the responses of two servers to the same creation. Afterwards, `ids` maps each id in `known` to the id in `own`. */
export function learnIds(method: string, known: unknown, own: unknown, ids: Map<string, string>): void {
  if (method !== "POST") return;
  const keys = keysOf(known, own) ?? [];
  for (const key of keys) {
    const [one, other] = [(known as Record<string, unknown>)[key], (own as Record<string, unknown>)[key]];
    if (isId(one) && isId(other) && (key === "id" || key.endsWith("_id"))) ids.set(one, other);
    else learnIds(method, one, other, ids);
  }
}

/** Pairs the cursors in the responses of two servers to the same list request, because a cursor is valid only on the server that made it. */
export function learnCursors(known: unknown, own: unknown, cursors: Map<string, string>): void {
  for (const key of keysOf(known, own) ?? []) {
    const [one, other] = [(known as Record<string, unknown>)[key], (own as Record<string, unknown>)[key]];
    if (typeof one === "string" && typeof other === "string" && (key === "after" || key === "before")) cursors.set(one, other);
    else learnCursors(one, other, cursors);
  }
}

const isId = (value: unknown): value is string => typeof value === "string" && /^[1-9]\d{0,18}$/.test(value);
