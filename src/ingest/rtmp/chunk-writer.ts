/** The bytes of this server's messages: few and short, so each begins with a whole header. */
import type { Message } from "./message.ts";

/** Until another size is set, which this server does not need. */
const CHUNK_BYTES = 128;

/** `chunkStream` is one of 2 to 63: 2 for control, 3 for commands. */
export function chunksOf(chunkStream: number, { type, stream, timestamp, body }: Message): Uint8Array {
  const chunkCount = Math.max(1, Math.ceil(body.length / CHUNK_BYTES));
  const bytes = new Uint8Array(12 + body.length + (chunkCount - 1));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, (chunkStream << 24) | (timestamp & 0xff_ff_ff));
  view.setUint32(4, (body.length << 8) | type);
  view.setUint32(8, stream, true);
  let at = 12;
  for (let from = 0; from < body.length; from += CHUNK_BYTES) {
    if (from > 0) bytes[at++] = 0xc0 | chunkStream;
    const part = body.subarray(from, from + CHUNK_BYTES);
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
