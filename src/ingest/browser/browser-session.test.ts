import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { join } from "#harness/live/rtmp";
import { AVC_CONFIG, BINARY, clientFrame, mediaMessage, OPUS_HEAD, OPUS_PACKET, opening, picture, TEXT, withKey } from "#harness/live/websocket";
import { PageGuard } from "#kernel/page-guard";
import { MediaProblem } from "../media/problem.ts";
import { BrowserSession } from "./browser-session.ts";
import { frameOf } from "./frames.ts";

const pages = new PageGuard({ origins: ["https://app.example.com"], hosts: [] });

/** A session whose owner writes down what happens. */
function open() {
  const sent: Uint8Array[] = [];
  const seen: unknown[] = [];
  const session = new BrowserSession(
    {
      send: (bytes) => void sent.push(bytes),
      end: () => void seen.push("end"),
      publishAsked: (key) => void seen.push(["asked", key]),
      takeVideo: (ms, packet) => void seen.push(["video", ms, packet.kind, packet.bytes.length]),
      takeAudio: (ms, packet) => void seen.push(["audio", ms, packet.kind]),
      unpublished: () => void seen.push("unpublished"),
    },
    pages,
  );
  const receive = (...parts: readonly Uint8Array[]) => session.received(join(parts));
  const head = () => Buffer.from(sent[0] as Uint8Array).toString();
  /** The code and reason of the last frame, which closes. */
  const closed = () => {
    const frame = Buffer.from(sent.at(-1) as Uint8Array);
    expect(frame[0]).toBe(0x88);
    return { code: frame.readUInt16BE(2), reason: frame.toString("utf8", 4) };
  };
  return { session, sent, seen, receive, head, closed };
}

test("RFC 6455: a server's frame says its length in one byte up to 125, and in two more beyond", () => {
  const head = (length: number): number[] => [...frameOf(TEXT, new Uint8Array(length)).subarray(0, 4)];
  const first = 0x80 | TEXT;
  expect(head(125)).toEqual([first, 125, 0, 0]);
  expect(head(126)).toEqual([first, 126, 0, 126]);
  expect(head(0x1234)).toEqual([first, 126, 0x12, 0x34]);
  expect(head(0xffff)).toEqual([first, 126, 0xff, 0xff]);
  expect(frameOf(TEXT, Uint8Array.of(1, 2, 3))).toEqual(Uint8Array.of(first, 3, 1, 2, 3));
  expect(() => frameOf(TEXT, new Uint8Array(0x10000))).toThrow("a server's messages are short");
});

test("RFC 6455: a page opens a WebSocket, asks with its key, and sends media once it is admitted", () => {
  const { session, sent, seen, receive, head } = open();
  const early = clientFrame(BINARY, mediaMessage(2, 0, picture(true)));
  for (const byte of join([opening(), withKey("a-key"), early])) receive(Uint8Array.of(byte));
  expect(head()).toStartWith("HTTP/1.1 101 Switching Protocols\r\n");
  // The example of section 1.3.
  expect(head()).toContain("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n");
  expect(seen).toEqual([["asked", "a-key"]]);
  session.admit();
  expect(Buffer.from(sent.at(-1) as Uint8Array).toString("utf8", 2)).toBe('{"event":"publishing"}');
  const large = new Uint8Array(70_000).fill(9);
  receive(
    ...[mediaMessage(1, 0, AVC_CONFIG), mediaMessage(2, 5, large), mediaMessage(3, 0xff_ff_ff_ff, picture(false))].map((one) =>
      clientFrame(BINARY, one),
    ),
    ...[mediaMessage(4, 0, OPUS_HEAD), mediaMessage(5, 6, OPUS_PACKET)].map((one) => clientFrame(BINARY, one)),
  );
  expect(seen.slice(1)).toEqual([
    ["video", 0, "config", AVC_CONFIG.length],
    ["video", 5, "frame", 70_000],
    ["video", 0xff_ff_ff_ff, "frame", 6],
    ["audio", 0, "config"],
    ["audio", 6, "frame"],
  ]);
});

test("RFC 6455, 5.4: a message may come in several frames, with a ping between them", () => {
  const { session, sent, seen, receive } = open();
  receive(opening(), withKey("k"));
  session.admit();
  const message = mediaMessage(2, 5, picture(true));
  receive(
    clientFrame(BINARY, message.subarray(0, 3), { isFinal: false }),
    clientFrame(9, "?"),
    clientFrame(0, message.subarray(3, 7), { isFinal: false }),
  );
  expect(Buffer.from(sent.at(-1) as Uint8Array)).toEqual(Buffer.from([0x8a, 1, 63]));
  receive(clientFrame(0, message.subarray(7)));
  expect(seen.at(-1)).toEqual(["video", 5, "frame", 6]);
});

test("a page that closes ends its stream, also within a message in several frames, and a refused one reads why", () => {
  for (const before of [[], [clientFrame(BINARY, Uint8Array.of(2, 0), { isFinal: false })]]) {
    const one = open();
    one.receive(opening(), withKey("k"));
    one.session.admit();
    one.receive(...before, clientFrame(8, Uint8Array.of(3, 232)));
    expect({ seen: one.seen.slice(1), code: one.closed().code }).toEqual({ seen: ["end", "unpublished"], code: 1000 });
  }
  const other = open();
  other.receive(opening(), withKey("k"));
  other.session.refuse("key", "The stream key opens nothing");
  expect(other.closed()).toEqual({ code: 4401, reason: "The stream key opens nothing" });
  const third = open();
  third.receive(opening(), withKey("k"));
  third.session.refuse("feed", "x".repeat(500));
  expect(third.closed()).toEqual({ code: 4400, reason: "x".repeat(123) });
  // Nothing more is listened to.
  third.receive(withKey("k"));
  expect(third.seen.slice(1)).toEqual(["end"]);
});

test("what is no WebSocket, and pages of other sites on a sandbox, are refused in words", () => {
  const refusals: [Uint8Array, string][] = [
    [opening({}, "GET /other HTTP/1.1"), "404 Not Found"],
    [opening({}, "POST /live HTTP/1.1"), "405 Method Not Allowed"],
    [opening({ Upgrade: "h2c" }), "426 Upgrade Required"],
    [opening({ "Sec-WebSocket-Version": "8" }), "426 Upgrade Required"],
    [opening({ Origin: "https://evil.example" }), "403 Forbidden"],
    [opening({ Host: "evil.example" }), "403 Forbidden"],
    [opening({ Cookie: "x".repeat(20_000) }), "431 Request Header Fields Too Large"],
  ];
  for (const [request, status] of refusals) {
    const { head, receive, seen } = open();
    receive(request);
    expect({ head: head().split("\r\n", 1)[0], seen }).toEqual({ head: `HTTP/1.1 ${status}`, seen: ["end"] });
  }
  const { head, receive } = open();
  receive(opening({ Origin: "https://app.example.com" }));
  expect(head()).toStartWith("HTTP/1.1 101");
});

test("what no page does closes the connection, with a code", () => {
  const hostile: [Uint8Array, number][] = [
    [clientFrame(TEXT, "{}"), 1002],
    [clientFrame(TEXT, "no JSON"), 1002],
    [clientFrame(TEXT, JSON.stringify({ stream_key: "k".repeat(257) })), 1002],
    [clientFrame(TEXT, "x".repeat(1025)), 1009],
    // Without a mask, of an unknown kind, with a bit of an extension, a long ping, a continuation of nothing.
    [Uint8Array.of(0x81, 2, 123, 125, 0, 0), 1002],
    [clientFrame(5, "x"), 1002],
    [Uint8Array.of(0xc1, 0x81, 0, 0, 0, 0, 0), 1002],
    [clientFrame(9, "x".repeat(126)), 1002],
    [clientFrame(0, "x"), 1002],
    [join([clientFrame(TEXT, "{", { isFinal: false }), clientFrame(TEXT, "}")]), 1002],
    [join([withKey("k"), withKey("k")]), 1002],
  ];
  for (const [bytes, code] of hostile) {
    const { receive, closed } = open();
    receive(opening(), bytes);
    expect(closed().code).toBe(code);
  }
  for (const message of [Uint8Array.of(2, 0, 0, 0, 0), mediaMessage(9, 0, Uint8Array.of(1))]) {
    const { session, receive, closed, seen } = open();
    receive(opening(), withKey("k"));
    session.admit();
    receive(clientFrame(BINARY, message));
    expect({ code: closed().code, last: seen.at(-1) }).toEqual({ code: 1002, last: "unpublished" });
  }
  const { session, receive } = open();
  receive(opening(), withKey("k"));
  session.admit();
  expect(() => receive(clientFrame(BINARY, mediaMessage(4, 0, Uint8Array.of(1, 2, 3))))).toThrow(MediaProblem);
});

const STREAMS = 20_000;
/** Less than 60 bytes a stream. */
const GROWTH_BYTES_MAX = 1024 * 1024;

test(`${STREAMS} hostile pages end with a problem or without one, and nothing of them stays`, () => {
  const honest = join([
    ...[opening(), withKey("k"), clientFrame(BINARY, mediaMessage(1, 0, AVC_CONFIG)), clientFrame(BINARY, mediaMessage(4, 0, OPUS_HEAD))],
    ...[clientFrame(BINARY, mediaMessage(2, 0, picture(true))), clientFrame(9, "?"), clientFrame(BINARY, mediaMessage(5, 0, OPUS_PACKET))],
  ]);
  const headLength = opening().length;
  let state = 14;
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const ends = { media: 0, closed: 0 };
  let heapBefore = 0;
  for (let i = 0; i < STREAMS; i++) {
    if (i === STREAMS / 10) heapBefore = heapBytes();
    let isClosed = false;
    const session: BrowserSession = new BrowserSession(
      {
        ...{ send: () => {}, unpublished: () => {}, publishAsked: () => session.admit() },
        end: () => {
          isClosed = true;
        },
        takeVideo: () => void ends.media++,
        takeAudio: () => {},
      },
      undefined,
    );
    const bytes = Uint8Array.from(honest);
    // Mostly behind the request, or nothing else would be reached.
    for (let changes = below(4); changes > 0; changes--) {
      const from = below(10) === 0 ? 0 : headLength;
      bytes[from + below(bytes.length - from)] = below(256);
    }
    try {
      for (let at = 0, length = 0; at < bytes.length; at += length) {
        length = 1 + below(200);
        session.received(bytes.subarray(at, at + length));
      }
    } catch (error) {
      if (!(error instanceof MediaProblem)) throw error;
    }
    if (isClosed) ends.closed++;
  }
  expect(heapBytes() - heapBefore).toBeLessThan(GROWTH_BYTES_MAX);
  expect({ media: ends.media > STREAMS / 4, closed: ends.closed > STREAMS / 4 }).toEqual({ media: true, closed: true });
});

function heapBytes(): number {
  Bun.gc(true);
  const { heapSize, extraMemorySize } = heapStats();
  return heapSize + extraMemorySize;
}
