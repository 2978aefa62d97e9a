import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { aggregateOf, chunked, command, handshake, join, media, publishing } from "#harness/live/rtmp";
import { RtmpProblem } from "./message.ts";
import { PublisherSession } from "./publisher-session.ts";

const STREAMS = 20_000;
/** The memory that may remain in use after all sessions have ended: less than 60 bytes for each stream. An open session uses at least 2 KiB. */
const GROWTH_BYTES_MAX = 1024 * 1024;

/** Random numbers that are the same in each run (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns random bytes, or the bytes of an encoder with some bytes changed, dropped or repeated. */
function hostileStream(random: () => number, honest: readonly Uint8Array[]): Uint8Array {
  const below = (limit: number) => Math.floor(random() * limit);
  const garbage = (length: number) => Uint8Array.from({ length }, () => below(256));
  if (random() < 0.1) return garbage(below(4000));
  const parts = honest.flatMap((part) => {
    const kind = random();
    if (kind < 0.05) return [];
    if (kind < 0.1) return [part, part];
    if (kind < 0.15) return [garbage(below(300))];
    if (kind < 0.2) return [part.subarray(0, below(part.length))];
    return [part];
  });
  const bytes = join([handshake(), ...parts]);
  for (let changes = below(6); changes > 0; changes--) bytes[below(bytes.length)] = below(256);
  return bytes;
}

test(`RTMP: ${STREAMS} hostile streams end, with or without a problem, and nothing of them stays`, () => {
  const random = numbers(14);
  const setSize = join(chunked({ chunkStream: 2, type: 1, stream: 0, timestamp: 0, body: Uint8Array.of(0, 0, 16, 0) }));
  const honest = [
    ...publishing("key").slice(1),
    media("video", 0, new Uint8Array(60)),
    media("audio", 5, new Uint8Array(20)),
    setSize,
    aggregateOf([8, 9, 18]),
    command(["FCUnpublish", 6, null, "key"]),
  ];
  let problems = 0;
  let admitted = 0;
  let heapBefore = 0;
  for (let i = 0; i < STREAMS; i++) {
    if (i === STREAMS / 10) heapBefore = heapBytes();
    const session: PublisherSession = new PublisherSession({
      ...{ send: () => {}, end: () => {}, media: () => {}, metadata: () => {}, unpublished: () => {}, finished: () => {} },
      publishAsked: () => {
        admitted++;
        session.admit();
      },
      randomBytes: (count) => new Uint8Array(count),
    });
    const bytes = hostileStream(random, honest);
    try {
      for (let at = 0; at < bytes.length; ) {
        const length = 1 + Math.floor(random() * 2000);
        session.received(bytes.subarray(at, at + length));
        at += length;
      }
    } catch (error) {
      if (!(error instanceof RtmpProblem)) throw error;
      problems++;
    }
  }
  expect(heapBytes() - heapBefore).toBeLessThan(GROWTH_BYTES_MAX);
  // The random streams reach all of the protocol: many streams are accepted and send media, and many are refused.
  expect({ problems: problems > STREAMS / 4, admitted: admitted > STREAMS / 10 }).toEqual({ problems: true, admitted: true });
});

/** Counts only referenced memory, because the memory of the process depends on earlier tests. */
function heapBytes(): number {
  Bun.gc(true);
  const { heapSize, extraMemorySize } = heapStats();
  return heapSize + extraMemorySize;
}
