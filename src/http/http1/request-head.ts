/** The head of a request (RFC 9112, 2 to 7), read strictly: what two readers could take for different things is refused. */
import type { RawHeaders } from "./headers.ts";
import { isHost } from "./host.ts";
import { malformed, type ProtocolProblem } from "./problem.ts";
import { parseTarget, type Target } from "./target.ts";

export interface RequestHead {
  readonly method: string;
  readonly target: Target;
  readonly headers: RawHeaders;
  /** Of an absolute target, else of the Host header. Undefined only where HTTP/1.0 sent none. */
  readonly host: string | undefined;
  /** How the body ends: after so many bytes (0: there is none), or with the last chunk. */
  readonly framing: number | "chunked";
  /** The client wants to use the connection again. */
  readonly isKept: boolean;
  /** The client knows neither chunks nor that connections are kept. */
  readonly isHttp10: boolean;
  /** The client waits for `100 Continue` before it sends its body. */
  readonly expectsContinue: boolean;
  /** Of path, query, header names and header values: all that a client chooses. */
  readonly byteCount: number;
}

/** 15 digits are exact in a binary float, and more than any disk holds. */
const LENGTH = /^\d{1,15}$/;
/** Registered methods have at most 17 characters. */
const METHOD = /^[A-Z][A-Z-]{0,31} /;
const METHOD_CHARACTERS_MAX = 32;
const REQUEST_LINE = /^[A-Z][A-Z-]* [\x21-\x7e]+ HTTP\/1\.[01](?:\r\n|$)/;
/** No blank before a colon, no folded lines, no line that ends without a carriage return. Linear: no character fits in two ways. */
const WHOLE = /^[A-Z][A-Z-]* [\x21-\x7e]+ HTTP\/1\.[01](?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*)*$/;

/** `text` is Latin-1 and ends before the empty line. */
export function parseHead(text: string): RequestHead | ProtocolProblem {
  if (!WHOLE.test(text)) return problemOf(text);
  const methodEnd = text.indexOf(" ");
  if (methodEnd > METHOD_CHARACTERS_MAX) return problemOf(text);
  const targetEnd = text.indexOf(" ", methodEnd + 1);
  // ` HTTP/1.` and the digit.
  const lineEnd = targetEnd + 9;
  const headers: string[] = [];
  for (let at = lineEnd + 2; at < text.length; ) {
    const end = endOfLine(text, at);
    const colon = text.indexOf(":", at);
    headers.push(text.slice(at, colon), trimmed(text, colon + 1, end));
    at = end + 2;
  }
  return checkedHead(text.slice(0, methodEnd), text.slice(methodEnd + 1, targetEnd), headers, text.charCodeAt(lineEnd - 1) === 48);
}

/** What the parts of a head say together. For a runtime that has taken the head apart already, too. */
export function checkedHead(method: string, targetText: string, headers: RawHeaders, isHttp10: boolean): RequestHead | ProtocolProblem {
  let connection: string | undefined;
  let length: string | undefined;
  let coding: string | undefined;
  let expect: string | undefined;
  let host: string | undefined;
  let byteCount = 0;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    byteCount += name.length + value.length;
    if (name.length === 4 && name.toLowerCase() === "host") host = joined(host, value);
    else if (name.length === 6 && name.toLowerCase() === "expect") expect = joined(expect, value);
    else if (name.length === 10 && name.toLowerCase() === "connection") connection = joined(connection, value);
    else if (name.length === 14 && name.toLowerCase() === "content-length") length = joined(length, value);
    else if (name.length === 17 && name.toLowerCase() === "transfer-encoding") coding = joined(coding, value);
  }
  if (method === "CONNECT") return malformed("CONNECT is for proxies, and this is none");
  // RFC 9112, 3.2. Two hosts are malformed as well: a proxy may have read the other one and let through what it would have refused.
  if (host === undefined ? !isHttp10 : !isHost(host)) return malformed("its Host header is missing, malformed or there twice");
  const framing = framingOf(length, coding, isHttp10);
  if (framing === undefined) return malformed("it does not say clearly where its body ends");
  const target = parseTarget(targetText);
  if (target === undefined) return malformed("its target is neither a path nor an http address");
  if (target.authority !== undefined && !isHost(target.authority)) return malformed("its target names no host");
  byteCount += target.path.length + target.queryText.length;
  const isKept = connection === undefined ? !isHttp10 : isKeptBy(connection, isHttp10);
  const expectsContinue = expect !== undefined && !isHttp10 && expect.toLowerCase() === "100-continue";
  return { method, target, headers, host: target.authority ?? host, framing, isKept, isHttp10, expectsContinue, byteCount };
}

function problemOf(text: string): ProtocolProblem {
  if (!METHOD.test(text)) return malformed("it does not begin with a method in upper case");
  return malformed(REQUEST_LINE.test(text) ? "its headers are malformed" : "its first line is malformed");
}

/**
 * Undefined where it is unclear, which is how requests are smuggled past a proxy: a length beside chunks, a length given
 * twice or not in plain digits, another coding than chunks, chunks from a client that cannot know them.
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
    .map((word) => trimmed(word, 0, word.length));
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
