import { expect, test } from "bun:test";
import { aggregateOf, chunked, command, handshake, join, media, publishing } from "#harness/live/rtmp";
import { readAmf, writeAmf } from "./amf0.ts";
import { ChunkReader } from "./chunk-reader.ts";
import { AFTER_KEY, RtmpProblem } from "./message.ts";
import { PublisherSession, type SessionOwner } from "./publisher-session.ts";

const HANDSHAKE_REPLY = 1 + 2 * 1536;

/** A session whose owner records the events. */
function open(asked: () => void = () => {}) {
  const sent: Uint8Array[] = [];
  const seen: unknown[] = [];
  const owner: SessionOwner = {
    send: (bytes) => void sent.push(bytes),
    end: () => void seen.push("end"),
    publishAsked: (key) => {
      seen.push(["asked", key]);
      asked();
    },
    media: (type, timestamp, body) => void seen.push([type, timestamp, ...body]),
    metadata: (values) => void seen.push(["metadata", { ...values }]),
    unpublished: () => void seen.push("unpublished"),
    finished: () => void seen.push("finished"),
    randomBytes: (count) => new Uint8Array(count).fill(5),
  };
  const session = new PublisherSession(owner);
  /** The commands that the session has sent, as values. */
  const commands = () => {
    const reader = new ChunkReader(AFTER_KEY);
    const all: unknown[] = [];
    reader.read(join(sent).subarray(HANDSHAKE_REPLY), ({ type, body }) => void (type === 20 && all.push(readAmf(body))));
    return all;
  };
  const receive = (...parts: readonly Uint8Array[]) => session.received(join(parts));
  return { session, sent, seen, commands, receive };
}

test("RTMP: an encoder shakes hands, connects, and asks to publish with its key", () => {
  const { seen, sent, commands, receive, session } = open();
  for (const byte of join(publishing("a-key"))) receive(Uint8Array.of(byte));
  expect(seen).toEqual([["asked", "a-key"]]);
  expect(join(sent).slice(0, 1)).toEqual(Uint8Array.of(3));
  expect(commands()).toEqual([
    ["_result", 1, expect.anything(), expect.objectContaining({ level: "status", code: "NetConnection.Connect.Success" })],
    ["_result", 2, null, undefined],
    ["_result", 3, null, undefined],
    ["_result", 4, null, 1],
  ]);
  session.admit();
  expect(commands().at(-1)).toMatchObject(["onStatus", 0, null, { level: "status", code: "NetStream.Publish.Start" }]);
});

test("RTMP: media of an admitted publisher is passed on, and before that dropped", () => {
  const { seen, receive, session } = open();
  receive(...publishing("k"), media("video", 0, Uint8Array.of(9)));
  session.admit();
  const metadata = [2, 0, 13, ...Buffer.from("@setDataFrame"), 2, 0, 10, ...Buffer.from("onMetaData"), 3, 0, 1, 119, 1, 1, 0, 0, 9];
  receive(join(chunked({ chunkStream: 4, type: 18, stream: 1, timestamp: 0, body: Uint8Array.from(metadata) })));
  receive(media("video", 40, Uint8Array.of(1, 2)), media("audio", 41, Uint8Array.of(3)));
  expect(seen.slice(1)).toEqual([
    ["metadata", { w: true }],
    ["video", 40, 1, 2],
    ["audio", 41, 3],
  ]);
  receive(command(["deleteStream", 6, null, 1]));
  expect(seen.slice(-2)).toEqual(["unpublished", "finished"]);
});

test("RTMP: an unknown key is refused with NetStream.Publish.BadName, and the connection ends", () => {
  const { seen, commands, receive, session } = open();
  receive(...publishing("wrong?query"));
  expect(seen).toEqual([["asked", "wrong"]]);
  session.refuse("key", "Unknown stream key");
  expect(commands().at(-1)).toEqual(["onStatus", 0, null, { level: "error", code: "NetStream.Publish.BadName", description: "Unknown stream key" }]);
  receive(media("video", 0, Uint8Array.of(1)));
  expect(seen.slice(1)).toEqual(["end"]);
});

test("RTMP: an invalid key, another application, and playing are refused in RTMP's own words", () => {
  const refusals: [Uint8Array[], string][] = [
    [[...publishing("x").slice(0, 5), command(["publish", 5, null, 7, "live"], 1)], "NetStream.Publish.BadName"],
    [publishing("k".repeat(257)), "NetStream.Publish.BadName"],
    [publishing("k", "other"), "NetConnection.Connect.InvalidApp"],
    [[...publishing("x").slice(0, 5), command(["play", 0, null, "x"], 1)], "NetStream.Play.Failed"],
  ];
  for (const [parts, code] of refusals) {
    const { seen, commands, receive } = open();
    receive(...parts);
    expect(commands().at(-1)).toContainEqual(expect.objectContaining({ level: "error", code }));
    expect(seen).toEqual(["end"]);
  }
});

test("RTMP: anything that no encoder sends ends the connection", () => {
  const connect = publishing("k")[1] as Uint8Array;
  const hostile: Uint8Array[][] = [
    [Uint8Array.of(6, 1, 2)],
    [Uint8Array.from(Buffer.from("GET / HTTP/1.1\r\n\r\n"))],
    [handshake(), command(["createStream", 1, null])],
    [handshake(), connect, connect],
    [handshake(), command([1, 2])],
    [handshake(), command(["connect", 1, "live"])],
    [handshake(), connect, command(["publish", 2, null, "k"], 1)],
    [handshake(), connect, ...Array.from({ length: 40 }, () => command(["x", 0, null]))],
    [...publishing("k"), publishing("k")[5] as Uint8Array],
    [handshake(), join(chunked({ chunkStream: 3, type: 20, stream: 0, timestamp: 0, body: Uint8Array.of(2, 0, 50, 1) }))],
  ];
  for (const parts of hostile) expect(() => open().receive(...parts)).toThrow(RtmpProblem);
});

test("RTMP: a ping gets its pong, and received bytes are acknowledged", () => {
  const { sent, receive, session } = open();
  receive(...publishing("k"));
  session.admit();
  const control = (type: number, body: number[]) => join(chunked({ chunkStream: 2, type, stream: 0, timestamp: 0, body: Uint8Array.from(body) }));
  receive(control(4, [0, 6, 1, 2, 3, 4]));
  expect(sent.at(-1)?.slice(-6)).toEqual(Uint8Array.of(0, 7, 1, 2, 3, 4));
  receive(control(5, [0, 0, 0, 200]));
  receive(new Uint8Array(media("video", 0, new Uint8Array(300))));
  // The acknowledgement has the message type 3 in its header.
  expect(sent.at(-1)?.[7]).toBe(3);
});

const LONG = 0x01_00_00_00;
const longVideo = chunked({ chunkStream: 6, type: 9, stream: 1, timestamp: LONG, body: new Uint8Array(300).fill(1) });
const [hello, connect, , , create, publish] = publishing("k") as [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array];
const start = [hello, connect, create, publish];
const seenVideo = (timestamp: number, length: number, byte: number) => ["video", timestamp, ...new Uint8Array(length).fill(byte)];
const metadataBody = Uint8Array.from([2, 0, 10, ...Buffer.from("onMetaData"), 3, 0, 1, 119, 1, 1]);

/**
 * Byte sequences that encoders send although the specification does not allow them, each with the calls that the session's owner gets after the
 * stream key.
 */
const tolerances: Readonly<Record<string, readonly [parts: readonly Uint8Array[], seen: readonly unknown[]]>> = {
  "chunks of format 3 repeat an extended timestamp": [
    [...start, ...longVideo, media("video", 5, Uint8Array.of(2))],
    [seenVideo(LONG, 300, 1), ["video", 5, 2]],
  ],
  "chunks of format 3 leave an extended timestamp out": [
    [
      ...start,
      ...longVideo.map((chunk, i) => (i === 0 ? chunk : join([chunk.subarray(0, 1), chunk.subarray(5)]))),
      media("video", 5, Uint8Array.of(2)),
    ],
    [seenVideo(LONG, 300, 1), ["video", 5, 2]],
  ],
  "a key with a query, and an application with a slash": [
    [
      hello,
      publishing("k", "live/")[1] as Uint8Array,
      create,
      command(["publish", 5, null, "k?x=1", "live"], 1),
      media("video", 5, Uint8Array.of(2)),
    ],
    [["video", 5, 2]],
  ],
  "commands in the form of AMF3": [
    [
      ...[hello, connect, create],
      join(chunked({ chunkStream: 3, type: 17, stream: 1, timestamp: 0, body: join([Uint8Array.of(0), writeAmf(["publish", 5, null, "k"])]) })),
      media("audio", 7, Uint8Array.of(3)),
    ],
    [["audio", 7, 3]],
  ],
  "metadata whose object has no end, without @setDataFrame": [
    [...start, join(chunked({ chunkStream: 4, type: 18, stream: 1, timestamp: 0, body: metadataBody })), media("audio", 7, Uint8Array.of(3))],
    [
      ["metadata", { w: true }],
      ["audio", 7, 3],
    ],
  ],
  "a message that is begun and aborted": [
    [
      ...[...start, longVideo[0] as Uint8Array],
      join(chunked({ chunkStream: 2, type: 2, stream: 0, timestamp: 0, body: Uint8Array.of(0, 0, 0, 6) })),
      media("video", 5, Uint8Array.of(2)),
    ],
    [["video", 5, 2]],
  ],
  "a chunk stream that begins with format 1": [
    [...start, Uint8Array.of(0x42, 0, 0, 0, 0, 0, 6, 4, 0, 7, 0, 0, 0, 0), media("video", 5, Uint8Array.of(2))],
    [["video", 5, 2]],
  ],
  "an aggregate message without its last size": [
    [...start, aggregateOf([9, 8], 40, false)],
    [
      ["video", 40, 9],
      ["audio", 50, 8],
    ],
  ],
  "another chunk size in the middle, and chunk streams of two and three bytes": [
    [
      ...[...start, join(chunked({ chunkStream: 2, type: 1, stream: 0, timestamp: 0, body: Uint8Array.of(0, 0, 0, 9) }))],
      join(chunked({ chunkStream: 70, type: 9, stream: 1, timestamp: 5, body: new Uint8Array(40).fill(2) }, 9)),
      join(chunked({ chunkStream: 400, type: 8, stream: 1, timestamp: 6, body: new Uint8Array(30).fill(3) }, 9)),
    ],
    [seenVideo(5, 40, 2), ["audio", 6, ...new Uint8Array(30).fill(3)]],
  ],
};

test.each(Object.entries(tolerances))("RTMP, wherever the network cuts it in two: %s", (_, [parts, expected]) => {
  const bytes = join(parts);
  for (let at = hello.length - 1; at <= bytes.length; at++) {
    const { session, seen } = open(() => session.admit());
    session.received(bytes.subarray(0, at));
    // The session gets a copy of the bytes, because the network's buffer is reused.
    session.received(Buffer.from(bytes.subarray(at)));
    expect({ at, seen }).toEqual({ at, seen: [["asked", "k"], ...expected] });
  }
});
