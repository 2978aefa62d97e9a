/** Makes each message of an encoder as large as the limits allow, with a stream key and without a stream key. */
import { chunked, command, handshake, join, media, publishing } from "#harness/live/rtmp";
import { writeAmf } from "#ingest/rtmp/amf0";
import { AFTER_KEY, AMF_VALUES_MAX, CHUNK_STREAMS_MAX, COMMANDS_BEFORE_KEY_MAX } from "#ingest/rtmp/message";
import type { Load, Served } from "./load.ts";

const CHUNK_BYTES = 65_536;

const message = (type: number, body: Uint8Array, chunkBytes = 128, stream = 1, chunkStream = 6): Uint8Array =>
  join(chunked({ chunkStream, type, stream, timestamp: 0, body }, chunkBytes));
const setChunkBytes = (bytes: number): Uint8Array => {
  const body = Buffer.alloc(4);
  body.writeUInt32BE(bytes);
  return message(1, body, 128, 0, 2);
};
const many = (count: number, part: (at: number) => Uint8Array): Uint8Array => join(Array.from({ length: count }, (_, at) => part(at)));

function aggregate(parts: number): Uint8Array {
  const part = Buffer.from([8, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 12]);
  return Buffer.concat(Array.from({ length: parts }, () => part));
}

const properties = (count: number): Record<string, number> => Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, at]));
/** RTMP metadata with endlessly nested objects. */
const nested = (depth: number): Uint8Array => join([writeAmf(["@setDataFrame", "onMetaData"]), many(depth, () => Buffer.from([3, 0, 1, 97]))]);

type Shapes = Readonly<Record<string, () => Uint8Array>>;

/** The length of the longest message. */
const MESSAGE_BYTES = AFTER_KEY.messageBytesMax;

/** Messages that an encoder sends before its key is accepted. `bytes` is the length of each message. */
export const beforeKey = (bytes: number): Shapes => ({
  "only a handshake": handshake,
  zeros: () => new Uint8Array(bytes),
  "the most commands": () => join([handshake(), many(COMMANDS_BEFORE_KEY_MAX, (at) => command(["releaseStream", at, null, "k"]))]),
  "a command of the most values": () => join([handshake(), command(["connect", 1, properties(AMF_VALUES_MAX)])]),
  "a command of too many values": () =>
    join([handshake(), setChunkBytes(CHUNK_BYTES), message(20, writeAmf(["connect", 1, properties(Math.floor(bytes / 80))]), CHUNK_BYTES, 0, 3)]),
  "a nested command": () =>
    join([handshake(), setChunkBytes(CHUNK_BYTES), message(20, join([writeAmf(["connect", 1]), nested(Math.floor(bytes / 28))]), CHUNK_BYTES, 0, 3)]),
  "the longest message": () => join([handshake(), setChunkBytes(CHUNK_BYTES), message(20, new Uint8Array(bytes), CHUNK_BYTES, 0, 3)]),
  "chunks of one byte": () => join([handshake(), setChunkBytes(1), message(20, new Uint8Array(Math.floor(bytes / 80)), 1, 0, 3)]),
  "the most chunk sizes": () => join([handshake(), many(Math.floor(bytes / 160), () => setChunkBytes(128))]),
  "the most chunk streams": () =>
    join([handshake(), many(CHUNK_STREAMS_MAX + 1, (at) => message(20, new Uint8Array(100), 64, 0, 3 + at).subarray(0, 80))]),
  "a wrong key": () => join(publishing("wrong")),
});

/** Messages that an encoder sends after its key is accepted. */
export const afterKey = (bytes: number): Shapes => ({
  "metadata of the most values": () => message(18, writeAmf(["@setDataFrame", "onMetaData", properties(AMF_VALUES_MAX - 2)])),
  "nested metadata": () => message(18, nested(Math.floor(bytes / 400))),
  "the longest video message": () => join([setChunkBytes(CHUNK_BYTES), message(9, new Uint8Array(bytes), CHUNK_BYTES)]),
  "empty video messages": () => many(Math.floor(bytes / 160), () => media("video", 0, new Uint8Array(0))),
  "small audio messages": () => many(Math.floor(bytes / 160), (at) => media("audio", at, Uint8Array.of(0xaf, 1, 33))),
  "an aggregate of the most parts": () => join([setChunkBytes(CHUNK_BYTES), message(22, aggregate(Math.floor(bytes / 140)), CHUNK_BYTES)]),
  "start codes": () =>
    join([
      setChunkBytes(CHUNK_BYTES),
      message(9, Buffer.concat([Buffer.from([0x17, 1, 0, 0, 0]), Buffer.alloc(Math.floor(bytes / 8), Buffer.from([0, 0, 0, 1]))]), CHUNK_BYTES),
    ]),
  "a configuration of zeros": () =>
    join([
      setChunkBytes(CHUNK_BYTES),
      message(9, Buffer.concat([Buffer.from([0x17, 0, 0, 0, 0]), new Uint8Array(Math.floor(bytes / 8))]), CHUNK_BYTES),
    ]),
});

/** Sends the bytes. Resolves when the server has closed the connection or has read all bytes. */
function sendTo(server: Served, bytes: readonly Uint8Array[]): Promise<string> {
  const { port } = new URL(String(server.rtmp_url).replace("rtmp:", "http:"));
  return new Promise((resolve, reject) => {
    let waiting = bytes;
    const write = (socket: Bun.Socket): void => {
      while (waiting.length > 0) {
        const [first, ...rest] = waiting as [Uint8Array, ...Uint8Array[]];
        const written = socket.write(first);
        if (written < first.length) {
          waiting = [first.subarray(Math.max(0, written)), ...rest];
          return;
        }
        waiting = rest;
      }
      socket.end();
    };
    Bun.connect({
      hostname: "127.0.0.1",
      port: Number(port),
      socket: {
        open: write,
        drain: write,
        data: () => {},
        close: () => resolve("closed"),
        error: () => resolve("closed"),
        connectError: (_, error) => reject(error),
      },
    }).catch(reject);
  });
}

/** Returns the stream key of a new video. A video accepts one encoder at a time. */
async function newKey(server: Served): Promise<string> {
  const response = await fetch(`${server.base_url}/v25.0/2001/live_videos`, {
    method: "POST",
    headers: { authorization: "Bearer full-page", "content-type": "application/json" },
    body: JSON.stringify({ status: "LIVE_NOW" }),
  });
  return ((await response.json()) as { stream_key: string }).stream_key;
}

export const encoderLoads = (): Load[] => [
  ...Object.entries(beforeKey(MESSAGE_BYTES)).map(([shape, make]) => ({
    work: "encoder without a key",
    shape,
    send: (server: Served) => sendTo(server, [make()]),
  })),
  ...Object.entries(afterKey(MESSAGE_BYTES)).map(([shape, make]) => ({
    work: "encoder",
    shape,
    send: async (server: Served) => sendTo(server, [...publishing(await newKey(server)), make()]),
  })),
];
