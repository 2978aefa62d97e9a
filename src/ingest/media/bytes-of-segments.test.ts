/**
 * Every byte of what players are given: its length and the beginning of its digest. That ffmpeg and browsers read such segments as they were meant
 * is shown by other tests; here no byte may change unseen. The author of a change on purpose plays a stream first.
 */
import { expect, test } from "bun:test";
import { AVC_CONFIG, OPUS_HEAD, OPUS_PACKET } from "#harness/live/websocket";
import { readAacConfig } from "./aac.ts";
import type { Container } from "./container.ts";
import { readAudioTag, readVideoTag } from "./flv.ts";
import { FragmentedMp4 } from "./fragmented-mp4.ts";
import { readVideoConfig } from "./h264.ts";
import { opusSamples, readOpusConfig } from "./opus.ts";
import type { AudioConfig } from "./packets.ts";
import { TransportStream } from "./transport-stream.ts";

const video = readVideoConfig(AVC_CONFIG);
const opus = readOpusConfig(OPUS_HEAD);
const [mono, stereo] = ["1208", "1190"].map((hex) => readAacConfig(Buffer.from(hex, "hex")));

/** A NAL unit behind its length, of bytes that differ from each other. */
const unitOf = (size: number): Uint8Array => {
  const unit = Buffer.alloc(size + 4, 0x65);
  unit.writeUInt32BE(size);
  for (let at = 5; at < unit.length; at++) unit[at] = at % 251;
  return unit;
};

/** Two segments: pictures large and small, shown later than decoded, late and with gaps, and sound that begins with the second picture. */
function segmentsOf(container: Container, config: AudioConfig, frame: Uint8Array): (Uint8Array | undefined)[] {
  const parts: (Uint8Array | undefined)[] = [];
  for (const beginMs of [0, 100_000_000]) {
    for (const [at, size] of [700, 157, 331, 330, 329, 175, 4_000, 10].entries()) {
      const decodeMs = beginMs + at * 40;
      container.addPicture({ config: video, isKey: at === 0, decodeMs, showMs: decodeMs + (at % 3) * 40, bytes: unitOf(size) });
      if (at > 0) container.addSound({ config, ms: decodeMs + (at > 4 ? 500 : 0), frames: at % 2 === 0 ? [frame] : [frame, frame] });
    }
    const { head, bytes } = container.take(beginMs + 400, false);
    parts.push(head, bytes);
  }
  return parts;
}

const digestsOf = (parts: readonly (Uint8Array | undefined)[]): string[] =>
  parts.map((part) => (part === undefined ? "none" : `${part.length} ${Bun.CryptoHasher.hash("sha256", part, "hex").slice(0, 16)}`));

test("of a transport stream", () => {
  expect(digestsOf(segmentsOf(new TransportStream(), mono as AudioConfig, Buffer.from("211004608c1c", "hex")))).toEqual([
    "none",
    "8836 5b8e0af6de05da4a",
    "none",
    "8836 ed2d3335544a4722",
  ]);
  // Sound of the largest length that its field can say, and beyond that of none; and more than the first buffer holds.
  const large = new TransportStream();
  large.addPicture({ config: video, isKey: true, decodeMs: 0, showMs: 0, bytes: unitOf(300_000) });
  large.addSound({ config: stereo as AudioConfig, ms: 5, frames: new Array<Uint8Array>(9).fill(new Uint8Array(8_000).fill(7)) });
  // With the headers of the frames, and three bytes and a time before them.
  const frames = [...new Array<number>(7).fill(8_184), 8_183].map((size) => new Uint8Array(size).fill(9));
  large.addSound({ config: stereo as AudioConfig, ms: 40, frames });
  large.addSound({ config: stereo as AudioConfig, ms: 50, frames: [new Uint8Array(155), new Uint8Array(0)] });
  expect(digestsOf([large.take().bytes])).toEqual(["448004 340228c95d45474a"]);
});

test("of fragments of MP4, with Opus and with AAC", () => {
  expect(digestsOf(segmentsOf(new FragmentedMp4(), opus, OPUS_PACKET))).toEqual([
    "1053 ef8b07a177403f7c",
    "6781 97892e7243474e56",
    "1053 ef8b07a177403f7c",
    "17462 72a71aa20f372b72",
  ]);
  const fast = { ...(stereo as AudioConfig), sampleRate: 96_000 } as AudioConfig;
  expect(digestsOf(segmentsOf(new FragmentedMp4(), mono as AudioConfig, Buffer.from("211004608c1c", "hex")))).toEqual([
    "1073 810341351267d0f6",
    "6806 33dd368035233fe5",
    "1073 810341351267d0f6",
    "16850 c8591b8642237f4c",
  ]);
  expect(digestsOf(segmentsOf(new FragmentedMp4(), fast, Buffer.from("211004608c1c", "hex")))).toEqual([
    "1073 297283215ed64f57",
    "7346 b8a1b67661f5be0f",
    "1073 297283215ed64f57",
    "32756 31842a4a811e43a2",
  ]);
});

test("a message of video is a configuration, a picture with its time of showing, or nothing that is shown", () => {
  const read = (hex: string) => readVideoTag(Buffer.from(hex, "hex"));
  expect(read("170000000001")).toMatchObject({ kind: "config", bytes: Uint8Array.of(1) });
  expect(read("1700000000")).toMatchObject({ kind: "config" });
  expect(read("1701010203aa")).toEqual({ kind: "frame", isKey: true, compositionMs: 0x010203, bytes: Buffer.from("aa", "hex") });
  expect(read("2701ffffff00bb")).toMatchObject({ isKey: false, compositionMs: -1 });
  for (const nothing of ["", "17", "17010000", "1701000000", "1702000000aa", "5701000000aa", "57"]) expect(read(nothing)).toBeUndefined();
  for (const wrong of ["12", "97010000", "1801000000aa"]) expect(() => read(wrong)).toThrow("the video is not H.264");
});

test("a message of sound is a configuration, a frame, or nothing that is heard", () => {
  const read = (hex: string) => readAudioTag(Buffer.from(hex, "hex"));
  expect(read("af001208")).toMatchObject({ kind: "config", config: { sampleRate: 44_100, channels: 1 } });
  expect(read("af01aa")).toEqual({ kind: "frame", bytes: Buffer.from("aa", "hex") });
  for (const nothing of ["", "af", "af01", "af02aa"]) expect(read(nothing)).toBeUndefined();
  expect(() => read("2f01aa")).toThrow("the audio is not AAC");
});

test("RFC 6716, table 2: how long each of the 32 configurations of Opus is, in packets of one, two and counted frames", () => {
  const lengths = [
    480,
    960,
    1920,
    2880,
    480,
    960,
    1920,
    2880,
    480,
    960,
    1920,
    2880,
    480,
    960,
    480,
    960,
    ...[1, 2, 3, 4].flatMap(() => [120, 240, 480, 960]),
  ];
  const samples = (code: number, count = 1) => lengths.map((_, at) => opusSamples(Uint8Array.of((at << 3) | code, count)));
  expect([samples(0), samples(1), samples(2), samples(3, 0x82)]).toEqual([1, 2, 2, 2].map((frames) => lengths.map((length) => frames * length)));
  expect(opusSamples(new Uint8Array())).toBe(480);
  // 120 ms at most, and a first byte at least.
  expect(opusSamples(Uint8Array.of(0xfb, 6))).toBe(5_760);
  for (const wrong of [[0xfb, 7], [0xfb, 0], [0xfb]]) expect(() => opusSamples(Uint8Array.from(wrong))).toThrow("a packet of the sound is not Opus");
});

test("RFC 7845, 5.1: the header of Opus names one or two channels, what is skipped, and the gain with its sign", () => {
  const header = (change: readonly [at: number, byte: number][] = []) => {
    const bytes = Uint8Array.from(OPUS_HEAD);
    for (const [at, byte] of change) bytes[at] = byte;
    return bytes;
  };
  expect(
    readOpusConfig(
      header([
        [9, 2],
        [10, 1],
        [11, 2],
        [16, 0xfe],
        [17, 0xff],
      ]),
    ),
  ).toMatchObject({ channels: 2, preSkip: 0x201, gain: -2 });
  for (const [at, byte] of [
    [9, 0],
    [9, 3],
    [18, 1],
    [0, 0],
    [7, 0],
  ] as const)
    expect(() => readOpusConfig(header([[at, byte]]))).toThrow("the Opus header");
});
