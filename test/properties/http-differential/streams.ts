/** Generates streams of bytes for readers of HTTP/1.1: valid and changed requests, cut at random places. All text of the streams is Latin-1. */
import fc from "fast-check";

const token = fc.constantFrom("X", "x-a", "Accept", "Cookie", "X_1", "!#$%&'*+-.^_`|~");
const value = fc.oneof(fc.constantFrom("", "a", "a b", " padded\t", "\xfc\xff", '"quoted"', "a,b;c=d"), fc.stringMatching(/^[!-~]{0,12}$/));
const target = fc.oneof(
  fc.constantFrom("/", "/a?b=c&d", "/a#b", "//a", "/%zz", "http://h/a", "http://h:80", "https://h?x", "HTTP://H/"),
  fc.stringMatching(/^\/[!-~]{0,12}$/),
);
const bytes = fc.oneof(
  fc.constantFrom("", "abc", "0\r\n\r\n", "GET /in-body HTTP/1.1\r\nHost: h\r\n\r\n"),
  fc.uint8Array({ maxLength: 20 }).map((data) => Buffer.from(data).toString("latin1")),
);
const chunk = fc.tuple(bytes, fc.constantFrom("", "", ";a", ";a=b", ';a="b c"'));
const trailers = fc.constantFrom("", "", "X: y\r\n", "A: b\r\nC:\r\n");

const chunked = (chunks: readonly [string, string][], lines: string): string => {
  const parts = chunks.filter(([data]) => data !== "").map(([data, extension]) => `${data.length.toString(16)}${extension}\r\n${data}\r\n`);
  return `${parts.join("")}0\r\n${lines}\r\n`;
};

const body = fc.oneof(
  fc.constant({ headers: "", data: "" }),
  bytes.map((data) => ({ headers: `Content-Length: ${data.length}\r\n`, data })),
  fc.tuple(fc.array(chunk, { maxLength: 3 }), trailers).map(([chunks, lines]) => ({
    headers: "Transfer-Encoding: chunked\r\n",
    data: chunked(chunks, lines),
  })),
);

const validRequest = fc
  .record({
    emptyLine: fc.constantFrom("", "", "", "\r\n"),
    method: fc.constantFrom("GET", "POST", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH"),
    target,
    version: fc.constantFrom("1.1", "1.1", "1.1", "1.0"),
    headers: fc.array(fc.tuple(token, value), { maxLength: 3 }),
    connection: fc.constantFrom("", "", "", "Connection: keep-alive\r\n", "Connection: close\r\n", "connection: x, Close\r\n"),
    expect: fc.constantFrom("", "", "", "Expect: 100-continue\r\n"),
    body,
  })
  .map(({ emptyLine, method, target: path, version: chosen, headers, connection, expect, body: { headers: framing, data } }) => {
    // HTTP/1.0 has no chunked bodies.
    const version = framing.startsWith("Transfer") ? "1.1" : chosen;
    const lines = headers.map(([name, text]) => `${name}: ${text}\r\n`).join("");
    return `${emptyLine}${method} ${path} HTTP/${version}\r\nHost: h:80\r\n${lines}${connection}${expect}${framing}\r\n${data}`;
  });

/** Texts about whose meaning HTTP readers have disagreed. */
const snippet = fc.constantFrom(
  ...["\r\n", "\n", "\r", "\r\n\r\n", " ", "\t", "\0", "\x0b", "\x7f", "\x80", ":", ",", ";", "0", "1", "f", "-", "+", "0x", '"', "\\"],
  ...[
    "Content-Length: 3\r\n",
    "Content-Length: 0\r\n",
    "content-length: 3, 3\r\n",
    "Content-Length: +3\r\n",
    "Content-Length:\r\n",
    "Content-Length: 3 \r\n",
  ],
  ...["Transfer-Encoding: chunked\r\n", "transfer-encoding: Chunked\r\n", "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: ,chunked\r\n"],
  ...["Transfer-Encoding: chunked, identity\r\n", "Transfer-Encoding: xchunked\r\n", "Transfer-Encoding : chunked\r\n", "Transfer-Encoding:\r\n"],
  ...["Host: a\r\n", "Host:\r\n", "Host: a b\r\n", "Host : a\r\n", " folded\r\n", "\tfolded\r\n", ": no name\r\n", "no colon\r\n", "\xfc: x\r\n"],
  ...["Connection: close\r\n", "Connection: keep-alive\r\n", "Connection: upgrade\r\nUpgrade: websocket\r\n", "Expect: 200-ok\r\n", "Trailer: x\r\n"],
  ...[
    "CONNECT",
    "get",
    "BREW",
    "PRI",
    "A-B",
    "*",
    "a",
    "h:1",
    "ftp://h/",
    "http:///",
    "http://u@h/",
    " HTTP/1.1",
    "HTTP/2.0",
    "HTTP/1.2",
    "HTTP/0.9",
  ],
  ...[
    "0\r\n\r\n",
    "3\r\nabc\r\n",
    "00000000003\r\nabc\r\n",
    "3 \r\nabc\r\n",
    "3;a b\r\nabc\r\n",
    "3;\r\nabc\r\n",
    "3\nabc\n",
    "-1\r\n",
    "ffffffff\r\n",
  ],
  ...["GET /x HTTP/1.1\r\nHost: h\r\n\r\n", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n"],
);

type Change = (text: string) => string;
const place = fc.nat({ max: 100_000 });
const at = (text: string, where: number): number => where % (text.length + 1);
/** A position at the beginning or end of a line, because HTTP has most of its structure there. */
const atLine = (text: string, where: number): number => {
  const found = text.indexOf("\n", at(text, where));
  return found === -1 ? text.length : found + 1;
};
const inserted = (text: string, from: number, snippetText: string, left: number): string =>
  text.slice(0, from) + snippetText + text.slice(from + left);

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(place, snippet).map<Change>(
    ([where, piece]) =>
      (text) =>
        inserted(text, atLine(text, where), piece, 0),
  ),
  fc.tuple(place, snippet, fc.nat({ max: 3 })).map<Change>(
    ([where, piece, left]) =>
      (text) =>
        inserted(text, at(text, where), piece, left),
  ),
  fc.tuple(place, fc.nat({ max: 255 })).map<Change>(
    ([where, byte]) =>
      (text) =>
        inserted(text, at(text, where), String.fromCharCode(byte), 1),
  ),
  fc.tuple(place, fc.integer({ min: 1, max: 4 })).map<Change>(
    ([where, left]) =>
      (text) =>
        inserted(text, at(text, where), "", left),
  ),
  fc.tuple(place, snippet).map<Change>(([where, piece]) => (text) => {
    const from = text.indexOf(" ", at(text, where) % 12);
    const to = text.indexOf(" ", from + 1);
    return from === -1 || to === -1 ? text : inserted(text, from + 1, piece, to - from - 1);
  }),
);

const changedRequest = fc
  .tuple(validRequest, fc.array(change, { maxLength: 3 }))
  .map(([text, changes]) => changes.reduce((now, next) => next(now), text));

/** Streams of one to three requests. Each stream is a list of the pieces of bytes in which it arrives. */
export const httpStreams: fc.Arbitrary<readonly string[]> = fc
  .tuple(fc.array(fc.oneof(validRequest, changedRequest), { minLength: 1, maxLength: 3 }), fc.array(place, { maxLength: 4 }))
  .map(([requests, cuts]) => {
    const text = requests.join("");
    const places = [...new Set(cuts.map((cut) => at(text, cut)))].sort((a, b) => a - b);
    return [0, ...places].map((from, index) => text.slice(from, places[index] ?? text.length)).filter((piece) => piece !== "");
  });
