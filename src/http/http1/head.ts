/** The head of a request (RFC 9112, 2 to 7), read strictly: what two readers could take for different things is refused. */
import type { RawHeaders, Target } from "../arrived.ts";
import type { ParsedPairs } from "../body/pairs.ts";

export interface RequestHead {
  readonly method: string;
  readonly target: string;
  readonly raw: RawHeaders;
  /** How its body ends: after so many bytes (0: there is none), or with the last chunk. */
  readonly framing: number | "chunked";
  /** The caller wants to use the connection again. */
  readonly isKept: boolean;
  /** Knows neither chunks nor that connections are kept. */
  readonly isHttp10: boolean;
  /** What the target says, once somebody has read it: many requests have the same head. */
  asked: { readonly target: Target; readonly query: ParsedPairs } | undefined;
}

/** What is wrong with it, as a clause of a sentence. */
export type HeadProblem = string;

/** 15 digits are exact in a binary float, and more than any disk holds. */
const LENGTH = /^\d{1,15}$/;
/** Registered methods have at most 17 characters. */
const METHOD = /^[A-Z][A-Z-]{0,31} /;
const REQUEST_LINE = /^[A-Z-]+ [\x21-\x7e]+ HTTP\/1\.[01](?:\r\n|$)/;
/** No blank before a colon, no folded lines, no line that ends without a carriage return. Linear: no character fits in two ways. */
const WHOLE = /^[A-Z-]+ [\x21-\x7e]+ HTTP\/1\.[01](?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*)*$/;

/** Characters of a head that is remembered; thousands of connections may be open. */
const KNOWN_MAX = 1_024;

/** The heads of one connection. Who keeps it mostly sends the same one again: it is compared, and not read anew. */
export class HeadReader {
  #knownText = "";
  #known: RequestHead | undefined;

  /** `text` is Latin-1 and ends before the empty line. */
  read(text: string): RequestHead | HeadProblem {
    if (this.#known !== undefined && text === this.#knownText) return this.#known;
    const head = parseHead(text);
    if (typeof head !== "string" && text.length <= KNOWN_MAX) {
      this.#knownText = text;
      this.#known = head;
    }
    return head;
  }
}

function parseHead(text: string): RequestHead | HeadProblem {
  if (!WHOLE.test(text)) return problemOf(text);
  const methodEnd = text.indexOf(" ");
  if (methodEnd > 32) return problemOf(text);
  const targetEnd = text.indexOf(" ", methodEnd + 1);
  // ` HTTP/1.` and the digit.
  const lineEnd = targetEnd + 9;
  const isHttp10 = text.charCodeAt(lineEnd - 1) === 48;
  const raw: string[] = [];
  let connection: string | undefined;
  let length: string | undefined;
  let coding: string | undefined;
  let hosts = 0;
  for (let at = lineEnd + 2; at < text.length; ) {
    const end = endOfLine(text, at);
    const colon = text.indexOf(":", at);
    const name = text.slice(at, colon);
    const value = trimmed(text, colon + 1, end);
    raw.push(name, value);
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
    else if (name.length === 10 && name.toLowerCase() === "connection") connection = joined(connection, value);
    else if (name.length === 14 && name.toLowerCase() === "content-length") length = joined(length, value);
    else if (name.length === 17 && name.toLowerCase() === "transfer-encoding") coding = joined(coding, value);
    at = end + 2;
  }
  // RFC 9112, 3.2: where a proxy before us read another host than we do, it let a request through that was not meant.
  if (hosts > 1) return "it names several hosts";
  const framing = framingOf(length, coding, isHttp10);
  if (framing === undefined) return "it does not say clearly where its body ends";
  const isKept = connection === undefined ? !isHttp10 : isKeptBy(connection, isHttp10);
  return { method: text.slice(0, methodEnd), target: text.slice(methodEnd + 1, targetEnd), raw, framing, isKept, isHttp10, asked: undefined };
}

function problemOf(text: string): HeadProblem {
  if (!METHOD.test(text)) return "it does not begin with a method in upper case";
  return REQUEST_LINE.test(text) ? "its headers are malformed" : "its first line is malformed";
}

/**
 * Undefined where it is unclear, which is how requests are smuggled past a proxy: a length beside chunks, a length given
 * twice or not in plain digits, another coding than chunks, chunks from a caller that cannot know them.
 */
function framingOf(length: string | undefined, coding: string | undefined, isHttp10: boolean): RequestHead["framing"] | undefined {
  if (coding !== undefined) return length === undefined && !isHttp10 && coding.toLowerCase() === "chunked" ? "chunked" : undefined;
  if (length === undefined) return 0;
  return LENGTH.test(length) ? Number(length) : undefined;
}

function isKeptBy(connection: string, isHttp10: boolean): boolean {
  const words = connection
    .toLowerCase()
    .split(",")
    .map((word) => word.trim());
  return !words.includes("close") && (!isHttp10 || words.includes("keep-alive"));
}

const joined = (known: string | undefined, value: string): string => (known === undefined ? value : `${known}, ${value}`);

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\r\n", from);
  return end === -1 ? text.length : end;
}

const isBlank = (unit: number): boolean => unit === 32 || unit === 9;

function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** A control character, or half of a line break: no head ever has these, however it goes on. */
const NEVER = /[^\t\r\n\x20-\x7e\x80-\xff]|[^\r]\n|\r[^\n]/;

/** Whether a head that is not complete can still become one; `text` begins with the last character that was asked about. */
export const isHopeless = (text: string): boolean => NEVER.test(text);
