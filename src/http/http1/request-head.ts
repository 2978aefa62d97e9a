/**
 * Reads the head of a request (RFC 9112, 2 to 7). The reader of heads is strict: the reader refuses a head that two programs could understand
 * differently.
 */
import type { RawHeaders } from "#kernel/http-text/headers";
import type { ReceiveBuffer } from "./receive-buffer.ts";

/** The reason why bytes are refused. The listener chooses the error response that the client receives for this reason. */
export type ProtocolProblem =
  /** `detail` is a clause that an error message can contain. */
  | { readonly kind: "malformed-head"; readonly detail: string }
  | { readonly kind: "head-too-large" }
  | { readonly kind: "head-too-slow"; readonly msMax: number }
  | { readonly kind: "malformed-chunks" }
  | { readonly kind: "body-too-large"; readonly bytesMax: number }
  | { readonly kind: "body-too-slow"; readonly msMax: number }
  /** Too many bytes of other bodies are arriving at the same time. */
  | { readonly kind: "no-capacity" };

const malformed = (detail: string): ProtocolProblem => ({ kind: "malformed-head", detail });

export interface RequestHead {
  readonly method: string;
  readonly target: Target;
  readonly headers: RawHeaders;
  /** The host of an absolute target, or of the Host header; undefined only if a client of HTTP/1.0 sent neither. */
  readonly host: string | undefined;
  /** The length of the body in bytes (0 if there is no body), or `chunked` if the body ends with its last chunk. */
  readonly framing: number | "chunked";
  /** Whether the client wants to use the connection for its next request. */
  readonly isKept: boolean;
  /** Whether the client uses HTTP/1.0, which has neither chunks nor persistent connections. */
  readonly isHttp10: boolean;
  /** Whether the client waits for `100 Continue` before it sends its body. */
  readonly expectsContinue: boolean;
  /** The number of bytes of the path, the query, the header names and the header values, which are all texts that a client chooses. */
  readonly byteCount: number;
}

/**
 * The pattern of the value of Content-Length. A length has at most 15 digits: such a number is exact in a binary float, and is larger than
 * any disk.
 */
const LENGTH = /^\d{1,15}$/;
/** The method at the beginning of a head. Registered methods have 17 characters at most. */
const METHOD = /^[A-Z][A-Z-]{0,31} /;
const METHOD_CHARACTERS_MAX = 32;
const REQUEST_LINE = /^[A-Z][A-Z-]* [\x21-\x7e]+ HTTP\/1\.[01](?:\r\n|$)/;
/**
 * A whole head: no blank before a colon, no folded lines, and every line ends with carriage return and line feed. The pattern takes linear time,
 * because each character can match in only one way.
 */
const WHOLE = /^[A-Z][A-Z-]* [\x21-\x7e]+ HTTP\/1\.[01](?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*)*$/;

/** Parses a head. `text` is Latin-1 and ends before the empty line. */
export function parseHead(text: string): RequestHead | ProtocolProblem {
  if (!WHOLE.test(text)) return problemOf(text);
  const methodEnd = text.indexOf(" ");
  if (methodEnd > METHOD_CHARACTERS_MAX) return problemOf(text);
  const targetEnd = text.indexOf(" ", methodEnd + 1);
  // The request line continues with ` HTTP/1.` and a digit.
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

/** Checks that the lines of a request's head do not contradict each other. */
function checkedHead(method: string, targetText: string, headers: RawHeaders, isHttp10: boolean): RequestHead | ProtocolProblem {
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
  if (method === "CONNECT") return malformed("CONNECT is for proxies, and this server is not a proxy");
  // RFC 9112, 3.2. Two Host headers are also refused: a proxy may have read the other Host header, and may have let the request through because of
  // that header.
  if (host === undefined ? !isHttp10 : !isHost(host)) return malformed("the Host header is missing, malformed or repeated");
  const framing = framingOf(length, coding, isHttp10);
  if (framing === undefined) return malformed("the length of the request body is unclear: send one Content-Length, or Transfer-Encoding: chunked");
  const target = parseTarget(targetText);
  if (target === undefined) return malformed("the request target is neither a path nor an http address");
  if (target.authority !== undefined && !isHost(target.authority)) return malformed("the address in the request line has no valid host");
  byteCount += target.path.length + target.queryText.length;
  const isKept = connection === undefined ? !isHttp10 : isKeptBy(connection, isHttp10);
  const expectsContinue = expect !== undefined && !isHttp10 && expect.toLowerCase() === "100-continue";
  return { method, target, headers, host: target.authority ?? host, framing, isKept, isHttp10, expectsContinue, byteCount };
}

function problemOf(text: string): ProtocolProblem {
  if (!METHOD.test(text)) return malformed("the request does not begin with a method in upper case");
  return malformed(REQUEST_LINE.test(text) ? "the headers are malformed" : "the first line is malformed");
}

/**
 * Returns how the body ends, or undefined if the end is unclear. If the end of a body is unclear, a request could be smuggled past a proxy. The end
 * is unclear if the head has both a length and chunks, a length that is repeated or not in plain digits, a coding other than chunks, or chunks from a
 * client of HTTP/1.0.
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

/** The maximum number of characters of a host: the longest name of the DNS and a port. */
const HOST_CHARACTERS_MAX = 260;
const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9a-fA-F:.]+\])(?::\d{1,5})?$/;

/**
 * Whether the text is a host name, an IPv4 address, or an IPv6 address in brackets, with or without a port. A host of any other form could break a
 * link in a response.
 */
export const isHost = (text: string | undefined): text is string => text !== undefined && text.length <= HOST_CHARACTERS_MAX && HOST.test(text);

/** The parsed target of a request (RFC 9112, 3.2); parsing it makes no URL object. */
interface Target {
  /** The target as the client sent it. */
  readonly text: string;
  /** The percent-encoded path, which begins with a slash. */
  readonly path: string;
  /** The query without the `?`. */
  readonly queryText: string;
  /** The host of a target in absolute form (`GET http://host/path`). The host of the target replaces the Host header (RFC 9112, 3.2.2). */
  readonly authority: string | undefined;
}

const ABSOLUTE = /^https?:\/\//i;

/**
 * Parses a target. Returns undefined if the request target is neither a path nor an http address. Targets of other forms are for proxies, and `*` has no
 * meaning for this server.
 */
export function parseTarget(text: string): Target | undefined {
  let authority: string | undefined;
  let start = 0;
  if (text.charCodeAt(0) !== 47) {
    const scheme = ABSOLUTE.exec(text)?.[0];
    if (scheme === undefined) return undefined;
    start = endOfAuthority(text, scheme.length);
    authority = text.slice(scheme.length, start);
  }
  const hash = text.indexOf("#", start);
  const end = hash === -1 ? text.length : hash;
  const question = text.indexOf("?", start);
  if (question === -1 || question > end) return { text, path: rooted(text.slice(start, end)), queryText: "", authority };
  return { text, path: rooted(text.slice(start, question)), queryText: text.slice(question + 1, end), authority };
}

/** Returns the path, or `/` if an absolute target has no path. */
const rooted = (path: string): string => (path === "" ? "/" : path);

function endOfAuthority(text: string, start: number): number {
  let end = start;
  while (end < text.length && text[end] !== "/" && text[end] !== "?" && text[end] !== "#") end++;
  return end;
}

/** The maximum number of bytes of a head that is cached. Longer heads are not cached, because thousands of connections may be open. */
const KNOWN_MAX = 1_024;

/**
 * Matches a control character, or half of a line break. A valid head contains no such character, so the reader refuses a head with such a character
 * before the head is complete.
 */
const NEVER = /[^\t\r\n\x20-\x7e\x80-\xff]|[^\r]\n|\r[^\n]/;

export class HeadReader {
  readonly #bytesMax: number;
  /** The number of bytes of an incomplete head in which the reader has already searched for the head's end. */
  #searched = 0;
  #hasSkippedLine = false;
  // Most clients send the same head many times on a connection. If a head equals the last head of the connection, the reader does not parse the head
  // again.
  #knownText = "";
  #known: RequestHead | undefined;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Takes the next head from `buffer`. Returns undefined while the head is not complete. */
  read(buffer: ReceiveBuffer): RequestHead | ProtocolProblem | undefined {
    if (buffer.byteAt(0) === 13) {
      // RFC 9112, 2.2: an empty line before a request is ignored, because old clients send such a line after a body. Several empty lines are refused.
      if (this.#hasSkippedLine) return malformed("several empty lines come before the request");
      if (buffer.byteAt(1) === 10) {
        this.#hasSkippedLine = true;
        this.#searched = 0;
        buffer.skip(2);
        if (buffer.byteAt(0) === 13) return malformed("several empty lines come before the request");
      }
    }
    const end = buffer.indexOf("\r\n\r\n", Math.max(0, this.#searched - 3));
    if (end > this.#bytesMax || (end === -1 && buffer.length > this.#bytesMax)) return { kind: "head-too-large" };
    if (end === -1) {
      const isHopeless = NEVER.test(buffer.text(Math.max(0, this.#searched - 1), buffer.length));
      this.#searched = buffer.length;
      return isHopeless ? malformed("the request line or a header contains a character that is not allowed") : undefined;
    }
    const text = buffer.text(0, end);
    buffer.skip(end + 4);
    this.#searched = 0;
    this.#hasSkippedLine = false;
    return this.#parse(text);
  }

  #parse(text: string): RequestHead | ProtocolProblem {
    if (this.#known !== undefined && text === this.#knownText) return this.#known;
    const head = parseHead(text);
    if (!("kind" in head) && text.length <= KNOWN_MAX) {
      this.#knownText = text;
      this.#known = head;
    }
    return head;
  }
}
