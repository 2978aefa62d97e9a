/** Removes the secrets of a recorded request with the redaction that logs also use, and inserts secrets when the request is sent again. */
import { HIDDEN, isSecretName, redact } from "#kernel/redaction/redaction";
import type { SecretPlace } from "./har.ts";
import { changeParts, isMultipart } from "./multipart.ts";

type Pairs = readonly (readonly [string, string])[];

export interface Sent {
  readonly target: string;
  readonly headers: Pairs;
  /** The body of the request; if the body is multipart, each character stands for one byte. */
  readonly body: string;
}

/** Matches headers whose values give access to data. */
const SECRET_HEADER = /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key)$/i;

/**
 * Names of secrets that logs do not hide, but recordings do. Logs show the values with these names, because the names are common words and logs
 * without such values would say too little.
 */
const FURTHER_NAME = /^(?:code|pin|otp|api[_-]?key|signed_request|session_?key|pass(?:wd|phrase)?|pwd|assertion)$/i;

const isSecret = (name: string): boolean => isSecretName(name) || FURTHER_NAME.test(name);

const isSecretHeader = (name: string): boolean => SECRET_HEADER.test(name) || isSecret(name);

/** Matches the scheme before a token in a header. */
const SCHEME = /^(?:Bearer|OAuth|Token) /i;

/** Only secrets of at least this length are also removed from other texts, because a shorter value may be in any text by chance. */
const KNOWN_CHARACTERS_MIN = 8;
/**
 * The greatest depth of encoded texts in texts. A batch request is a form with JSON that contains forms; no request nests
 * encoded texts deeper than this limit.
 */
const DEPTH_MAX = 8;

/** Numbers the secrets in the order of the requests. Equal secrets get the same name in a recording. */
export class SecretNames {
  readonly #names = new Map<string, string>();
  readonly #known = new Set<string>();

  of(value: string): string {
    const name = this.#names.get(value) ?? `secret-${this.#names.size + 1}`;
    this.#names.set(value, name);
    if (value.length >= KNOWN_CHARACTERS_MIN) for (const form of [value, encodeURIComponent(value.toWellFormed())]) this.#known.add(form);
    return name;
  }

  /** Removes all secrets found so far from a text, such as a path, a message that repeats the request, or another field. */
  readonly hide = (text: string): string => [...this.#known].reduce((hidden, value) => hidden.replaceAll(value, HIDDEN), text);
}

/** Returns the new value of the secret with this name, or undefined to leave the value unchanged. */
type Change = (name: string, value: string) => string | undefined;

/**
 * Finds the secrets of a request: first in the query, then in the headers, and then in named fields of the body, even if
 * a field contains encoded text.
 */
export function secretPlaces(sent: Sent, names: SecretNames): SecretPlace[] {
  const places: SecretPlace[] = [];
  const noteIn =
    (where: SecretPlace["in"]): Change =>
    (name, value) => {
      places.push({ in: where, name, secret: names.of(value) });
      return undefined;
    };
  changeText(queryOf(sent.target), noteIn("query"));
  for (const [name, value] of sent.headers) if (isSecretHeader(name)) noteIn("header")(name, value.replace(SCHEME, ""));
  changeBody(sent, noteIn("body"));
  return places;
}

const queryOf = (target: string): string => (target.includes("?") ? target.slice(target.indexOf("?") + 1) : "");

function changeBody({ body, headers }: Sent, change: Change): string {
  if (!isMultipart(headers)) return changeText(body, change);
  const changed = (name: string, text: string) => (isSecret(name) && text !== "" ? (change(name, text) ?? text) : changeText(text, change));
  return changeParts(body, headers, changed) ?? body;
}

/** Changes the secrets in `text`, which is a form, an address with a query, or JSON. A text without a secret is returned unchanged. */
function changeText(text: string, change: Change, depth = 0): string {
  if (depth > DEPTH_MAX) return text;
  if (/^\s*[{[]/.test(text)) return changeJson(text, change, depth);
  if (!text.includes("=")) return text;
  const query = /^[^=&]*\?/.exec(text)?.[0].length ?? 0;
  const pairs = text.slice(query).split("&");
  return text.slice(0, query) + pairs.map((pair) => changePair(pair, change, depth)).join("&");
}

function changePair(pair: string, change: Change, depth: number): string {
  const [[name, value] = ["", ""]] = new URLSearchParams(pair);
  if (value === "") return pair;
  const changed = isSecret(name) ? (change(name, value) ?? value) : changeText(value, change, depth + 1);
  return changed === value ? pair : `${encodeURIComponent(name)}=${encodeURIComponent(changed)}`;
}

function changeJson(text: string, change: Change, depth: number): string {
  let isChanged = false;
  const changed = (name: string, value: string): string => {
    const other = isSecret(name) && value !== "" ? (change(name, value) ?? value) : changeText(value, change, depth + 1);
    isChanged ||= other !== value;
    return other;
  };
  try {
    // In a list, the name of an item is its index, and an index is never the name of a secret.
    const json = JSON.parse(text, (name, value: unknown) => (typeof value === "string" ? changed(name, value) : value));
    return isChanged ? JSON.stringify(json) : text;
  } catch {
    return text;
  }
}

const asItIs = (text: string): string => text;
const withoutFurther: Change = (name) => (FURTHER_NAME.test(name) ? HIDDEN : undefined);
const hidden = (text: string): string => redact(changeText(text, withoutFurther));

/** Removes the secrets from a request. The function `hide` removes the secrets that were found so far from all other texts. */
export const withoutSecrets = ({ target, headers, body }: Sent, hide = asItIs): Sent => {
  const [path = "", ...rest] = target.split("?");
  return {
    target: hide(rest.length === 0 ? redact(path) : `${redact(path)}?${hidden(rest.join("?"))}`),
    headers: headersWithoutSecrets(headers, hide),
    body: isMultipart(headers) ? partsWithoutSecrets(body, headers, hide) : hide(hidden(body)),
  };
};

/** Removes the secrets from a multipart body. A multipart body that cannot be parsed is left out. */
const partsWithoutSecrets = (body: string, headers: Pairs, hide: (text: string) => string): string =>
  changeParts(body, headers, (name, text) => (isSecret(name) && text !== "" ? HIDDEN : hide(hidden(text)))) ?? HIDDEN;

export const headersWithoutSecrets = (headers: Pairs, hide = asItIs): Pairs =>
  headers.map(([name, value]) => [name, isSecretHeader(name) ? `${SCHEME.exec(value)?.[0] ?? ""}${HIDDEN}` : hide(hidden(value))]);

/**
 * Inserts secrets into a request. `valueFor` returns a secret's value on the server that gets the request; with undefined the field stays unchanged.
 */
export function withSecrets(sent: Sent, places: readonly SecretPlace[], valueFor: (secret: string) => string | undefined): Sent {
  const left = [...places];
  // A request may have several secrets with the same name. The values are inserted in the order in which the secrets were recorded.
  const valueIn =
    (where: SecretPlace["in"]): Change =>
    (name, value) => {
      const at = left.findIndex((one) => one.in === where && one.name === name);
      const [place] = at === -1 ? [] : left.splice(at, 1);
      return place === undefined || value !== HIDDEN ? undefined : valueFor(place.secret);
    };
  const [path = "", query] = [sent.target.split("?", 1)[0], queryOf(sent.target)];
  return {
    target: query === "" ? path : `${path}?${changeText(query, valueIn("query"))}`,
    headers: sent.headers.map(([name, value]) =>
      isSecretHeader(name) ? [name, value.replace(HIDDEN, () => valueIn("header")(name, HIDDEN) ?? HIDDEN)] : [name, value],
    ),
    body: changeBody(sent, valueIn("body")),
  };
}
