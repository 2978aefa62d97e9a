/** Secrets of an exchange: taken out of a recording by the redaction that the logs use, and put in again where it is replayed. */
import { HIDDEN, isSecretName, redact } from "#kernel/redaction/redaction";
import type { SecretPlace } from "./har.ts";
import { changeParts, isMultipart } from "./multipart.ts";

type Pairs = readonly (readonly [string, string])[];

export interface Sent {
  readonly target: string;
  readonly headers: Pairs;
  /** Of multipart each character is a byte. */
  readonly body: string;
}

/** Headers whose values give access. */
const SECRET_HEADER = /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key)$/i;

/** Beside the names that logs hide: of other servers, and so common that a log without their values would say too little. */
const FURTHER_NAME = /^(?:code|pin|otp|api[_-]?key|signed_request|session_?key|pass(?:wd|phrase)?|pwd|assertion)$/i;

const isSecret = (name: string): boolean => isSecretName(name) || FURTHER_NAME.test(name);

const isSecretHeader = (name: string): boolean => SECRET_HEADER.test(name) || isSecret(name);

/** What stands before a token. */
const SCHEME = /^(?:Bearer|OAuth|Token) /i;

/** A shorter value may stand in any text by chance. */
const KNOWN_CHARACTERS_MIN = 8;
/** A form in JSON in a form, as batches have them; nobody nests requests deeper. */
const DEPTH_MAX = 8;

/** Names secrets by the order in which they come, so that a recording says which are the same. */
export class SecretNames {
  readonly #names = new Map<string, string>();
  readonly #known = new Set<string>();

  of(value: string): string {
    const name = this.#names.get(value) ?? `secret-${this.#names.size + 1}`;
    this.#names.set(value, name);
    if (value.length >= KNOWN_CHARACTERS_MIN) for (const form of [value, encodeURIComponent(value.toWellFormed())]) this.#known.add(form);
    return name;
  }

  /** Without the values that came before, wherever they stand: in a path, in a message that repeats what was sent, in a field of another name. */
  readonly hide = (text: string): string => [...this.#known].reduce((hidden, value) => hidden.replaceAll(value, HIDDEN), text);
}

/** What a secret is to be, by its name; undefined leaves it as it is. */
type Change = (name: string, value: string) => string | undefined;

/** The places of secrets in a request, in their order: in the query, in headers, and by name in a form, JSON or a part, also in texts inside. */
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

/** A form, an address with one, or JSON. What nothing is changed in stays byte for byte. */
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
    // An item of a list has its number as its name, which is no secret's.
    const json = JSON.parse(text, (name, value: unknown) => (typeof value === "string" ? changed(name, value) : value));
    return isChanged ? JSON.stringify(json) : text;
  } catch {
    return text;
  }
}

const asItIs = (text: string): string => text;
const withoutFurther: Change = (name) => (FURTHER_NAME.test(name) ? HIDDEN : undefined);
const hidden = (text: string): string => redact(changeText(text, withoutFurther));

/** `hide` takes out what has no name that says so. */
export const withoutSecrets = ({ target, headers, body }: Sent, hide = asItIs): Sent => {
  const [path = "", ...rest] = target.split("?");
  return {
    target: hide(rest.length === 0 ? redact(path) : `${redact(path)}?${hidden(rest.join("?"))}`),
    headers: headersWithoutSecrets(headers, hide),
    body: isMultipart(headers) ? partsWithoutSecrets(body, headers, hide) : hide(hidden(body)),
  };
};

/** Nothing is kept of a body that nobody can take apart. */
const partsWithoutSecrets = (body: string, headers: Pairs, hide: (text: string) => string): string =>
  changeParts(body, headers, (name, text) => (isSecret(name) && text !== "" ? HIDDEN : hide(hidden(text)))) ?? HIDDEN;

export const headersWithoutSecrets = (headers: Pairs, hide = asItIs): Pairs =>
  headers.map(([name, value]) => [name, isSecretHeader(name) ? `${SCHEME.exec(value)?.[0] ?? ""}${HIDDEN}` : hide(hidden(value))]);

/** `valueFor` says what a secret of the recording is on the server that is asked. Undefined: its place stays as it is. */
export function withSecrets(sent: Sent, places: readonly SecretPlace[], valueFor: (secret: string) => string | undefined): Sent {
  const left = [...places];
  // They come in the order in which they were noted.
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
