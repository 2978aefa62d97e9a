import { expect, test } from "bun:test";
import fc from "fast-check";
import { chunked, join } from "#harness/live/rtmp";
import { ChunkReader } from "./chunk-reader.ts";
import { AFTER_KEY, BEFORE_KEY, type Message, RtmpProblem } from "./message.ts";

/** Returns all messages that are complete in the bytes `parts`. */
function messagesOf(parts: readonly Uint8Array[], limits = AFTER_KEY): Message[] {
  const reader = new ChunkReader(limits);
  const messages: Message[] = [];
  for (const part of parts) reader.read(part, (message) => messages.push(message));
  return messages;
}

/** Cuts `bytes` into pieces at the given indexes. */
const cut = (bytes: Uint8Array, places: readonly number[]): Uint8Array[] => {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...ends].map((start, i) => bytes.slice(start, ends[i] ?? bytes.length));
};

const sent = fc.record({
  chunkStream: fc.constantFrom(3, 6, 63, 64, 319, 320, 65_599),
  type: fc.constantFrom(8, 9, 18, 20),
  stream: fc.nat(2 ** 32 - 1),
  timestamp: fc.oneof(fc.nat(100_000), fc.integer({ min: 0xff_ff_fe, max: 2 ** 32 - 1 })),
  body: fc.uint8Array({ maxLength: 1000 }),
});

test("chunks: messages arrive completely, at any cut of the network", () => {
  fc.assert(
    fc.property(fc.array(sent, { maxLength: 5 }), fc.integer({ min: 1, max: 700 }), fc.array(fc.nat(), { maxLength: 30 }), (all, size, places) => {
      const setSize = chunked({ chunkStream: 2, type: 1, stream: 0, timestamp: 0, body: Uint8Array.of(0, 0, size >> 8, size & 0xff) });
      const bytes = join([...setSize, ...all.flatMap((message) => chunked(message, size))]);
      expect(messagesOf(cut(bytes, places))).toEqual(all.map(({ chunkStream: _, ...message }) => message));
    }),
  );
});

test("chunks: messages of different chunk streams arrive interleaved", () => {
  const video = { chunkStream: 6, type: 9, stream: 1, timestamp: 5, body: new Uint8Array(500).fill(1) };
  const audio = { chunkStream: 4, type: 8, stream: 1, timestamp: 6, body: new Uint8Array(300).fill(2) };
  const [a, b] = [chunked(video), chunked(audio)];
  const woven = a.flatMap((chunk, i) => [chunk, ...(b[i] === undefined ? [] : [b[i]])]);
  expect(messagesOf(woven)).toEqual([audio, video].map(({ chunkStream: _, ...message }) => message));
});

test("chunks: shorter headers repeat the previous one, and add to its time", () => {
  const first = join(chunked({ chunkStream: 4, type: 8, stream: 1, timestamp: 1000, body: Uint8Array.of(1) }));
  const sameLength = Uint8Array.of(0x84, 0, 0, 23, 2);
  const sameAll = Uint8Array.of(0xc4, 3);
  const otherLength = Uint8Array.of(0x44, 0, 0, 10, 0, 0, 2, 8, 4, 5);
  expect(messagesOf([first, sameLength, sameAll, otherLength]).map(({ timestamp, body }) => [timestamp, ...body])).toEqual([
    [1000, 1],
    [1023, 2],
    [1046, 3],
    [1056, 4, 5],
  ]);
});

test("chunks: an abort drops the message that has begun", () => {
  const body = new Uint8Array(200).fill(7);
  const [begun] = chunked({ chunkStream: 6, type: 9, stream: 1, timestamp: 0, body });
  const abort = chunked({ chunkStream: 2, type: 2, stream: 0, timestamp: 0, body: Uint8Array.of(0, 0, 0, 6) });
  const next = { chunkStream: 6, type: 9, stream: 1, timestamp: 9, body: Uint8Array.of(1) };
  expect(messagesOf([begun as Uint8Array, ...abort, ...chunked(next)]).map(({ timestamp }) => timestamp)).toEqual([9]);
});

test("chunks: messages that would hold too much are refused", () => {
  const large = (chunkStream: number, length: number) =>
    Uint8Array.of(chunkStream, 0, 0, 0, length >> 16, (length >> 8) & 0xff, length & 0xff, 9, 1, 0, 0, 0);
  const limit = BEFORE_KEY.messageBytesMax;
  expect(() => messagesOf([large(6, limit + 1)], BEFORE_KEY)).toThrow(RtmpProblem);
  // A large length in a header uses no memory: the limit counts only the bytes that have arrived, of all streams together.
  const setSize = join(chunked({ chunkStream: 2, type: 1, stream: 0, timestamp: 0, body: Uint8Array.of(0, 0, 0x27, 0x10) }));
  const half = (chunkStream: number) => join([large(chunkStream, limit), new Uint8Array(10_000)]);
  expect(messagesOf([setSize, half(6)], BEFORE_KEY)).toEqual([]);
  expect(() => messagesOf([setSize, half(6), half(7)], BEFORE_KEY)).toThrow(RtmpProblem);
  // A message that arrives in many small chunks also uses only the memory for the bytes that have arrived.
  const small = (chunkStream: number, count: number) =>
    Array.from({ length: count }, (_, at) => join([at === 0 ? large(chunkStream, limit) : Uint8Array.of(0xc0 | chunkStream), new Uint8Array(128)]));
  expect(messagesOf([...small(6, 8), ...small(7, 8), ...small(8, 8)], BEFORE_KEY)).toEqual([]);
  const streams = Array.from({ length: 17 }, (_, i) =>
    join(chunked({ chunkStream: 3 + i, type: 8, stream: 0, timestamp: 0, body: Uint8Array.of(1) })),
  );
  expect(() => messagesOf(streams)).toThrow(RtmpProblem);
});

test("chunks: headers without a predecessor, and invalid sizes, are refused", () => {
  expect(() => messagesOf([Uint8Array.of(0xc6)])).toThrow(RtmpProblem);
  for (const size of [[0, 0, 0, 0], [0x80, 0, 0, 0], [1]])
    expect(() => messagesOf(chunked({ chunkStream: 2, type: 1, stream: 0, timestamp: 0, body: Uint8Array.from(size) }))).toThrow(RtmpProblem);
});

test("chunks: a message has the allowed size, sizes go from one byte to 31 bits, and sixteen chunk streams are allowed", () => {
  const limits = { messageBytesMax: 300 };
  const body = new Uint8Array(300).fill(3);
  const message = { chunkStream: 6, type: 9, stream: 1, timestamp: 7, body };
  expect(messagesOf(chunked(message), limits)).toHaveLength(1);
  expect(() => messagesOf(chunked({ ...message, body: new Uint8Array(301) }), limits)).toThrow(
    "a message has 301 bytes, and at most 300 are allowed",
  );
  const size = (bytes: number[]) => chunked({ chunkStream: 2, type: 1, stream: 0, timestamp: 0, body: Uint8Array.from(bytes) });
  expect(messagesOf([...size([0, 0, 0, 1]), ...chunked(message, 1)])).toHaveLength(1);
  expect(messagesOf([...size([0x7f, 0xff, 0xff, 0xff]), ...chunked(message, 300)])).toHaveLength(1);
  const streams = Array.from({ length: 16 }, (_, i) => join(chunked({ ...message, chunkStream: 3 + i, body: Uint8Array.of(1) })));
  expect(messagesOf(streams)).toHaveLength(16);
});

test("chunks: dropped and complete messages hold nothing, and an empty message is one", () => {
  const limits = { messageBytesMax: 10_000 };
  const begin = (chunkStream: number, timestamp: number) =>
    chunked({ chunkStream, type: 9, stream: 1, timestamp, body: new Uint8Array(6_000).fill(7) }, 5_000)[0] as Uint8Array;
  const size = chunked({ chunkStream: 2, type: 1, stream: 0, timestamp: 0, body: Uint8Array.of(0, 0, 0x13, 0x88) });
  const abort = (id: number) => chunked({ chunkStream: 2, type: 2, stream: 0, timestamp: 0, body: Uint8Array.of(0, 0, 0, id) });
  // Two incomplete messages are too large together. A single one is accepted after the other message was dropped or completed.
  expect(() => messagesOf([...size, begin(6, 0), begin(7, 0)], limits)).toThrow("the incomplete messages together have more than");
  expect(messagesOf([...size, begin(6, 0), ...abort(6), ...abort(6), ...abort(9), begin(7, 0)], limits)).toEqual([]);
  const whole = chunked({ chunkStream: 6, type: 9, stream: 1, timestamp: 0, body: new Uint8Array(6_000) }, 5_000);
  expect(messagesOf([...size, ...whole, ...whole, begin(7, 0)], limits)).toHaveLength(2);
  expect(messagesOf(chunked({ chunkStream: 6, type: 8, stream: 1, timestamp: 4, body: new Uint8Array() }))).toEqual([
    { type: 8, stream: 1, timestamp: 4, body: new Uint8Array() },
  ]);
});

test("chunks: a message inside another one of its chunk stream is refused, and so is a control message without its number", () => {
  const [begun] = chunked({ chunkStream: 6, type: 9, stream: 1, timestamp: 0, body: new Uint8Array(200) });
  const [next] = chunked({ chunkStream: 6, type: 9, stream: 1, timestamp: 0, body: Uint8Array.of(1) });
  expect(() => messagesOf([begun as Uint8Array, next as Uint8Array])).toThrow("before the previous message");
  expect(() => messagesOf(chunked({ chunkStream: 2, type: 2, stream: 0, timestamp: 0, body: Uint8Array.of(0, 0, 6) }))).toThrow("cut off");
});

test("chunks: an extended timestamp that format 3 omits is not looked for in the payload, at any cut of the network", () => {
  // The bytes are a message of 7 bytes in chunks of 4 bytes, whose second chunk does not repeat the extended timestamp, and then another message.
  const bytes = Buffer.from("06ffffff000007090100000001000000" + "01020304c6050607" + "06ffffff000007090100000001000000" + "0b0c0d0ec60f1011", "hex");
  for (let at = 0; at <= bytes.length; at++) {
    const reader = new ChunkReader(AFTER_KEY);
    reader.setChunkBytes(4);
    const bodies: number[][] = [];
    for (const part of [bytes.subarray(0, at), bytes.subarray(at)]) reader.read(part, ({ body }) => void bodies.push([...body]));
    expect({ at, bodies }).toEqual({
      at,
      bodies: [
        [1, 2, 3, 4, 5, 6, 7],
        [11, 12, 13, 14, 15, 16, 17],
      ],
    });
  }
});

test("chunks: later chunks of format 3 treat their extended timestamp like the first one, even if a payload begins like the time", () => {
  const LONG = 0x01_00_00_00;
  const first = (body: Uint8Array, repeats: boolean): Uint8Array[] => {
    const [head, ...rest] = chunked({ chunkStream: 6, type: 9, stream: 1, timestamp: LONG, body });
    return [head as Uint8Array, ...rest.map((chunk) => (repeats ? chunk : join([chunk.subarray(0, 1), chunk.subarray(5)])))];
  };
  const likeTime = Uint8Array.from({ length: 140 }, (_, at) => [1, 0, 0, 0][at % 4] as number);
  const bodies = (repeats: boolean, ...all: Uint8Array[]) => messagesOf(all.flatMap((body) => first(body, repeats))).map(({ body }) => [...body]);
  const other = new Uint8Array(140).fill(9);
  for (const repeats of [true, false]) expect(bodies(repeats, other, likeTime, other)).toEqual([[...other], [...likeTime], [...other]]);
});

test("chunks: a long time is repeated by each chunk or by none, and is added if the header is short", () => {
  const LONG = 0x01_00_00_00;
  const body = Uint8Array.from({ length: 140 }, (_, at) => at & 0x7f);
  const [first, second] = chunked({ chunkStream: 6, type: 9, stream: 1, timestamp: LONG, body }) as [Uint8Array, Uint8Array];
  const withoutTime = join([second.subarray(0, 1), second.subarray(5)]);
  for (const rest of [second, withoutTime]) expect(messagesOf([first, rest])).toEqual([{ type: 9, stream: 1, timestamp: LONG, body }]);
  // In a chunk of format 2, the four bytes of the extended timestamp contain the difference from the previous time.
  const later = Uint8Array.of(0x86, 0xff, 0xff, 0xff, 1, 0, 0, 2, ...body.subarray(0, 128));
  const again = Uint8Array.of(0xc6, 1, 0, 0, 2, ...body.subarray(128));
  expect(messagesOf([first, second, later, again]).map(({ timestamp }) => timestamp)).toEqual([LONG, LONG + 0x01_00_00_02]);
});
