/** Makes the bytes that an encoder sends to the RTMP port. */
import { writeAmf } from "#ingest/rtmp/amf0";

export interface SentMessage {
  readonly chunkStream: number;
  readonly type: number;
  readonly stream: number;
  readonly timestamp: number;
  readonly body: Uint8Array;
}

const HANDSHAKE_BYTES = 1536;

/** The client's messages of the RTMP handshake: C0, C1 and C2. */
export const handshake = (): Uint8Array => {
  const bytes = new Uint8Array(1 + 2 * HANDSHAKE_BYTES);
  bytes[0] = 3;
  return bytes;
};

export const join = (parts: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

/** An RTMP message in chunks: the first chunk has a whole header, the other chunks have format 3. */
export function chunked({ chunkStream, type, stream, timestamp, body }: SentMessage, chunkBytes = 128): Uint8Array[] {
  const time = Math.min(timestamp, 0xff_ff_ff);
  const extended = Buffer.alloc(timestamp >= 0xff_ff_ff ? 4 : 0);
  if (extended.length > 0) extended.writeUInt32BE(timestamp);
  const head = Buffer.alloc(11);
  head.writeUIntBE(time, 0, 3);
  head.writeUIntBE(body.length, 3, 3);
  head[6] = type;
  head.writeUInt32LE(stream, 7);
  const chunks = [Buffer.concat([basicHeader(0, chunkStream), head, extended, body.subarray(0, chunkBytes)])];
  for (let at = chunkBytes; at < body.length; at += chunkBytes)
    chunks.push(Buffer.concat([basicHeader(3, chunkStream), extended, body.subarray(at, at + chunkBytes)]));
  return chunks;
}

function basicHeader(format: number, chunkStream: number): Uint8Array {
  if (chunkStream < 64) return Uint8Array.of((format << 6) | chunkStream);
  if (chunkStream < 320) return Uint8Array.of(format << 6, chunkStream - 64);
  return Uint8Array.of((format << 6) | 1, (chunkStream - 64) & 0xff, (chunkStream - 64) >> 8);
}

export const command = (values: Parameters<typeof writeAmf>[0], stream = 0): Uint8Array =>
  join(chunked({ chunkStream: 3, type: 20, stream, timestamp: 0, body: writeAmf(values) }));

/** The messages that an encoder sends before media. */
export const publishing = (key: string, app = "live"): Uint8Array[] => [
  handshake(),
  command(["connect", 1, { app, type: "nonprivate", tcUrl: `rtmp://127.0.0.1/${app}` }]),
  command(["releaseStream", 2, null, key]),
  command(["FCPublish", 3, null, key]),
  command(["createStream", 4, null]),
  command(["publish", 5, null, key, "live"], 1),
];

export const media = (type: "audio" | "video", timestamp: number, body: Uint8Array): Uint8Array =>
  join(chunked({ chunkStream: type === "audio" ? 4 : 6, type: type === "audio" ? 8 : 9, stream: 1, timestamp, body }));

/**
 * An RTMP aggregate message with messages of these types in it, from 1,000 ms on and 10 ms apart. The body of each part of the aggregate message is
 * the part's type.
 */
export function aggregateOf(types: readonly number[], timestamp = 0, hasLastSize = true): Uint8Array {
  const parts = types.flatMap((type, i) => {
    const head = Buffer.from([type, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, type, 0, 0, 0, 12]);
    head.writeUIntBE(1_000 + 10 * i, 4, 3);
    return i < types.length - 1 || hasLastSize ? [head] : [head.subarray(0, -4)];
  });
  return join(chunked({ chunkStream: 6, type: 22, stream: 1, timestamp, body: join(parts) }));
}
