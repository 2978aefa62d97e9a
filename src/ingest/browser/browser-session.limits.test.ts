/** What a page may send to the byte, and how its first request may look. */
import { expect, test } from "bun:test";
import { join } from "#harness/live/rtmp";
import { BINARY, clientFrame, mediaMessage, opening, picture, TEXT, withKey } from "#harness/live/websocket";
import { BrowserSession } from "./browser-session.ts";
import { FrameReader } from "./frames.ts";
import { Opening } from "./opening.ts";

const CONTINUATION = 0;
const PING = 9;
const PONG = 10;
const MIB = 1_048_576;

function open() {
  const sent: Uint8Array[] = [];
  const seen: unknown[] = [];
  const session = new BrowserSession(
    {
      send: (bytes) => void sent.push(bytes),
      end: () => void seen.push("end"),
      publishAsked: (key) => void seen.push(["asked", key.length]),
      takeVideo: (ms, packet) => {
        // Pages have no pictures out of order.
        if (packet.kind === "frame") expect(packet.compositionMs).toBe(0);
        seen.push([packet.kind, ms, packet.bytes.length, packet.kind === "frame" && packet.isKey]);
      },
      takeAudio: () => {},
      unpublished: () => void seen.push("unpublished"),
    },
    undefined,
  );
  const receive = (...parts: readonly Uint8Array[]) => session.received(join(parts));
  /** The code of the frame that closes; undefined: none was sent. */
  const closed = () => {
    const frame = Buffer.from(sent.at(-1) ?? []);
    return frame[0] === 0x88 ? frame.readUInt16BE(2) : undefined;
  };
  return { session, sent, seen, receive, closed };
}

/** A page that opened its socket. */
function opened() {
  const one = open();
  one.receive(opening());
  return one;
}

function admitted() {
  const one = opened();
  one.receive(withKey("k"));
  one.session.admit();
  one.seen.length = 0;
  return one;
}

/** The beginning of a masked frame that is this long. */
const headOf = (first: number, length: number): Uint8Array => {
  const long = Buffer.alloc(8);
  long.writeBigUInt64BE(BigInt(length));
  return Buffer.concat([Uint8Array.of(first, 0x80 | 127), long, new Uint8Array(4)]);
};

test("the first message has 1,024 bytes at most, and its key 256 characters", () => {
  const key = JSON.stringify({ stream_key: "k".repeat(256) });
  for (const [text, seen] of [
    [key, [["asked", 256]]],
    [key.padEnd(1_024), [["asked", 256]]],
    [key.padEnd(1_025), ["end", "unpublished"]],
    [JSON.stringify({ stream_key: "" }), ["end", "unpublished"]],
    [JSON.stringify({ stream_key: 7 }), ["end", "unpublished"]],
    ["null", ["end", "unpublished"]],
  ] as const) {
    const page = opened();
    page.receive(clientFrame(TEXT, text));
    expect(page.seen).toEqual(seen as unknown as unknown[]);
  }
});

test("a message of an admitted page has 8 MiB at most, of all its frames together, which are 256 at most", () => {
  const announced = (...parts: readonly Uint8Array[]) => {
    const { receive, closed } = admitted();
    receive(...parts);
    return closed();
  };
  expect([announced(headOf(0x82, 8 * MIB)), announced(headOf(0x82, 8 * MIB + 1)), announced(headOf(0x82, 2 ** 32))]).toEqual([undefined, 1009, 1009]);
  expect([announced(headOf(0x82, 2 ** 56)), announced(headOf(0x82, 2 ** 24))]).toEqual([1009, 1009]);
  const begun = clientFrame(BINARY, new Uint8Array(100), { isFinal: false });
  expect([announced(begun, headOf(0x80, 8 * MIB - 100)), announced(begun, headOf(0x80, 8 * MIB - 99))]).toEqual([undefined, 1009]);
  const inParts = (count: number) => {
    const { receive, closed, seen } = admitted();
    const bytes = Buffer.concat([mediaMessage(2, 7, picture(true)), Buffer.alloc(300)]);
    for (let at = 0; at < count; at++)
      receive(
        clientFrame(at === 0 ? BINARY : CONTINUATION, bytes.subarray(at, at === count - 1 ? undefined : at + 1), { isFinal: at === count - 1 }),
      );
    return [closed(), seen[0]];
  };
  expect(inParts(256)).toEqual([undefined, ["frame", 7, picture(true).length + 300, true]]);
  expect(inParts(257)).toEqual([1009, "end"]);
});

test("a control frame is whole and has 125 bytes at most; a pong is nothing, and a ping between the frames of a large message is answered", () => {
  const { receive, closed, sent } = admitted();
  const count = sent.length;
  receive(clientFrame(PONG, "x"));
  expect(sent).toHaveLength(count);
  receive(clientFrame(PING, "x".repeat(125)));
  expect([...(sent.at(-1) ?? []).slice(0, 3)]).toEqual([0x8a, 125, 120]);
  expect(closed()).toBeUndefined();
  receive(clientFrame(PING, "x", { isFinal: false }));
  expect(closed()).toBe(1002);
  const large = admitted();
  large.receive(clientFrame(BINARY, new Uint8Array(5 * MIB), { isFinal: false }), clientFrame(PING, "y"));
  expect([...(large.sent.at(-1) ?? [])]).toEqual([0x8a, 1, 121]);
});

test("a frame without a mask is refused, however long it is", () => {
  for (const length of [0, 1, 2]) {
    const { receive, closed, sent } = admitted();
    receive(Uint8Array.of(0x89, length, 0, 0, 0, 0, 0, 0));
    expect([closed(), sent.length]).toEqual([1002, 3]);
  }
});

test("the bits of extensions and the kinds that nobody knows are refused, whatever their frame holds", () => {
  for (const first of [0xc2, 0xa2, 0x92, 0x83, 0x87, 0x8b, 0x8f]) {
    const { receive, closed, seen } = admitted();
    receive(Uint8Array.of(first, 0x80, 0, 0, 0, 0));
    expect({ first, closed: closed(), seen }).toEqual({ first, closed: 1002, seen: ["end", "unpublished"] });
  }
});

test("a message has a byte and four of time, and something behind them; a picture is a key picture by its kind alone", () => {
  const { receive, seen } = admitted();
  receive(...[1, 2, 3].map((kind) => clientFrame(BINARY, mediaMessage(kind, 0x01_02_03_04, Uint8Array.of(9)))));
  expect(seen).toEqual([
    ["config", 0x01_02_03_04, 1, false],
    ["frame", 0x01_02_03_04, 1, true],
    ["frame", 0x01_02_03_04, 1, false],
  ]);
  for (const kind of [0, 6]) {
    const other = admitted();
    other.receive(clientFrame(BINARY, mediaMessage(kind, 0, Uint8Array.of(9))));
    expect(other.closed()).toBe(1002);
  }
});

test("a page is admitted once, after it asked, and hears nothing after its end", () => {
  const early = opened();
  early.session.admit();
  expect([early.session.isPublishing, early.sent.length]).toEqual([false, 1]);
  const { session, sent, seen, receive } = admitted();
  const count = sent.length;
  session.admit();
  expect([session.isPublishing, sent.length]).toEqual([true, count]);
  session.refuse("feed", "over");
  session.refuse("feed", "again");
  receive(clientFrame(PING, "x"), clientFrame(BINARY, mediaMessage(2, 0, picture(true))));
  expect([session.isPublishing, sent.length, seen]).toEqual([false, count + 1, ["end"]]);
});

test("RFC 6455, 4.2: the request has 16 KiB at most, wherever it is cut, and what stands behind it is the page's first frame", () => {
  const padded = (length: number): Buffer => {
    const bare = opening({ "X-Pad": "" }).length;
    return Buffer.from(opening({ "X-Pad": "x".repeat(length + 4 - bare) }));
  };
  const line = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString("latin1").split("\r\n", 1)[0];
  const respond = (...parts: readonly Uint8Array[]) => {
    const request = new Opening(undefined);
    return line(parts.map((part) => request.read(part)).at(-1)?.response);
  };
  expect([respond(padded(16_384)), respond(padded(16_385))]).toEqual([
    ...["HTTP/1.1 101 Switching Protocols", "HTTP/1.1 431 Request Header Fields Too Large"],
  ]);
  expect([respond(new Uint8Array(16_384)), respond(new Uint8Array(16_385)), respond(new Uint8Array(16_384), new Uint8Array(1))]).toEqual([
    ...[undefined, "HTTP/1.1 431 Request Header Fields Too Large", "HTTP/1.1 431 Request Header Fields Too Large"],
  ]);
  const whole = Buffer.concat([opening(), withKey("k")]);
  const at = new Opening(undefined);
  expect(at.read(whole.subarray(0, 30))).toBeUndefined();
  expect(at.read(whole.subarray(30))).toMatchObject({ isOpen: true, rest: Buffer.from(withKey("k")) });
});

test("its headers may be written in any case and in lists; a refusal says its length and what is wanted", () => {
  const respond = (headers: Record<string, string>, line?: string) =>
    Buffer.from(new Opening(undefined).read(opening(headers, line))?.response ?? []).toString();
  for (const headers of [
    { Upgrade: "WebSocket", Connection: "keep-alive, Upgrade" },
    { Connection: "Upgrade,keep-alive", "Sec-WebSocket-Version": "8, 13" },
    { "no colon": "" },
  ])
    expect(respond(headers as unknown as Record<string, string>)).toStartWith("HTTP/1.1 101 ");
  expect(respond({}, "GET /live?x=1 HTTP/1.1")).toStartWith("HTTP/1.1 101 ");
  // A line without a colon is no header, whatever its letters are.
  expect(respond({ Pad: "x\r\nUpgrades\r\nSec-WebSocket-Version5" })).toStartWith("HTTP/1.1 101 ");
  for (const line of ["GET /live HTTP/1.0", "HEAD /live HTTP/1.1", "GET /live"]) expect(respond({}, line)).toContain("\r\nAllow: GET\r\n");
  expect(respond({ Connection: "close" })).toContain("\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\r\n");
  expect(respond({}, "GET /lives HTTP/1.1")).toBe(
    "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 18\r\nConnection: close\r\n\r\nThe path is /live\n",
  );
  const withoutKey = opening()
    .toString()
    .replace(/Sec-WebSocket-Key: .*\r\n/, ":x\r\nno colon\r\n");
  expect(Buffer.from(new Opening(undefined).read(Buffer.from(withoutKey))?.response ?? []).toString()).toStartWith("HTTP/1.1 426 ");
});

test("RFC 6455, 5.3: messages keep every byte, however large they are, wherever they are cut, and whatever follows them", () => {
  const payloads = [0, 1, 125, 126, 4_096, 4_097, 20_000, 65_535, 65_536, 70_001].map((length) =>
    Uint8Array.from({ length }, (_, at) => (at * 7 + (at >> 8)) & 0xff),
  );
  const half = (bytes: Uint8Array): Uint8Array[] => [
    clientFrame(BINARY, bytes.subarray(0, bytes.length >> 1), { isFinal: false }),
    clientFrame(CONTINUATION, bytes.subarray(bytes.length >> 1)),
  ];
  const whole = join(payloads.flatMap((bytes) => [clientFrame(BINARY, bytes), ...half(bytes)]));
  const wanted = payloads.flatMap((bytes) => [bytes, bytes]).map((bytes) => Bun.hash(bytes));
  for (const size of [1, 3, 13, 14, 15, 1_000, 5_000, whole.length]) {
    const reader = new FrameReader(100_000);
    const taken: Uint8Array[] = [];
    for (let at = 0; at < whole.length; at += size) reader.read(whole.subarray(at, at + size), (_opcode, payload) => void taken.push(payload));
    expect({ size, hashes: taken.map((bytes) => Bun.hash(bytes)) }).toEqual({ size, hashes: wanted });
  }
});
