/** Writes messages of RTMP as chunks. The first chunk of a message has a complete header. */
import type { Message } from "./message.ts";

/** The size of chunks unless the sender sets another size. Plaza's RTMP server does not set another chunk size. */
const CHUNK_BYTES = 128;
/** Section 5.3.1.3: a time of at least this number of ms is written into four bytes after the header. */
const EXTENDED_TIME = 0xff_ff_ff;

/**
 * Writes a message as chunks. `chunkStream` is 2 for control messages, 3 for commands, and at most 63. `chunkBytes` is the chunk size that the sender
 * has set.
 */
export function chunksOf(chunkStream: number, { type, stream, timestamp, body }: Message, chunkBytes = CHUNK_BYTES): Uint8Array {
  const chunkCount = Math.max(1, Math.ceil(body.length / chunkBytes));
  const timeBytes = timestamp < EXTENDED_TIME ? 0 : 4;
  const bytes = new Uint8Array(12 + timeBytes + body.length + (chunkCount - 1) * (1 + timeBytes));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, (chunkStream << 24) | Math.min(timestamp, EXTENDED_TIME));
  view.setUint32(4, (body.length << 8) | type);
  view.setUint32(8, stream, true);
  if (timeBytes > 0) view.setUint32(12, timestamp);
  let at = 12 + timeBytes;
  for (let from = 0; from < body.length; from += chunkBytes) {
    if (from > 0) {
      bytes[at++] = 0xc0 | chunkStream;
      if (timeBytes > 0) view.setUint32(at, timestamp);
      at += timeBytes;
    }
    const part = body.subarray(from, from + chunkBytes);
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
