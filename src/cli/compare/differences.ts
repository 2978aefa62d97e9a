/** Finds the differences between two responses to the same request. */
import { jsonOf } from "#conformance/http/response";
import type { WireResponse } from "#conformance/http/wire";
import { formText, type OperationForm } from "./operations.ts";
import { type Rule, ruleFor } from "./rules.ts";

export interface Difference {
  readonly operation: string;
  /** The method, path and query of the request, without secrets. */
  readonly request: string;
  /** The place of the difference, e.g. `body.data.0.name`. */
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

/** The headers that belong to the interface; all other headers belong to a connection, a cache or a program. */
const HEADERS = ["content-type", "www-authenticate", "x-ad-api-version-warning", "deprecation", "retry-after", "allow"];
/** The length after which a value in a report is cut. */
const CHARACTERS_MAX = 200;

/** The values that are different on the second server although they mean the same. */
export interface Translation {
  /** The ids of the first server by the ids of the second. The number of ids grows by one for each created node. */
  readonly ids: Map<string, string>;
  /** The addresses of the second server and of its receiver, each with the address on the first server. */
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

/** The keys of two objects or two lists, which are compared key by key; an item that only one list has is a difference. */
function keysOf(one: unknown, other: unknown): string[] | undefined {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return undefined;
  if (Array.isArray(one) !== Array.isArray(other)) return undefined;
  return [...new Set([...Object.keys(one), ...Object.keys(other)])];
}

/** The body of a response; in a batch, the bodies of its parts are read from their texts as well. */
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

/** Replaces each number of the text that is an id of the other server. */
export const translatedText = (text: string, ids: ReadonlyMap<string, string>): string =>
  ids.size === 0 ? text : text.replace(/\d+/g, (digits) => ids.get(digits) ?? digits);

/** Pairs the ids in two responses to the same creation: in `ids`, the ids of `known` become keys, with those of `own` as values. */
export function learnIds(method: string, known: unknown, own: unknown, ids: Map<string, string>): void {
  if (method !== "POST") return;
  const keys = keysOf(known, own) ?? [];
  for (const key of keys) {
    const [one, other] = [(known as Record<string, unknown>)[key], (own as Record<string, unknown>)[key]];
    if (isId(one) && isId(other) && (key === "id" || key.endsWith("_id"))) ids.set(one, other);
    else learnIds(method, one, other, ids);
  }
}

/** Pairs the cursors of the same list in two responses, because a cursor is valid only on the server that made it. */
export function learnCursors(known: unknown, own: unknown, cursors: Map<string, string>): void {
  for (const key of keysOf(known, own) ?? []) {
    const [one, other] = [(known as Record<string, unknown>)[key], (own as Record<string, unknown>)[key]];
    if (typeof one === "string" && typeof other === "string" && (key === "after" || key === "before")) cursors.set(one, other);
    else learnCursors(one, other, cursors);
  }
}

const isId = (value: unknown): value is string => typeof value === "string" && /^[1-9]\d{0,18}$/.test(value);
