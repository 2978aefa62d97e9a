/** Secrets of an exchange: taken out of a recording by the redaction that the logs use, and put in again where it is replayed. */
import { HIDDEN, isSecretName, redact } from "#kernel/redaction/redaction";
import type { SecretPlace } from "./har.ts";
import { boundaryOf, changeParts, isMultipart } from "./multipart.ts";

type Pairs = readonly (readonly [string, string])[];

export interface Sent {
  readonly target: string;
  readonly headers: Pairs;
  /** Of multipart each character is a byte. */
  readonly body: string;
}

/** Headers whose values give access. */
const SECRET_HEADER = /^(authorization|proxy-authorization|cookie|set-cookie|x-api-key)$/i;

const isSecretHeader = (name: string): boolean => SECRET_HEADER.test(name) || isSecretName(name);

/** Names secrets by the order in which they come, so that a recording says which are the same. */
export class SecretNames {
  readonly #names = new Map<string, string>();

  of(value: string): string {
    const name = this.#names.get(value) ?? `secret-${this.#names.size + 1}`;
    this.#names.set(value, name);
    return name;
  }
}

/** The places of secrets in a request: in the query, in headers, and by name in a form, a part or at the top of a JSON body. */
export function secretPlaces({ target, headers, body }: Sent, names: SecretNames): SecretPlace[] {
  const named = (where: SecretPlace["in"], pairs: Pairs): SecretPlace[] =>
    pairs.filter(([name, value]) => isSecretName(name) && value !== "").map(([name, value]) => ({ in: where, name, secret: names.of(value) }));
  const bearers = headers
    .filter(([name]) => isSecretHeader(name))
    .map(([name, value]): SecretPlace => ({ in: "header", name, secret: names.of(bare(value)) }));
  return [...named("query", pairsOf(queryOf(target))), ...bearers, ...named("body", bodyPairs(body, headers))];
}

/** What follows `Bearer`. */
const bare = (value: string): string => value.replace(/^Bearer /i, "");
const queryOf = (target: string): string => (target.includes("?") ? target.slice(target.indexOf("?") + 1) : "");
const pairsOf = (text: string): [string, string][] => [...new URLSearchParams(text)];

function bodyPairs(body: string, headers: Pairs): [string, string][] {
  if (isMultipart(headers)) return partsOf(body, boundaryOf(headers));
  const json = objectOf(body);
  if (json !== undefined) return Object.entries(json).filter((pair): pair is [string, string] => typeof pair[1] === "string");
  return body.includes("=") ? pairsOf(body) : [];
}

function partsOf(body: string, boundary: string | undefined): [string, string][] {
  const pairs: [string, string][] = [];
  const note = (name: string, text: string): string => {
    pairs.push([name, text]);
    return text;
  };
  if (boundary !== undefined) changeParts(body, boundary, note);
  return pairs;
}

function objectOf(text: string): Record<string, unknown> | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

export const withoutSecrets = ({ target, headers, body }: Sent): Sent => {
  const [path = "", ...rest] = target.split("?");
  return {
    target: rest.length === 0 ? redact(path) : `${redact(path)}?${redact(rest.join("?"))}`,
    headers: headersWithoutSecrets(headers),
    body: isMultipart(headers) ? partsWithoutSecrets(body, boundaryOf(headers)) : redact(body),
  };
};

/** Nothing is kept of a body that nobody can take apart. */
const partsWithoutSecrets = (body: string, boundary: string | undefined): string =>
  boundary === undefined ? HIDDEN : changeParts(body, boundary, (name, text) => (isSecretName(name) && text !== "" ? HIDDEN : redact(text)));

export const headersWithoutSecrets = (headers: Pairs): Pairs =>
  headers.map(([name, value]) => [name, isSecretHeader(name) ? (/^Bearer /i.test(value) ? `Bearer ${HIDDEN}` : HIDDEN) : redact(value)]);

/** `valueFor` says what a secret of the recording is on the server that is asked. Undefined: its place stays as it is. */
export function withSecrets(sent: Sent, places: readonly SecretPlace[], valueFor: (secret: string) => string | undefined): Sent {
  const valueIn = (where: SecretPlace["in"], name: string): string | undefined => {
    const place = places.find((one) => one.in === where && one.name === name);
    return place === undefined ? undefined : valueFor(place.secret);
  };
  const [path = "", query] = [sent.target.split("?", 1)[0], queryOf(sent.target)];
  return {
    target: query === "" ? path : `${path}?${filledForm(query, (name) => valueIn("query", name))}`,
    headers: sent.headers.map(([name, value]) => [name, value.replace(HIDDEN, () => valueIn("header", name) ?? HIDDEN)]),
    body: filledBody(sent, (name) => valueIn("body", name)),
  };
}

/** The other pairs stay as they were written. */
const filledForm = (text: string, valueFor: (name: string) => string | undefined): string =>
  text
    .split("&")
    .map((pair) => {
      const [[name, value] = ["", ""]] = pairsOf(pair);
      const secret = value === HIDDEN ? valueFor(name) : undefined;
      return secret === undefined ? pair : `${encodeURIComponent(name)}=${encodeURIComponent(secret)}`;
    })
    .join("&");

function filledBody({ body, headers }: Sent, valueFor: (name: string) => string | undefined): string {
  const boundary = isMultipart(headers) ? boundaryOf(headers) : undefined;
  if (boundary !== undefined) return changeParts(body, boundary, (name, text) => (text === HIDDEN ? (valueFor(name) ?? text) : text));
  const json = objectOf(body);
  if (json === undefined) return body.includes("=") ? filledForm(body, valueFor) : body;
  const filled = Object.entries(json).map(([name, value]) => [name, value === HIDDEN ? (valueFor(name) ?? value) : value]);
  return JSON.stringify(Object.fromEntries(filled));
}
