/** Reads the requests of a HAR file of `plaza record`, a browser or a proxy. The reader refuses a request that cannot be sent as it was recorded. */

import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { parseMediaType } from "#kernel/http-text/multipart";
import { HIDDEN } from "#kernel/redaction/redaction";
import type { SecretPlace } from "./har.ts";
import { isMultipart, typeOf } from "./multipart.ts";

/** A request of the recording, with the part of its response that a comparison uses. */
export interface RecordedRequest {
  readonly method: string;
  /** The URL without its fragment, which is not sent. */
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  /** The status of the recorded response; undefined if there was no response. */
  readonly status: number | undefined;
  readonly responseText: string;
  readonly secrets: readonly SecretPlace[];
}

export interface Recording {
  readonly requests: readonly RecordedRequest[];
  /** The address of the server to which the recorded requests were sent. */
  readonly base: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** The error for a problem with one entry of the HAR file. */
class HarProblem extends Error {}

/**
 * Reads a recording. Only requests to the server at `base` are read; without `base`, the server is the one that `plaza record` wrote into the
 * file, or the server of the first entry. Throws an error with a message for the user.
 */
export function readHar(path: string, base?: string): Recording {
  const problem = (text: string) => new Error(`${path} ${text}`);
  let log: Fields;
  try {
    // The byte order mark is removed, because some programs write it at the beginning of their files.
    log = fieldsOf(fieldsOf(JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, ""))).log);
  } catch (error) {
    throw problem(`cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  const entries = Array.isArray(log.entries) ? log.entries : [];
  if (entries.length === 0) throw problem("is not a HAR file, or contains no request");
  const requests = entries.map((entry: unknown, at) => {
    try {
      return requestOf(fieldsOf(entry));
    } catch (error) {
      throw error instanceof HarProblem ? problem(`cannot be used: log.entries[${at}]${error.message}`) : error;
    }
  });
  const upstream = typeof log._upstream === "string" ? log._upstream : undefined;
  const own = base ?? upstream ?? new URL((requests[0] as RecordedRequest).url).origin;
  if (!requests.some(({ url }) => isBelow(url, own))) {
    const origins = new Set(requests.map(({ url }) => new URL(url).origin));
    throw problem(`contains no request to ${own}, only requests to ${[...origins].join(", ")}: choose one with --recorded-url`);
  }
  return { requests, base: own };
}

/** Whether a URL is below a base address. For example, `http://localhost:40001` is not below `http://localhost:4000`. */
export function isBelow(url: string, base: string): boolean {
  const address = base.replace(/\/$/, "");
  return url.startsWith(address) && /^([/?]|$)/.test(url.slice(address.length));
}

/** Returns the secrets that were removed from the recording and have no value in `given`, each with one request field that contained it. */
export function missingSecrets({ requests }: Recording, given: ReadonlyMap<string, string>): SecretPlace[] {
  const found = new Map<string, SecretPlace>();
  for (const place of requests.flatMap(({ secrets }) => secrets)) if (!found.has(place.secret)) found.set(place.secret, place);
  return [...found.values()].filter(({ secret }) => !given.has(secret));
}

/** Returns an object's fields. For an empty object, some programs write null or nothing. */
const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : []);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Matches the name of a method or a header (RFC 9110, 5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** The lowest HTTP status. HAR files have the status 0 for a request without a response. */
const STATUS_MIN = 100;

function requestOf({ request: given, response: answered, _secrets }: Fields): RecordedRequest {
  const [request, response] = [fieldsOf(given), fieldsOf(answered)];
  const { method, url } = request;
  if (typeof method !== "string" || !TOKEN.test(method)) throw new HarProblem(".request has no valid method");
  if (typeof url !== "string" || !URL.canParse(url)) throw new HarProblem(".request has no valid url");
  const recorded = listOf(request.headers).map(headerOf);
  const body = bodyOf(fieldsOf(request.postData), recorded);
  // Proxies record a compressed request body as its uncompressed text, so the header with the encoding is left out. A recorded body that is
  // valid UTF-8 is not compressed.
  const headers = isUtf8(body) ? recorded.filter(([name]) => name.toLowerCase() !== "content-encoding") : recorded;
  const status = Number(response.status);
  return {
    ...{ method, url: sentAddress(url), headers, body },
    status: Number.isInteger(status) && status >= STATUS_MIN ? status : undefined,
    responseText: responseTextOf(fieldsOf(response.content)),
    secrets: listOf(_secrets).filter(isSecretPlace),
  };
}

const responseTextOf = ({ text, encoding }: Fields): string =>
  encoding === "base64" ? Buffer.from(textOf(text), "base64").toString() : textOf(text);

/** Checks the form of an entry in the field `_secrets`, because another program may write a field of that name with other data. */
const isSecretPlace = (place: Fields): place is Fields & SecretPlace => ["in", "name", "secret"].every((name) => typeof place[name] === "string");

/** Returns the address to send: characters that an address cannot contain are percent-encoded, as browsers do it. */
const sentAddress = (url: string): string => (url.split("#")[0] as string).toWellFormed().replace(/[^\x21-\x7e]/gu, encodeURIComponent);

function headerOf({ name, value }: Fields, at: number): readonly [string, string] {
  const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
  // A name that begins with a colon is a pseudo-header of HTTP/2, which is not sent. If a header contains a secret that the recording hides, the
  // secret is inserted before the header is sent.
  const isName = typeof name === "string" && TOKEN.test(name.replace(/^:/, ""));
  if (!isName || typeof text !== "string" || !/^[\t\x20-\x7e\x80-\xff]*$/.test(text.replaceAll(HIDDEN, "")))
    throw new HarProblem(`.request.headers[${at}] cannot be sent: ${JSON.stringify({ name, value })?.slice(0, 200)}`);
  return [name, text];
}

const BASE64 = /^[A-Za-z0-9+/\r\n]*={0,2}$/;

/**
 * Decodes a body. Browsers and proxies write the encoding of a body into the field `encoding`, and `plaza record` writes
 * the encoding into `_encoding`.
 */
function decoded({ text, encoding, _encoding }: Fields): Buffer {
  const given = textOf(encoding) || textOf(_encoding);
  if (textOf(text) === HIDDEN)
    throw new HarProblem(".request.postData has no body: plaza record does not record bytes that are neither text nor multipart");
  if (given === "" || /^utf-?8$/i.test(given)) return Buffer.from(textOf(text));
  if (given !== "base64" || !BASE64.test(textOf(text)))
    throw new HarProblem(`.request.postData cannot be decoded with the encoding ${JSON.stringify(given)}`);
  return Buffer.from(textOf(text), "base64");
}

/** Returns the body of a request. Programs that parse forms write the form fields into `params`; the field `text` is then empty or missing. */
function bodyOf(post: Fields, headers: RecordedRequest["headers"]): Buffer {
  const params = listOf(post.params);
  if (textOf(post.text) !== "" || params.length === 0) return decoded(post);
  const type = typeOf(headers) || textOf(post.mimeType);
  if (isMultipart([["content-type", type]])) return multipartOf(params, parseMediaType(type).parameters.get("boundary") ?? "");
  if (!/^application\/x-www-form-urlencoded\b/i.test(type))
    throw new HarProblem(`.request.postData has params but no text; a body can be made from params only for a form, not for ${JSON.stringify(type)}`);
  return Buffer.from(String(new URLSearchParams(params.map(({ name, value }): [string, string] => [textOf(name), textOf(value)]))));
}

/** Escapes the characters that would end a quoted name (RFC 7578, 2). */
const quoted = (text: string): string => text.replace(/[\r\n"]/g, encodeURIComponent);

function multipartOf(params: readonly Fields[], boundary: string): Buffer {
  if (boundary === "") throw new HarProblem(".request.postData has params for multipart/form-data, but the content type has no boundary");
  const parts = params.map(({ name, value, fileName, contentType }) => {
    if (typeof fileName === "string" && typeof value !== "string")
      throw new HarProblem(`.request.postData has the file ${JSON.stringify(fileName)} without its content`);
    const file = typeof fileName === "string" ? `; filename="${quoted(fileName)}"` : "";
    const type = typeof contentType === "string" ? `\r\nContent-Type: ${contentType.replace(/[\r\n]/g, " ")}` : "";
    return `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(textOf(name))}"${file}${type}\r\n\r\n${textOf(value)}\r\n`;
  });
  return Buffer.from(`${parts.join("")}--${boundary}--\r\n`);
}

/** The encoding that converts a body to text without losing a byte: one character for each byte if the body is multipart or is not UTF-8. */
export const encodingOf = ({ body, headers }: Pick<RecordedRequest, "body" | "headers">): "latin1" | "utf8" =>
  isMultipart(headers) || !isUtf8(body) ? "latin1" : "utf8";
