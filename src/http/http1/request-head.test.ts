import { describe, expect, spyOn, test } from "bun:test";
import fc from "fast-check";
import { findHeader } from "#kernel/http-text/headers";
import { ReceiveBuffer } from "./receive-buffer.ts";
import { HeadReader, isHost, parseHead, parseTarget, type RequestHead } from "./request-head.ts";

describe("targets", () => {
  test.each([
    { text: "/a/b?c=d?e#f", path: "/a/b", queryText: "c=d?e", authority: undefined },
    { text: "/a#b?c", path: "/a", queryText: "", authority: undefined },
    { text: "//evil.test/a", path: "//evil.test/a", queryText: "", authority: undefined },
    { text: "http://h:1/a?b", path: "/a", queryText: "b", authority: "h:1" },
    { text: "http://h?b", path: "/", queryText: "b", authority: "h" },
    { text: "HTTPS://h", path: "/", queryText: "", authority: "h" },
  ])("$text", (target) => {
    expect(parseTarget(target.text)).toEqual(target);
  });

  test.each(["", "a", "?a", "*", "h:1", "http:", "http:/h", "ftp://h/", "xhttp://h/"])("%j is not a target", (text) => {
    expect(parseTarget(text)).toBeUndefined();
  });
});

test("hosts", () => {
  for (const host of ["a", "z", "A", "Z", "0", "9", "a:0", "a:9", "a:99999"]) expect(isHost(host)).toBe(true);
  // The characters that are next to the allowed characters in ASCII are refused, as are wrong ports.
  for (const host of ["`", "{", "@", "[", "/", ";", "a:/", "a::", "a[", "a:123456", "a:", ":1", ""]) expect(isHost(host)).toBe(false);
  for (const host of ["localhost", "a.b-c_d:1", "127.0.0.1:65535", "[::1]", "[::1]:80", "X"]) expect(isHost(host)).toBe(true);
  for (const host of ["", ":80", "a:", "a:b", "a:123456", "a:80:80", "[::1", "::1", "a%20", "ü", "a\\b", "a?b", "a#b", "[<]", "a".repeat(261)])
    expect(isHost(host)).toBe(false);
  expect(isHost("a".repeat(260))).toBe(true);
});

test("two headers with one name are both visible", () => {
  const headers = ["Authorization", "Bearer a", "x", "1", "authorization", "Bearer b"];
  expect(findHeader(headers, "authorization")).toBe("Bearer a, Bearer b");
  expect(findHeader(headers, "x")).toBe("1");
  expect(findHeader(headers, "y")).toBeUndefined();
});

const bufferOf = (text: string): ReceiveBuffer => {
  const buffer = new ReceiveBuffer();
  buffer.append(Buffer.from(text, "latin1"));
  return buffer;
};
/** The result of a reader that gets the whole text of a request at once: the target of a head, or the kind of problem. */
const shown = (read: ReturnType<HeadReader["read"]>): string | undefined =>
  read === undefined ? undefined : "kind" in read ? read.kind : read.target.text;
const head = (target = "/") => `GET ${target} HTTP/1.1\r\nHost: h`;

describe("the work for a head that arrives in pieces", () => {
  /** The number of bytes that are searched, copied or decoded until a head of this length has arrived, 64 bytes at a time. */
  const stepsFor = (length: number): number => {
    let steps = 0;
    const buffers = Buffer.prototype;
    const original = { indexOf: buffers.indexOf, copy: buffers.copy, toString: buffers.toString };
    const spies = [
      spyOn(buffers, "indexOf").mockImplementation(function (this: Buffer, text: string, from: number, encoding: BufferEncoding) {
        steps += this.length - from;
        return original.indexOf.call(this, text, from, encoding);
      } as Buffer["indexOf"]),
      spyOn(buffers, "copy").mockImplementation(function (this: Buffer, target: Uint8Array, at?: number, from = 0, to = this.length) {
        steps += to - from;
        return original.copy.call(this, target, at, from, to);
      }),
      spyOn(buffers, "toString").mockImplementation(function (this: Buffer, encoding?: BufferEncoding, from = 0, to = this.length) {
        steps += to - from;
        return original.toString.call(this, encoding, from, to);
      }),
    ];
    const bytes = Buffer.from(`${head(`/?${"a".repeat(length)}`)}\r\n\r\n`);
    const [reader, buffer] = [new HeadReader(bytes.length), new ReceiveBuffer()];
    let read: ReturnType<HeadReader["read"]>;
    for (let at = 0; at < bytes.length; at += 64) {
      buffer.append(bytes.subarray(at, at + 64));
      read = reader.read(buffer);
    }
    for (const spy of spies) spy.mockRestore();
    expect(shown(read)).toHaveLength(length + 2);
    return steps;
  };

  test("at most 2.5 times the steps for twice the bytes", () => {
    const [half, whole] = [stepsFor(65_536), stepsFor(131_072)];
    expect(half).toBeGreaterThan(65_536);
    expect(whole).toBeLessThanOrEqual(2.5 * half);
  });
});

describe("the size of a head", () => {
  const { length } = head();

  test("may reach its limit and not exceed it, complete or not", () => {
    expect([0, 1].map((less) => shown(new HeadReader(length - less).read(bufferOf(`${head()}\r\n\r\nmore`))))).toEqual(["/", "head-too-large"]);
    expect([0, 1].map((less) => shown(new HeadReader(length - less).read(bufferOf(head()))))).toEqual([undefined, "head-too-large"]);
  });

  test("counts only the current one, not those before it", () => {
    const reader = new HeadReader(length);
    const buffer = bufferOf(`${head()}\r\n\r\n${head()}\r\n\r\n`);
    expect([reader.read(buffer), reader.read(buffer)].map(shown)).toEqual(["/", "/"]);
    expect([shown(reader.read(buffer)), buffer.length]).toEqual([undefined, 0]);
  });
});

test("a head is found at any cut, even within its end", () => {
  const whole = `${head("/a")}\r\n\r\n`;
  for (let cut = 1; cut < whole.length; cut++) {
    const reader = new HeadReader(1_000);
    const buffer = bufferOf(whole.slice(0, cut));
    expect({ cut, read: reader.read(buffer) }).toEqual({ cut, read: undefined });
    buffer.append(Buffer.from(`${whole.slice(cut)}body`));
    expect(shown(reader.read(buffer))).toBe("/a");
    expect(buffer.text(0, 10)).toBe("body");
    // The reader searches for the end of the next head from the beginning of the next head.
    buffer.skip(4);
    buffer.append(Buffer.from(`${head("/")}\r\n\r\n`));
    expect({ cut, read: shown(reader.read(buffer)) }).toEqual({ cut, read: "/" });
  }
});

test("RFC 9112, 2.2: one empty line before each head is skipped, and a second one is refused", () => {
  const reader = new HeadReader(1_000);
  const buffer = bufferOf(`\r\n${head("/1")}\r\n\r\n\r\n${head("/2")}\r\n\r\n`);
  expect([reader.read(buffer), reader.read(buffer)].map(shown)).toEqual(["/1", "/2"]);
  expect(shown(new HeadReader(1_000).read(bufferOf(`\r\n\r\n${head()}\r\n\r\n`)))).toBe("malformed-head");
  for (const text of ["\r\n\r\n", `\r\n\r\n${head()}\r\n\r\n`])
    expect(new HeadReader(1_000).read(bufferOf(text))).toEqual({ kind: "malformed-head", detail: "several empty lines come before the request" });
  // The head of the request arrives in several pieces.
  const cut = new HeadReader(1_000);
  const pieces = bufferOf("\r");
  expect(cut.read(pieces)).toBeUndefined();
  pieces.append(Buffer.from("\n"));
  expect([shown(cut.read(pieces)), pieces.length]).toEqual([undefined, 0]);
  pieces.append(Buffer.from("\r\n"));
  expect(shown(cut.read(pieces))).toBe("malformed-head");
});

test("bytes that cannot become a head are refused before their end, at any cut", () => {
  for (const wrong of ["GET / HTTP/1.1\nHost", "GET / \x00", "GET /\x7f", "GET / HTTP/1.1\rHost", "\x00GET"]) {
    for (let cut = 1; cut < wrong.length; cut++) {
      const reader = new HeadReader(1_000);
      const buffer = bufferOf(wrong.slice(0, cut));
      const before = shown(reader.read(buffer));
      buffer.append(Buffer.from(wrong.slice(cut), "latin1"));
      expect({ cut, kind: before ?? shown(reader.read(buffer)) }).toEqual({ cut, kind: "malformed-head" });
    }
  }
});

test("bytes before a head do not belong to it", () => {
  const reader = new HeadReader(1_000);
  const buffer = bufferOf(`${head()}\r\n\r\n\x00GET /`);
  expect(shown(reader.read(buffer))).toBe("/");
  // The body of the request is skipped.
  buffer.skip(1);
  expect(reader.read(buffer)).toBeUndefined();
});

test("a repeated head comes from the cache, another one is not mistaken for it, and a long one is parsed again", () => {
  const reader = new HeadReader(10_000);
  const next = (text: string): RequestHead => reader.read(bufferOf(`${text}\r\n\r\n`)) as RequestHead;
  const first = next(head("/1"));
  expect(next(head("/1"))).toBe(first);
  const second = next(head("/2"));
  expect([first.target.text, second.target.text]).toEqual(["/1", "/2"]);
  expect(next(head("/2"))).toBe(second);
  const padded = (length: number): string => `${head("/3")}\r\nX: `.padEnd(length, "x");
  const known = next(padded(1_024));
  expect(next(padded(1_024))).toBe(known);
  const long = next(padded(1_025));
  expect(next(padded(1_025))).not.toBe(long);
  // A malformed head is not cached.
  expect(shown(reader.read(bufferOf("get / HTTP/1.1\r\n\r\n")))).toBe("malformed-head");
  expect(shown(reader.read(bufferOf("get / HTTP/1.1\r\n\r\n")))).toBe("malformed-head");
});

describe("the contents of a head", () => {
  const said = (lines: string, { method = "POST", version = "1.1" } = {}): RequestHead =>
    parseHead(`${method} / HTTP/${version}\r\nHost: h${lines === "" ? "" : "\r\n"}${lines}`) as RequestHead;

  test("how its body ends", () => {
    expect(["", "Content-Length: 0", "content-length: \t12 ", "Transfer-Encoding: Chunked"].map((lines) => said(lines).framing)).toEqual([
      0,
      0,
      12,
      "chunked",
    ]);
    expect(said("Content-Length: 999999999999999").framing).toBe(999_999_999_999_999);
  });

  test("a head is refused if its body's end is unclear, because such requests can be smuggled past a proxy", () => {
    const problem = (lines: string, version = "1.1") => shown(parseHead(`POST / HTTP/${version}\r\nHost: h\r\n${lines}`));
    const unclear = [
      ...["Content-Length: 4\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 4", "Transfer-Encoding: gzip"],
      ...["Content-Length: 4\r\nTransfer-Encoding: gzip", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, chunked"],
      ...["Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Content-Length: 4\r\nContent-Length: 4", "Content-Length: +4"],
      ...["Content-Length: 0x4", "Content-Length: 4, 4", "Content-Length:", "Transfer-Encoding:"],
    ];
    for (const lines of unclear) expect({ lines, problem: problem(lines) }).toEqual({ lines, problem: "malformed-head" });
    for (const lines of ["Transfer-Encoding: chunked", "Content-Length: 4\r\nTransfer-Encoding: chunked"])
      expect({ lines, problem: problem(lines, "1.0") }).toEqual({ lines, problem: "malformed-head" });
  });

  test("whether the connection is kept", () => {
    const kept = (lines: string, version = "1.1") => said(lines, { version }).isKept;
    expect([kept(""), kept("Connection: close"), kept("Connection: Keep-Alive , CLOSE"), kept("connection: x\r\nConnection: close")]).toEqual([
      ...[true, false, false, false],
    ]);
    expect([kept("Connection: keep-alive"), kept("Connection: closed"), kept("Connection: upgrade")]).toEqual([true, true, true]);
    expect(["", "Connection: keep-alive", "Connection: x, keep-alive", "Connection: keep-alive, close"].map((lines) => kept(lines, "1.0"))).toEqual([
      ...[false, true, true, false],
    ]);
  });

  test("whether its client waits to send, which a client of HTTP/1.0 cannot", () => {
    expect([said("Expect: 100-Continue").expectsContinue, said("").expectsContinue, said("Expect: 200").expectsContinue]).toEqual([
      true,
      false,
      false,
    ]);
    expect(said("Expect: 100-continue", { version: "1.0" })).toMatchObject({ expectsContinue: false, isHttp10: true });
  });

  test("the bytes that its client chose: path, query, names and values", () => {
    const { byteCount, headers } = parseHead("GET /ab?cd HTTP/1.1\r\nHost: h\r\nX-Long:  value \t") as RequestHead;
    expect([...headers]).toEqual(["Host", "h", "X-Long", "value"]);
    expect(byteCount).toBe("/ab".length + "cd".length + "Hosth".length + "X-Longvalue".length);
  });

  test("the values of its headers, with or without blanks around them, or empty", () => {
    const { headers } = parseHead("GET / HTTP/1.1\r\nHost:h\r\nX:\r\nY: \t \r\nZ:z\t") as RequestHead;
    expect([...headers]).toEqual(["Host", "h", "X", "", "Y", "", "Z", "z"]);
  });

  test("its host: that of the target has precedence over the header's", () => {
    expect(parseHead("GET http://other:1/x HTTP/1.1\r\nHost: h")).toMatchObject({ host: "other:1", isHttp10: false });
    expect(parseHead("GET / HTTP/1.0")).toMatchObject({ host: undefined, isHttp10: true });
    expect(parseHead("GET / HTTP/1.1")).toMatchObject({ kind: "malformed-head" });
  });

  test("a method of 32 characters at most", () => {
    expect(said("", { method: "A".repeat(32) }).method).toHaveLength(32);
    expect(said("", { method: "A".repeat(33) })).toMatchObject({ kind: "malformed-head" });
  });
});

describe("the received and unused bytes", () => {
  const step = fc.record({
    text: fc.oneof(
      fc.constant(""),
      fc.array(fc.constantFrom("a", "b", "\xff"), { minLength: 1, maxLength: 20 }).map((units) => units.join("")),
    ),
    count: fc.nat({ max: 12 }),
    isTaken: fc.boolean(),
  });

  test("are the received ones in order, without those that were taken, and do not change any more", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const buffer = new ReceiveBuffer();
        const kept: [Buffer, string][] = [];
        let left = "";
        for (const { text, count, isTaken } of steps) {
          const given = Buffer.from(text, "latin1");
          kept.push([given, text]);
          buffer.append(given);
          left += text;
          const off = Math.min(count, left.length);
          if (isTaken) kept.push([buffer.take(off), left.slice(0, off)]);
          else buffer.skip(off);
          left = left.slice(off);
          const found = { length: buffer.length, unread: buffer.unread().toString("latin1"), text: buffer.text(1, 9) };
          expect(found).toEqual({ length: left.length, unread: left, text: left.slice(1, 9) });
          const units = [0, 1, left.length - 1, left.length].filter((at) => at >= 0);
          expect(units.map((at) => buffer.byteAt(at))).toEqual(units.map((at) => (at < left.length ? left.charCodeAt(at) : undefined)));
          for (const from of [0, 1, 2].filter((at) => at <= left.length))
            expect({ from, at: buffer.indexOf("ab", from) }).toEqual({ from, at: left.indexOf("ab", from) });
        }
        expect(kept.map(([bytes]) => bytes.toString("latin1"))).toEqual(kept.map(([, text]) => text));
      }),
      { numRuns: 200 },
    );
  });

  test("are gone after they were dropped, and then only new bytes are there", () => {
    const buffer = bufferOf("abc");
    buffer.append(Buffer.from("def"));
    buffer.skip(1);
    buffer.clear();
    expect([buffer.length, buffer.byteAt(0), buffer.indexOf("b", 0), buffer.text(0, 9)]).toEqual([0, undefined, -1, ""]);
    buffer.append(Buffer.from("gh"));
    expect([buffer.length, buffer.indexOf("h", 0), buffer.text(0, 9)]).toEqual([2, 1, "gh"]);
  });
});
