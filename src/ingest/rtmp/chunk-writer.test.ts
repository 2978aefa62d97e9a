import { expect, test } from "bun:test";
import { ChunkReader } from "./chunk-reader.ts";
import { chunksOf } from "./chunk-writer.ts";
import type { Message } from "./message.ts";

test("section 5.3.1: a message has a complete header, and another byte before every further 128 bytes", () => {
  for (const [length, more] of [
    [0, 0],
    [1, 0],
    [128, 0],
    [129, 1],
    [256, 1],
    [257, 2],
    [300, 2],
  ] as const) {
    const body = Uint8Array.from({ length }, (_, at) => at & 0x7f);
    const bytes = chunksOf(2, { type: 20, stream: 0x0102, timestamp: 0x0a_0b_0d, body });
    expect([...bytes.subarray(0, 12)]).toEqual([2, 0x0a, 0x0b, 0x0d, 0, length >> 8, length & 0xff, 20, 2, 1, 0, 0]);
    const parts = Array.from({ length: more + 1 }, (_, part) => [...(part === 0 ? [] : [0xc2]), ...body.subarray(part * 128, part * 128 + 128)]);
    expect([...bytes.subarray(12)]).toEqual(parts.flat());
  }
});

test("section 5.3.1.3: a time that does not fit into three bytes follows the header of each chunk", () => {
  for (const timestamp of [0xff_ff_fe, 0xff_ff_ff, 2 ** 32 - 1])
    for (const chunkBytes of [128, 4_096]) {
      const message = { type: 9, stream: 1, timestamp, body: Uint8Array.from({ length: 5_000 }, (_, at) => at % 251) };
      const reader = new ChunkReader({ messageBytesMax: 10_000 });
      reader.setChunkBytes(chunkBytes);
      const read: Message[] = [];
      reader.read(chunksOf(6, message, chunkBytes), (one) => void read.push(one));
      expect(read).toEqual([message]);
    }
});
