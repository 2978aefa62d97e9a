import { describe, expect, test } from "bun:test";
import { MalformedResponse, ResponseReader } from "./response.ts";

/** Gives the texts to a response reader, one after another, and returns the reader's result. */
function read(texts: readonly string[], { max = 100, ends = false } = {}) {
  const reader = new ResponseReader(max);
  for (const text of texts) reader.feed(Buffer.from(text, "latin1"));
  if (ends) reader.end();
  const { status, isDone, isCut, isReusable } = reader;
  return { status, body: reader.body().toString("latin1"), isDone, isCut, isReusable };
}

const OK = "HTTP/1.1 200 OK\r\n";
const whole = { status: 200, isDone: true, isCut: false, isReusable: true };

describe("the end of a response (RFC 9112, 6.3)", () => {
  test("after its length, at the close, or after its last chunk", () => {
    expect(read([`${OK}Content-Length: 3\r\n\r\nabc`])).toEqual({ ...whole, body: "abc" });
    expect(read([`${OK}\r\nabc`])).toEqual({ ...whole, body: "abc", isDone: false, isReusable: false });
    expect(read([`${OK}\r\nabc`], { ends: true })).toEqual({ ...whole, body: "abc", isReusable: false });
    expect(read([`${OK}Transfer-Encoding: Chunked\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n`])).toEqual({ ...whole, body: "abc" });
  });

  test("at once if there is no body", () => {
    expect(read([`${OK}Content-Length: 0\r\n\r\n`])).toEqual({ ...whole, body: "" });
    for (const status of [204, 304]) expect(read([`HTTP/1.1 ${status} X\r\nContent-Length: 3\r\n\r\n`])).toEqual({ ...whole, status, body: "" });
  });

  test("at any cut of its bytes", () => {
    for (const text of [`${OK}Content-Length: 3\r\n\r\nabc`, `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`]) {
      for (let at = 1; at < text.length; at++) {
        expect(read([text.slice(0, at)]).isDone).toBe(false);
        expect(read([text.slice(0, at), text.slice(at)])).toEqual({ ...whole, body: "abc" });
      }
      expect(read([...text])).toEqual({ ...whole, body: "abc" });
    }
  });

  test("it has begun with its first bytes", () => {
    const reader = new ResponseReader(100);
    expect(reader.hasBegun).toBe(false);
    reader.feed(Buffer.from("H"));
    expect(reader.hasBegun).toBe(true);
  });

  test("a response that is incomplete when the connection closes is refused", () => {
    for (const text of ["", OK, `${OK}Content-Length: 3\r\n\r\nab`, `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`])
      expect(() => read([text], { ends: true })).toThrow("closed before its end");
    expect(read([`${OK}Content-Length: 1\r\n\r\na`], { ends: true })).toMatchObject({ isDone: true, body: "a" });
  });
});

describe("a connection", () => {
  test("serves no other request after HTTP/1.0, after close, or with bytes left over", () => {
    const reusable = (text: string) => read([text]).isReusable;
    expect(reusable("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n")).toBe(false);
    expect(reusable(`${OK}Content-Length: 0\r\nConnection: Close\r\n\r\n`)).toBe(false);
    expect(reusable(`${OK}Content-Length: 0\r\nConnection: keep-alive\r\n\r\n`)).toBe(true);
    expect(reusable(`${OK}Content-Length: 1\r\n\r\nab`)).toBe(false);
    expect(reusable(`${OK}Content-Length: 0\r\n\r\na`)).toBe(false);
    expect(reusable(`${OK}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\na`)).toBe(false);
    expect(reusable("HTTP/1.1 204 X\r\n\r\na")).toBe(false);
  });

  test("nor after bytes that arrived later", () => {
    const reader = new ResponseReader(100);
    reader.feed(Buffer.from(`${OK}Content-Length: 1\r\n\r\na`));
    expect(reader.isReusable).toBe(true);
    reader.feed(Buffer.from("b"));
    expect({ isReusable: reader.isReusable, body: reader.body().toString() }).toEqual({ isReusable: false, body: "a" });
  });
});

describe("limits", () => {
  test("a body of exactly the limit is complete, one byte more is cut, and ends the connection", () => {
    const ways = (body: string) => [
      `${OK}Content-Length: ${body.length}\r\n\r\n${body}`,
      `${OK}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ];
    for (const text of ways("x".repeat(100))) expect(read([text])).toEqual({ ...whole, body: "x".repeat(100) });
    for (const text of ways("x".repeat(101))) {
      expect(read([text])).toEqual({ ...whole, body: "x".repeat(100), isCut: true, isReusable: false });
      expect(read([...text])).toMatchObject({ body: "x".repeat(100), isCut: true, isReusable: false });
    }
    expect(read([`${OK}\r\n${"x".repeat(101)}`])).toMatchObject({ body: "x".repeat(100), isCut: true, isDone: true });
  });

  test("bytes after a cut body are ignored", () => {
    const cut = { body: "x".repeat(100), isCut: true, isDone: true };
    expect(read([`${OK}Transfer-Encoding: chunked\r\n\r\n65\r\n${"x".repeat(101)}no chunk`])).toMatchObject(cut);
  });

  test("headers may have 32 KiB, in one piece or in many", () => {
    const head = (bytes: number) => `${OK}X: ${"x".repeat(bytes - OK.length - "X: ".length)}`;
    expect(read([`${head(32_768)}\r\n\r\n`]).status).toBe(200);
    expect(() => read([`${head(32_769)}\r\n\r\n`])).toThrow("too long");
    expect(() => read([head(32_769)])).toThrow("too long");
    expect(() => read([head(20_000), "x".repeat(12_769)])).toThrow("too long");
  });

  test("headers after interim responses have 32 KiB of their own", () => {
    const interim = `HTTP/1.1 103 X\r\nX: ${"x".repeat(20_000)}\r\n\r\n`;
    const last = `${OK}X: ${"x".repeat(20_000)}\r\nContent-Length: 1\r\n\r\na`;
    expect(read([interim + interim + last])).toEqual({ ...whole, body: "a" });
    expect(read([interim, interim + last.slice(0, 100), last.slice(100)])).toEqual({ ...whole, body: "a" });
    expect(() => read([`${interim}${OK}X: ${"x".repeat(33_000)}`])).toThrow("too long");
  });

  test("eight interim responses may precede the final one", () => {
    const interim = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n";
    expect(read([`${interim.repeat(8)}${OK}Content-Length: 1\r\n\r\na`])).toEqual({ ...whole, body: "a" });
    expect(() => read([interim.repeat(9)])).toThrow("has too many 1xx responses");
    expect(() => read(["HTTP/1.1 101 Switching Protocols\r\n\r\n"])).toThrow("another protocol");
  });
});

test.each([
  ["another version", "HTTP/2.0 200 OK\r\n\r\n"],
  ["no status", "HTTP/1.1 OK\r\n\r\n"],
  ["an empty line alone", "\r\n\r\n"],
  ["a status of four digits", "HTTP/1.1 2000 OK\r\n\r\n"],
  ["a status from 600 on", "HTTP/1.1 600 X\r\n\r\n"],
  ["a status below 100", "HTTP/1.1 099 X\r\n\r\n"],
  ["a header without a colon", `${OK}Server\r\n\r\n`],
  ["a header without a name", `${OK}: x\r\n\r\n`],
  ["a space before the colon", `${OK}Content-Length : 0\r\n\r\n`],
  ["a continued header", `${OK}X: a\r\n b: c\r\n\r\n`],
  ["a name that is not ASCII", `${OK}Sérver: x\r\n\r\n`],
  ["two lengths", `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
  ["a negative length", `${OK}Content-Length: -1\r\n\r\n`],
  ["a length with a sign", `${OK}Content-Length: +1\r\n\r\na`],
  ["an empty length", `${OK}Content-Length: \r\n\r\n`],
  ["a length of sixteen digits", `${OK}Content-Length: ${"0".repeat(15)}1\r\n\r\na`],
  ["a list of lengths", `${OK}Content-Length: 1, 1\r\n\r\na`],
  ["length and chunks", `${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ["two codings", `${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ["an unknown coding", `${OK}Transfer-Encoding: gzip\r\n\r\n`],
  ["a list of codings", `${OK}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ["chunks that are none", `${OK}Transfer-Encoding: chunked\r\n\r\nx\r\n`],
])("a response is refused: %s", (_title, text) => {
  expect(() => read([text])).toThrow(MalformedResponse);
});

test("the same length twice is allowed, and a status may have no reason", () => {
  expect(read(["HTTP/1.1 200\r\nContent-Length: 1\r\ncontent-length:1\r\n\r\na"])).toEqual({ ...whole, body: "a" });
  expect(read([`HTTP/1.1 599 \r\nContent-Length: ${"1".padStart(15, "0")}\r\n\r\na`])).toEqual({ ...whole, status: 599, body: "a" });
});

describe("a body that is read as it arrives", () => {
  test("arrives in order, piece by piece, and is not kept", async () => {
    const taken: string[] = [];
    let takeNext: () => void = () => {};
    const reader = new ResponseReader(100, async (bytes) => {
      await new Promise<void>((resolve) => {
        takeNext = resolve;
      });
      taken.push(Buffer.from(bytes).toString());
    });
    reader.feed(Buffer.from(`${OK}Content-Length: 4\r\n\r\nab`));
    reader.feed(Buffer.from("cd"));
    expect(reader.isDone).toBe(true);
    for (const count of [1, 2]) {
      await Bun.sleep(0);
      expect(reader.taking).toBeInstanceOf(Promise);
      takeNext();
      await Bun.sleep(0);
      expect(taken).toHaveLength(count);
    }
    expect({ taken, taking: reader.taking, body: reader.body().toString() }).toEqual({ taken: ["ab", "cd"], taking: undefined, body: "" });
  });

  test("is read when some of it has arrived, and not before", async () => {
    const taken: string[] = [];
    const reader = new ResponseReader(100, async (bytes) => void taken.push(Buffer.from(bytes).toString()));
    reader.feed(Buffer.from(`${OK}\r\n`));
    expect(reader.taking).toBeUndefined();
    reader.feed(Buffer.from("ab"));
    await reader.taking;
    expect(taken).toEqual(["ab"]);
  });

  test("is kept and not read if the status is not 200", () => {
    const reader = new ResponseReader(100, () => Promise.reject(new Error("taken")));
    reader.feed(Buffer.from("HTTP/1.1 404 X\r\nContent-Length: 2\r\n\r\nab"));
    expect({ body: reader.body().toString(), taking: reader.taking }).toEqual({ body: "ab", taking: undefined });
  });

  test("an error of the reader rejects the read", async () => {
    const reader = new ResponseReader(100, () => Promise.reject(new Error("full")));
    reader.feed(Buffer.from(`${OK}Content-Length: 1\r\n\r\na`));
    await expect(reader.taking).rejects.toThrow("full");
  });
});
