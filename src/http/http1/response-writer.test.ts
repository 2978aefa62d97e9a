/** Checks the bytes of whole and of streamed responses, and the bytes that wait to be sent if the client reads slowly. */
import { describe, expect, test } from "bun:test";
import { ReadableStream } from "node:stream/web";
import type { RequestHead } from "./request-head.ts";
import { ResponseWriter, responseHeadText } from "./response-writer.ts";
import { type ByteSocket, SendBuffer, Turn } from "./send-buffer.ts";

/** Turns of the event loop that end at once. */
const atOnce = { afterTurn: (run: () => void) => run() };

/** A socket that takes a given number of bytes at a time. -1 says that the socket is full, as in Bun's sockets. */
function opened(takes = Number.POSITIVE_INFINITY) {
  const socket = { takes, sent: "" };
  const write = (data: string | Uint8Array): number => {
    const bytes = Buffer.from(data as string);
    const count = Math.min(socket.takes, bytes.length);
    socket.sent += bytes.toString("latin1", 0, Math.max(count, 0));
    if (Number.isFinite(socket.takes)) socket.takes = 0;
    return count;
  };
  const clock = { ms: 5 };
  const kept: number[] = [];
  const buffer = new SendBuffer({ write } as unknown as ByteSocket, new Turn({ ...atOnce, monotonicMs: () => clock.ms, nowMs: () => 0 }), (bytes) =>
    kept.push(bytes),
  );
  const writer = new ResponseWriter(buffer, { ...atOnce, monotonicMs: () => 0, nowMs: () => 86_400_000 }, "x-common: 1\r\n");
  return { socket, clock, kept, buffer, writer };
}

const get = { method: "GET", isHttp10: false } as RequestHead;
const head = { method: "HEAD", isHttp10: false } as RequestHead;
const old = { method: "GET", isHttp10: true } as RequestHead;
const DATE = "date: Fri, 02 Jan 1970 00:00:00 GMT\r\n";

describe("a complete response", () => {
  const sentFor = (request: RequestHead | undefined, status = 200, isLast = false): string => {
    const { writer, socket } = opened();
    expect([writer.hasBegun, writer.isLast]).toEqual([false, false]);
    writer.send(request, { status, headers: { a: "b" }, body: "é!" }, isLast);
    expect([writer.hasBegun, writer.isLast]).toEqual([true, isLast]);
    return socket.sent;
  };
  const lines = `a: b\r\nx-common: 1\r\n`;

  test("has its reason, its headers, the common ones, the date, and the length of its bytes", () => {
    expect(sentFor(get)).toBe(`HTTP/1.1 200 OK\r\n${lines}${DATE}content-length: 3\r\n\r\nÃ©!`);
    expect(sentFor(undefined, 400, true)).toBe(`HTTP/1.1 400 Bad Request\r\n${lines}connection: close\r\n${DATE}content-length: 3\r\n\r\nÃ©!`);
    expect(sentFor(get, 299)).toStartWith("HTTP/1.1 299 \r\n");
  });

  test("tells clients of HTTP/1.0 that the connection is kept, unless it ends", () => {
    expect(sentFor(old)).toContain("\r\nconnection: keep-alive\r\n");
    expect(sentFor(old, 200, true)).toContain("\r\nconnection: close\r\n");
    expect(sentFor(old, 200, true)).not.toContain("keep-alive");
    expect(sentFor(get)).not.toContain("connection:");
  });

  test("to HEAD is without its body and with its length; 204 and 304 have neither", () => {
    expect(sentFor(head)).toBe(`HTTP/1.1 200 OK\r\n${lines}${DATE}content-length: 3\r\n\r\n`);
    for (const [status, reason] of [
      [204, "No Content"],
      [304, "Not Modified"],
    ] as const)
      expect(sentFor(get, status)).toBe(`HTTP/1.1 ${status} ${reason}\r\n${lines}${DATE}\r\n`);
  });

  test("is kept from the first byte that the socket did not accept, and not at all if it accepted all", () => {
    const body = { status: 200, headers: {}, body: "é!" };
    const whole = opened();
    whole.writer.send(get, body, false);
    const size = whole.socket.sent.length;
    for (const takes of [size - 1, 10, 0, -1]) {
      const { writer, socket, kept, buffer } = opened(takes);
      writer.send(get, body, false);
      expect({ kept, isEmpty: buffer.isEmpty }).toEqual({ kept: [size - Math.max(takes, 0)], isEmpty: false });
      socket.takes = Number.POSITIVE_INFINITY;
      buffer.drain();
      expect({ sent: socket.sent, sum: kept.reduce((a, b) => a + b, 0), isEmpty: buffer.isEmpty }).toEqual({
        sent: whole.socket.sent,
        sum: 0,
        isEmpty: true,
      });
    }
    expect(whole.kept).toEqual([]);
    const bodiless = opened();
    bodiless.writer.send(get, { status: 204, headers: {}, body: "" }, false);
    bodiless.writer.send(head, body, false);
    expect(bodiless.kept).toEqual([]);
  });
});

test("the date of a response is that of its second", () => {
  const dateAt = (ms: number): string => responseHeadText({ status: 200, headers: {} }, "", 86_400_000 + ms).split("date: ")[1] ?? "";
  expect([999, 1_000, 1_999, 2_000, 1_999].map((ms) => dateAt(ms).slice(17))).toEqual([
    ...["00:00:00 GMT\r\n", "00:00:01 GMT\r\n", "00:00:01 GMT\r\n", "00:00:02 GMT\r\n", "00:00:01 GMT\r\n"],
  ]);
});

describe("a response in parts", () => {
  const partsOf = (...texts: string[]): ReadableStream<Uint8Array> => ReadableStream.from(texts.map((text) => Buffer.from(text)));
  const streamed = async (
    request: RequestHead | undefined,
    headers: Record<string, string>,
    body?: ReadableStream<Uint8Array>,
    status = 200,
    isLast = false,
  ) => {
    const { writer, socket } = opened();
    await writer.stream(request, { status, headers }, body?.getReader(), isLast);
    return { sent: socket.sent.split("\r\n").slice(1).join("|"), isLast: writer.isLast };
  };
  const date = `x-common: 1|${DATE.trim()}`;
  const closing = `x-common: 1|connection: close|${DATE.trim()}`;

  test("is sent in chunks, none of them empty, and ends with the last chunk", async () => {
    expect(await streamed(get, {}, partsOf("0123456789abcdef", "", "é"))).toEqual({
      sent: `${date}|transfer-encoding: chunked||10|0123456789abcdef|2|Ã©|0||`,
      isLast: false,
    });
    expect((await streamed(undefined, {}, partsOf("a"))).sent).toContain("chunked||1|a|0||");
  });

  test("of a known length is sent as it is; for HTTP/1.0 without one the end of the connection is its end", async () => {
    expect((await streamed(get, { "content-length": "2" }, partsOf("a", "b"))).sent).toBe(`content-length: 2|${date}||ab`);
    expect(await streamed(old, {}, partsOf("a", "b"))).toEqual({ sent: `${closing}||ab`, isLast: true });
    expect(await streamed(old, { "content-length": "1" }, partsOf("a"))).toMatchObject({ isLast: false });
    expect(await streamed(get, {}, partsOf("a"), 200, true)).toMatchObject({
      isLast: true,
      sent: expect.stringContaining(`${closing.slice(0, -1)}`),
    });
  });

  test("without a body has the length 0, unless its status or a header says otherwise", async () => {
    expect((await streamed(get, {})).sent).toBe(`${date}|content-length: 0||`);
    expect((await streamed(old, {})).isLast).toBe(false);
    expect((await streamed(get, { "content-length": "7" })).sent).toBe(`content-length: 7|${date}||`);
    for (const status of [204, 304]) expect((await streamed(get, {}, undefined, status)).sent).toBe(`${date}||`);
  });

  test("to HEAD, or with a status that has no body, is only its head, and the body is not read", async () => {
    const unread = { getReader: () => ({ read: () => expect.unreachable("nobody reads it") }) } as unknown as ReadableStream<Uint8Array>;
    expect((await streamed(head, {}, unread)).sent).toBe(`${date}||`);
    expect((await streamed(head, { "content-length": "5" }, unread)).sent).toBe(`content-length: 5|${date}||`);
    expect((await streamed(get, {}, unread, 304)).sent).toBe(`${date}||`);
    expect((await streamed(old, {}, unread, 204)).isLast).toBe(false);
  });

  test("waits for its client, and ends when the client is gone", async () => {
    const { writer, socket, buffer, kept } = opened(0);
    const asked: string[] = [];
    async function* noted(): AsyncGenerator<Uint8Array> {
      for (const text of ["a", "b", "c"]) {
        asked.push(text);
        yield Buffer.from(text);
      }
    }
    const stream = writer.stream(get, { status: 200, headers: {} }, ReadableStream.from(noted()).getReader(), false);
    await Bun.sleep(1);
    expect(asked).toEqual([]);
    socket.takes = Number.POSITIVE_INFINITY;
    buffer.drain();
    socket.takes = 0;
    await Bun.sleep(1);
    expect(asked).toEqual(["a"]);
    buffer.close();
    await stream;
    expect({ asked, isClosed: buffer.isClosed, sum: kept.reduce((a, b) => a + b, 0) }).toEqual({ asked: ["a", "b"], isClosed: true, sum: 0 });
    const { length } = socket.sent;
    buffer.writeText("x", 1);
    await buffer.writeBytes(Buffer.from("y"));
    expect(buffer.isEmpty).toBe(true);
    buffer.close();
    expect({ length: socket.sent.length, isEmpty: buffer.isEmpty, sum: kept.reduce((a, b) => a + b, 0) }).toEqual({ length, isEmpty: true, sum: 0 });
  });
});

describe("the bytes that the client has not accepted", () => {
  test("are sent in order, and have waited since the last accepted byte", () => {
    const { socket, clock, kept, buffer } = opened(2);
    buffer.writeText("abcd", 4);
    expect([buffer.sinceMs, buffer.isEmpty]).toEqual([5, false]);
    clock.ms = 6;
    socket.takes = Number.POSITIVE_INFINITY;
    buffer.writeText("ef", 2);
    socket.takes = 0;
    // New bytes are stored behind the bytes that wait to be sent, however many bytes the socket would accept.
    expect({ sent: socket.sent, kept, sinceMs: buffer.sinceMs }).toEqual({ sent: "ab", kept: [2, 2], sinceMs: 5 });
    clock.ms = 7;
    buffer.drain();
    expect({ kept, sinceMs: buffer.sinceMs }).toEqual({ kept: [2, 2], sinceMs: 5 });
    socket.takes = 1;
    buffer.drain();
    expect({ sent: socket.sent, kept, sinceMs: buffer.sinceMs, isEmpty: buffer.isEmpty }).toEqual({
      sent: "abc",
      kept: [2, 2, -1],
      sinceMs: 7,
      isEmpty: false,
    });
    socket.takes = Number.POSITIVE_INFINITY;
    buffer.drain();
    expect({ sent: socket.sent, kept, isEmpty: buffer.isEmpty }).toEqual({ sent: "abcdef", kept: [2, 2, -1, -1, -2], isEmpty: true });
    buffer.drain();
    buffer.close();
    expect(kept).toHaveLength(5);
  });

  test("are followed by bytes or text, completely; for a client that is gone nothing is held", () => {
    const { socket, kept, buffer } = opened(1);
    buffer.writeText("ab", 2);
    socket.takes = Number.POSITIVE_INFINITY;
    void buffer.writeBytes(Buffer.from("cd"));
    expect({ sent: socket.sent, kept }).toEqual({ sent: "a", kept: [1, 2] });
    buffer.drain();
    expect(socket.sent).toBe("abcd");
    const gone = opened(1);
    gone.buffer.writeText("ab", 2);
    gone.buffer.close();
    expect(gone.kept).toEqual([1, -1]);
  });

  test("stop all writers until nothing is left, or the client is gone", async () => {
    for (const end of ["drain", "close"] as const) {
      const { socket, buffer, kept } = opened(0);
      const ended: string[] = [];
      const first = buffer.writeBytes(Buffer.from("ab")).then(() => ended.push("first"));
      const second = buffer.writeBytes(Buffer.from("cd")).then(() => ended.push("second"));
      await Bun.sleep(1);
      expect(ended).toEqual([]);
      socket.takes = 3;
      buffer.drain();
      await Bun.sleep(1);
      expect(ended).toEqual([]);
      socket.takes = Number.POSITIVE_INFINITY;
      buffer[end]();
      await Promise.all([first, second]);
      expect({ ended, sum: kept.reduce((a, b) => a + b, 0) }).toEqual({ ended: ["first", "second"], sum: 0 });
    }
  });
});

test("bytes that are written while others wait stay behind them, even if the socket accepts bytes again", async () => {
  const { socket, buffer } = opened(3);
  buffer.writeText("abcde", 5);
  socket.takes = 100;
  const written = buffer.writeBytes(Buffer.from("fgh"));
  buffer.writeText("ij", 2);
  expect(socket.sent).toBe("abc");
  socket.takes = Number.POSITIVE_INFINITY;
  buffer.drain();
  await written;
  expect({ sent: socket.sent, isEmpty: buffer.isEmpty }).toEqual({ sent: "abcdefghij", isEmpty: true });
});
