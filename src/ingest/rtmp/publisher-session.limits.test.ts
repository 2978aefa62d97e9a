/** Tests the limits of an RTMP connection, and the messages that the peer receives. */
import { expect, test } from "bun:test";
import { aggregateOf, chunked, command, handshake, join, media, publishing } from "#harness/live/rtmp";
import { readAmf, writeAmf } from "./amf0.ts";
import { ChunkReader } from "./chunk-reader.ts";
import { AFTER_KEY } from "./message.ts";
import { PublisherSession } from "./publisher-session.ts";

const HANDSHAKE_REPLY = 1 + 2 * 1536;

function open() {
  const sent: Uint8Array[] = [];
  const seen: unknown[] = [];
  const session = new PublisherSession({
    send: (bytes) => void sent.push(bytes),
    end: () => void seen.push("end"),
    publishAsked: (key) => void seen.push(["asked", key]),
    media: (type, timestamp, body) => void seen.push([type, timestamp, body.length]),
    metadata: (values) => void seen.push({ ...values }),
    unpublished: () => void seen.push("unpublished"),
    finished: () => void seen.push("finished"),
    randomBytes: (count) => new Uint8Array(count),
  });
  const receive = (...parts: readonly Uint8Array[]) => session.received(join(parts));
  /** Returns all messages that the session has sent so far, with the commands as parsed values. */
  const messages = () => {
    const reader = new ChunkReader(AFTER_KEY);
    const all: { type: number; stream: number; says: unknown }[] = [];
    reader.read(
      join(sent).subarray(HANDSHAKE_REPLY),
      ({ type, stream, body }) => void all.push({ type, stream, says: type === 20 ? readAmf(body) : [...body] }),
    );
    return all;
  };
  /** Returns the status in the session's newest command. */
  const status = () => {
    const says = messages().at(-1)?.says;
    return Array.isArray(says) ? says[3] : undefined;
  };
  const acknowledged = () => messages().flatMap(({ type, says }) => (type === 3 ? [Buffer.from(says as number[]).readUInt32BE()] : []));
  return { session, seen, receive, messages, status, acknowledged };
}

const [HELLO, CONNECT] = publishing("k") as [Uint8Array, Uint8Array];
const CREATE = command(["createStream", 4, null]);
const control = (type: number, ...body: number[]) => join(chunked({ chunkStream: 2, type, stream: 0, timestamp: 0, body: Uint8Array.from(body) }));

/** A session whose key was admitted. */
function admitted() {
  const one = open();
  one.receive(...publishing("k"));
  one.session.admit();
  one.seen.length = 0;
  return one;
}

test("a connection receives the window, then the confirmation; its stream has its own number", () => {
  const { session, receive, messages } = open();
  receive(HELLO, CONNECT, CREATE, CREATE, command(["publish", 5, null, "k"], 2));
  expect(session.isPublishing).toBe(false);
  session.admit();
  session.admit();
  expect(session.isPublishing).toBe(true);
  const window = [0, 0x26, 0x25, 0xa0];
  expect(messages().map(({ type, stream, says }) => [type, stream, type === 20 ? (says as unknown[])[0] : says])).toEqual([
    ...[
      [5, 0, window],
      [6, 0, [...window, 2]],
      [20, 0, "_result"],
      [20, 0, "_result"],
      [20, 0, "_result"],
    ],
    ...[
      [4, 0, [0, 0, 0, 0, 0, 2]],
      [20, 2, "onStatus"],
    ],
  ] as never);
  expect(messages().flatMap(({ says }) => ((says as unknown[])[0] === "_result" ? [(says as unknown[]).slice(1)] : []))).toEqual([
    [1, { fmsVer: "FMS/3,0,1,123", capabilities: 31 }, expect.objectContaining({ objectEncoding: 0 })],
    [4, null, 1],
    [4, null, 2],
  ] as never);
});

test("eight streams, a key of 256 characters and 32 commands before it are allowed, and not one more", () => {
  const streams = open();
  streams.receive(HELLO, CONNECT, ...Array.from({ length: 8 }, () => CREATE));
  expect(() => streams.receive(CREATE)).toThrow("the encoder created too many streams");
  const key = "k".repeat(256);
  const { seen, receive } = open();
  receive(...publishing(key));
  expect(seen).toEqual([["asked", key]]);
  const commands = open();
  commands.receive(HELLO, CONNECT, ...Array.from({ length: 31 }, () => command(["x", 0, null])));
  expect(() => commands.receive(command(["x", 0, null]))).toThrow("too many commands");
  // After its key is admitted, a publisher may send any number of commands.
  const after = admitted();
  after.receive(...Array.from({ length: 50 }, () => command(["x", 0, null])));
  expect(after.seen).toEqual([]);
});

test("only a created stream is published, once, and a key is text that is not empty", () => {
  for (const stream of [0, 2, 3]) {
    const { receive } = open();
    expect(() => receive(HELLO, CONNECT, CREATE, command(["publish", 5, null, "k"], stream))).toThrow("did not create");
  }
  for (const key of ["", 7, null]) {
    const { seen, receive, messages } = open();
    receive(HELLO, CONNECT, CREATE, command(["publish", 5, null, key], 1));
    expect([seen, messages().at(-1)?.says]).toEqual([["end"], expect.arrayContaining(["onStatus"])]);
    // After the refusal, the session sends no further messages to the peer.
    const count = messages().length;
    receive(CREATE);
    expect(messages()).toHaveLength(count);
  }
  const { seen, receive } = open();
  receive(HELLO, command(["connect", 1, { app: "live/" }]), CREATE, command(["publish", 5, null, "k?a=b?c"], 1));
  expect(seen).toEqual([["asked", "k"]]);
});

test("an unknown command is refused if it wants a response, and an end before the beginning is ignored", () => {
  const { seen, receive, messages } = open();
  receive(HELLO, CONNECT);
  const before = messages().length;
  receive(command(["getStreamLength", 0, null]), command(["FCUnpublish", 3, null, "k"]), command(["closeStream", 0, null]));
  expect([messages().length, seen]).toEqual([before, []]);
  for (const wrong of [[1, 2], ["x", "y"], ["x"], []]) expect(() => receive(command(wrong))).toThrow("has no name or no transaction number");
  receive(command(["getStreamLength", 9, null]));
  expect(messages().at(-1)?.says).toEqual(["_error", 9, null, expect.objectContaining({ code: "NetConnection.Call.Failed" })] as never);
});

test("commands may have the form of AMF3, and each of the three words ends the stream once; FCUnpublish leaves the connection open", () => {
  const amf3 = (values: Parameters<typeof writeAmf>[0]) =>
    join(chunked({ chunkStream: 3, type: 17, stream: 0, timestamp: 0, body: join([Uint8Array.of(0), writeAmf(values)]) }));
  for (const word of ["FCUnpublish", "deleteStream", "closeStream"]) {
    const { seen, receive, status, session } = admitted();
    receive(amf3([word, 0, null]));
    receive(command([word, 0, null]));
    expect([seen, session.isPublishing]).toEqual([word === "FCUnpublish" ? ["unpublished"] : ["unpublished", "finished"], false]);
    // The session drops media that arrive after the end of the stream.
    receive(media("video", 0, Uint8Array.of(9)), command(["deleteStream", 0, null, 1]), command(["deleteStream", 0, null, 1]));
    expect(seen).toEqual(["unpublished", "finished"]);
    session.refuse("feed", "too late");
    session.admit();
    expect([seen.length, session.isPublishing]).toEqual([2, false]);
    expect(status()).toMatchObject({ level: "status", code: "NetStream.Unpublish.Success" });
  }
  // The server may end the session while it waits for `deleteStream`.
  const waiting = admitted();
  waiting.receive(command(["FCUnpublish", 6, null, "k"]));
  waiting.session.refuse("feed", "the server ends");
  expect([waiting.seen, waiting.status()]).toEqual([["unpublished", "end"], expect.objectContaining({ code: "NetStream.Unpublish.Success" })]);
});

test("section 7.1.6: an aggregate message is its parts, the first of which has its time; one that is cut off is refused", () => {
  for (const hasLastSize of [true, false]) {
    const { seen, receive } = admitted();
    receive(aggregateOf([9, 8, 9], 70_000, hasLastSize));
    expect(seen).toEqual([
      ["video", 70_000, 1],
      ["audio", 70_010, 1],
      ["video", 70_020, 1],
    ]);
  }
  const early = open();
  early.receive(...publishing("k"), aggregateOf([9]));
  expect(early.seen).toEqual([["asked", "k"]]);
  for (const body of [[9], [9, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1]]) {
    const cut = join(chunked({ chunkStream: 6, type: 22, stream: 1, timestamp: 0, body: Uint8Array.from(body) }));
    expect(() => admitted().receive(cut)).toThrow("an aggregate message is cut off");
  }
});

test("before its key is admitted a message has at most 16 KiB; then a picture may be large", () => {
  const large = media("video", 0, new Uint8Array(16_385));
  const early = open();
  early.receive(...publishing("k"), media("video", 0, new Uint8Array(16_384)));
  expect(() => early.receive(large)).toThrow("are allowed");
  const { seen, receive } = admitted();
  receive(large);
  expect(seen).toEqual([["video", 0, 16_385]]);
});

test("a refused feed has another word than a refused key", () => {
  const { seen, status, session } = admitted();
  session.refuse("feed", "The broadcast has ended");
  session.refuse("feed", "again");
  expect(seen).toEqual(["end"]);
  expect(status()).toEqual({
    ...{ level: "error", code: "NetStream.Publish.Failed", description: "The broadcast has ended" },
  });
});

test("metadata is read with or without its word, in both forms; media and data of another stream and other data are ignored", () => {
  const data = (type: number, stream: number, ...values: Parameters<typeof writeAmf>[0]) =>
    join(chunked({ chunkStream: 4, type, stream, timestamp: 0, body: join([...(type === 15 ? [Uint8Array.of(0)] : []), writeAmf(values)]) }));
  const { seen, receive } = admitted();
  receive(data(18, 1, "onMetaData", { a: 1 }), data(15, 1, "@setDataFrame", "onMetaData", { a: 2 }));
  expect(seen).toEqual([{ a: 1 }, { a: 2 }]);
  receive(data(18, 1, "onTextData", { a: 3 }), data(18, 1, "onMetaData", "text"), data(18, 1, "onMetaData", null), data(18, 1, "onMetaData", [1]));
  receive(data(18, 2, "onMetaData", { a: 4 }), join(chunked({ chunkStream: 6, type: 9, stream: 2, timestamp: 0, body: Uint8Array.of(1) })));
  receive(data(19, 1, "onMetaData", { a: 5 }));
  expect(seen).toHaveLength(2);
  receive(media("audio", 5, Uint8Array.of(1)), media("video", 6, Uint8Array.of(1, 2)));
  expect(seen.slice(2)).toEqual([
    ["audio", 5, 1],
    ["video", 6, 2],
  ]);
});

test("only a ping has a pong, of six bytes and with its number", () => {
  const { receive, messages } = admitted();
  const before = messages().length;
  receive(control(4, 0, 6, 1, 2, 3), control(4, 0, 6, 1, 2, 3, 4, 5), control(4, 0, 3, 1, 2, 3, 4));
  expect(messages()).toHaveLength(before);
  receive(control(4, 0, 6, 9, 8, 7, 6));
  expect(messages().at(-1)).toEqual({ type: 4, stream: 0, says: [0, 7, 9, 8, 7, 6] });
});

test("section 5.4.3: received bytes are acknowledged when the window is full, counted from the last time", () => {
  const { session, receive, acknowledged, seen } = open();
  // The number of received bytes includes the third part of the handshake, and all bytes after it.
  receive(handshake());
  const first = handshake().length;
  const setWindow = control(5, 0, 0, 0x10, 0);
  receive(CONNECT, setWindow);
  let received = first + CONNECT.length + setWindow.length;
  expect(acknowledged()).toEqual([]);
  const noise = control(3, 0, 0, 0, 0);
  const counts: number[] = [];
  while (counts.length < 2) {
    receive(noise);
    received += noise.length;
    if (acknowledged().length > counts.length) counts.push(received);
  }
  expect(acknowledged()).toEqual(counts);
  expect(counts[0]).toBeWithin(4_096, 4_096 + noise.length);
  expect((counts[1] as number) - (counts[0] as number)).toBeWithin(4_096, 4_096 + noise.length);
  // A window of 0 bytes counts as a window of one byte.
  receive(control(5, 0, 0, 0, 0));
  const count = acknowledged().length;
  receive(noise.subarray(0, 1));
  expect(acknowledged()).toHaveLength(count + 1);
  receive(noise.subarray(1));
  receive(command(["play", 0, null, "x"]));
  expect(seen).toEqual(["end"]);
  // The bytes that ended the connection are not acknowledged.
  expect(acknowledged()).toHaveLength(count + 2);
  expect(session.isPublishing).toBe(false);
});
