/**
 * The test checks every byte of segments, by comparing the lengths of the segments and the beginnings of their digests. Other tests show that ffmpeg
 * and browsers play segments; this test shows that no byte changes by mistake. Before you change the expected digests on purpose, play a stream.
 */
import { expect, test } from "bun:test";
import { VIDEO_CONFIG } from "#harness/live/connections";
import { type AacConfig, readAacConfig } from "./aac.ts";
import { readVideoConfig } from "./h264.ts";
import { readAudioTag, readVideoTag } from "./packets.ts";
import { TransportStream } from "./transport-stream.ts";

const video = readVideoConfig(VIDEO_CONFIG.subarray(5));
const [mono, stereo] = ["1208", "1190"].map((hex) => readAacConfig(Buffer.from(hex, "hex")));

/** A NAL unit, preceded by its length, with bytes that differ from each other. */
const unitOf = (size: number): Uint8Array => {
  const unit = Buffer.alloc(size + 4, 0x65);
  unit.writeUInt32BE(size);
  for (let at = 5; at < unit.length; at++) unit[at] = at % 251;
  return unit;
};

/**
 * Two segments with large and small pictures, some of which are shown later than they are decoded, and with sound that begins with the second picture
 * and has a gap.
 */
function segmentsOf(container: TransportStream, config: AacConfig, frame: Uint8Array): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (const beginMs of [0, 100_000_000]) {
    for (const [at, size] of [700, 157, 331, 330, 329, 175, 4_000, 10].entries()) {
      const decodeMs = beginMs + at * 40;
      container.addPicture({ config: video, isKey: at === 0, decodeMs, showMs: decodeMs + (at % 3) * 40, bytes: unitOf(size) });
      if (at > 0) container.addSound({ config, ms: decodeMs + (at > 4 ? 500 : 0), frames: at % 2 === 0 ? [frame] : [frame, frame] });
    }
    parts.push(container.take());
  }
  return parts;
}

const digestsOf = (parts: readonly Uint8Array[]): string[] =>
  parts.map((part) => `${part.length} ${Bun.CryptoHasher.hash("sha256", part, "hex").slice(0, 16)}`);

test("of a transport stream", () => {
  expect(digestsOf(segmentsOf(new TransportStream(), mono as AacConfig, Buffer.from("211004608c1c", "hex")))).toEqual([
    "8836 5b8e0af6de05da4a",
    "8836 ed2d3335544a4722",
  ]);
  // The segment has a sound packet of the greatest length that the length field can express, a longer sound packet, and more bytes than the first
  // buffer can hold.
  const large = new TransportStream();
  large.addPicture({ config: video, isKey: true, decodeMs: 0, showMs: 0, bytes: unitOf(300_000) });
  large.addSound({ config: stereo as AacConfig, ms: 5, frames: new Array<Uint8Array>(9).fill(new Uint8Array(8_000).fill(7)) });
  // The length of a sound packet includes the headers of the frames, and three bytes and a time that precede the frames.
  const frames = [...new Array<number>(7).fill(8_184), 8_183].map((size) => new Uint8Array(size).fill(9));
  large.addSound({ config: stereo as AacConfig, ms: 40, frames });
  large.addSound({ config: stereo as AacConfig, ms: 50, frames: [new Uint8Array(155), new Uint8Array(0)] });
  expect(digestsOf([large.take()])).toEqual(["448004 340228c95d45474a"]);
});

test("a video message is a configuration, a picture with its presentation time, or nothing", () => {
  const read = (hex: string) => readVideoTag(Buffer.from(hex, "hex"));
  expect(read("170000000001")).toMatchObject({ kind: "config", bytes: Uint8Array.of(1) });
  expect(read("1700000000")).toMatchObject({ kind: "config" });
  expect(read("1701010203aa")).toEqual({ kind: "frame", isKey: true, compositionMs: 0x010203, bytes: Buffer.from("aa", "hex") });
  expect(read("2701ffffff00bb")).toMatchObject({ isKey: false, compositionMs: -1 });
  for (const nothing of ["", "17", "17010000", "1701000000", "1702000000aa", "5701000000aa", "57"]) expect(read(nothing)).toBeUndefined();
  for (const wrong of ["12", "1801000000aa"]) expect(() => read(wrong)).toThrow("the video is not H.264");
});

test("an audio message is a configuration, a frame, or nothing", () => {
  const read = (hex: string) => readAudioTag(Buffer.from(hex, "hex"));
  expect(read("af001208")).toMatchObject({ kind: "config", config: { sampleRate: 44_100, channels: 1 } });
  expect(read("af01aa")).toEqual({ kind: "frame", bytes: Buffer.from("aa", "hex") });
  for (const nothing of ["", "af", "af01", "af02aa"]) expect(read(nothing)).toBeUndefined();
  expect(() => read("2f01aa")).toThrow("the audio is not AAC");
});
