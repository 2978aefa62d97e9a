/** Tests how Plaza parses the bytes that encoders send: FLV tags (file format 10.1, annex E.4), numbers that are coded in bits, and times. */
import { expect, test } from "bun:test";
import { BitReader, MediaProblem } from "./bits.ts";
import { readAudioTag, readVideoTag } from "./packets.ts";

const video = (...bytes: number[]) => readVideoTag(Uint8Array.from(bytes));
const audio = (...bytes: number[]) => readAudioTag(Uint8Array.from(bytes));

test("a video tag is the decoder's configuration, or a picture that is a key frame or not", () => {
  expect(video(0x17, 0, 0, 0, 0, 1, 2)).toEqual({ kind: "config", bytes: Uint8Array.of(1, 2) });
  expect(video(0x17, 0, 0, 0, 0)).toEqual({ kind: "config", bytes: new Uint8Array() });
  expect(video(0x17, 1, 0, 0, 0, 9)).toEqual({ kind: "frame", isKey: true, compositionMs: 0, bytes: Uint8Array.of(9) });
  expect(video(0x27, 1, 0, 0, 40, 9, 8)).toEqual({ kind: "frame", isKey: false, compositionMs: 40, bytes: Uint8Array.of(9, 8) });
});

test("a picture's presentation offset has 24 bits with a sign", () => {
  const compositionMs = (...time: [number, number, number]) => {
    const packet = video(0x27, 1, ...time, 9);
    return packet?.kind === "frame" ? packet.compositionMs : undefined;
  };
  expect([compositionMs(1, 2, 3), compositionMs(0x7f, 0xff, 0xff), compositionMs(0x80, 0, 0), compositionMs(0xff, 0xff, 0xfe)]).toEqual([
    ...[0x01_02_03, 8_388_607, -8_388_608, -2],
  ]);
});

test("tags without content are skipped: an empty or short tag, a server's command, an end", () => {
  for (const bytes of [[], [0x17, 1, 0, 0], [0x17, 0, 0, 0], [0x17, 1, 0, 0, 0], [0x57, 0, 0, 0, 0, 9], [0x57, 1, 0, 0, 0, 9], [0x17, 2, 0, 0, 0, 9]])
    expect({ bytes, packet: video(...bytes) }).toEqual({ bytes, packet: undefined });
  for (const bytes of [[], [0xaf], [0xaf, 1], [0xaf, 2, 9]]) expect({ bytes, packet: audio(...bytes) }).toEqual({ bytes, packet: undefined });
});

test("an audio tag is the decoder's configuration, or a frame", () => {
  expect(audio(0xaf, 0, 0x12, 0x10)).toMatchObject({ kind: "config", config: { sampleRate: 44_100, channels: 2 } });
  expect(audio(0xaf, 1, 5, 6)).toEqual({ kind: "frame", bytes: Uint8Array.of(5, 6) });
  expect(audio(0xa0, 1, 5)).toEqual({ kind: "frame", bytes: Uint8Array.of(5) });
});

/** A tag whose codec is named by four characters. */
const named = (first: number, codec: string, ...bytes: number[]) => [first, ...Buffer.from(codec), ...bytes];

test("another codec is refused with its name and the one to choose, however short its tag is", () => {
  const refusal = (read: () => unknown): string => {
    try {
      return `read ${JSON.stringify(read())}`;
    } catch (error) {
      if (error instanceof MediaProblem) return error.message;
      throw error;
    }
  };
  const videos = [
    [0x12],
    [0x12, 1, 0, 0, 0, 9],
    [0x24],
    [0x1c],
    [0x18],
    named(0x90, "hvc1"),
    named(0x91, "av01", 1),
    named(0x93, "vp09"),
    named(0x90, "x\0/é"),
  ];
  expect(videos.map((bytes) => refusal(() => video(...bytes)).replace(": choose H.264 (AVC) in the encoder", ""))).toEqual([
    ...[
      "the video is not H.264 but Sorenson H.263 (FLV1)",
      "the video is not H.264 but Sorenson H.263 (FLV1)",
      "the video is not H.264 but VP6",
      "the video is not H.264 but HEVC (H.265)",
    ],
    ...[
      "the video is not H.264 but the unknown codec 8",
      "the video is not H.264 but HEVC (H.265)",
      "the video is not H.264 but AV1",
      "the video is not H.264 but VP9",
      "the video is not H.264 but an unknown codec",
    ],
  ]);
  const audios = [[0x2f], [0x2f, 1, 9], [0xbf], [0x0f], [0xcf], named(0x90, "Opus"), named(0x91, ".mp3", 1), named(0x91, "abcd")];
  expect(audios.map((bytes) => refusal(() => audio(...bytes)).replace(": choose AAC in the encoder", ""))).toEqual([
    ...[
      "the audio is not AAC but MP3",
      "the audio is not AAC but MP3",
      "the audio is not AAC but Speex",
      "the audio is not AAC but PCM",
      "the audio is not AAC but the unknown codec 12",
    ],
    ...["the audio is not AAC but Opus", "the audio is not AAC but MP3", "the audio is not AAC but an unknown codec"],
  ]);
});

test("enhanced RTMP: avc1 and mp4a are H.264 and AAC, with and without a presentation time, after modifiers, and never as several tracks", () => {
  expect(video(...named(0x90, "avc1", 1, 2))).toEqual({ kind: "config", bytes: Uint8Array.of(1, 2) });
  expect(video(...named(0x91, "avc1", 0xff, 0xff, 0xfe, 9))).toEqual({ kind: "frame", isKey: true, compositionMs: -2, bytes: Uint8Array.of(9) });
  expect(video(...named(0xa3, "avc1", 9))).toEqual({ kind: "frame", isKey: false, compositionMs: 0, bytes: Uint8Array.of(9) });
  expect(audio(...named(0x90, "mp4a", 0x12, 0x10))).toMatchObject({ kind: "config", config: { sampleRate: 44_100, channels: 2 } });
  expect(audio(...named(0x91, "mp4a", 5, 6))).toEqual({ kind: "frame", bytes: Uint8Array.of(5, 6) });
  // The first tag has a modifier of three bytes, and the second tag has a modifier whose size has 16 bits.
  expect(video(0x97, 2, 1, 2, 3, 3, ...Buffer.from("avc1"), 9)).toMatchObject({ kind: "frame", bytes: Uint8Array.of(9) });
  expect(audio(0x97, 255, 1, 0, ...new Uint8Array(257), 1, ...Buffer.from("mp4a"), 5)).toMatchObject({ kind: "frame", bytes: Uint8Array.of(5) });
  for (const bytes of [
    [0x90],
    [0x97],
    [0x97, 9, 1],
    named(0x92, "avc1"),
    named(0x91, "avc1", 0, 0, 0),
    named(0xd1, "avc1", 1),
    [0x94, 1, 2, 3, 4, 5],
  ])
    expect({ bytes, packet: video(...bytes) }).toEqual({ bytes, packet: undefined });
  for (const bytes of [[0x91], [0x97, 255], named(0x92, "mp4a"), named(0x91, "mp4a")])
    expect({ bytes, packet: audio(...bytes) }).toEqual({ bytes, packet: undefined });
  expect(() => video(...named(0x96, "avc1", 0))).toThrow("several tracks");
  expect(() => audio(...named(0x95, "mp4a", 0))).toThrow("several tracks");
});

test("bits are read from the highest to the lowest, across bytes, and zeros follow the end", () => {
  const reader = new BitReader(Uint8Array.of(0b1010_0110, 0b1100_0001));
  expect([reader.bits(3), reader.bits(6), reader.bits(0), reader.isPastEnd]).toEqual([0b101, 0b001101, 0, false]);
  reader.skip(6);
  expect([reader.bits(1), reader.isPastEnd]).toEqual([1, false]);
  expect([reader.bits(1), reader.isPastEnd, reader.bits(2)]).toEqual([0, true, 0]);
  expect(new BitReader(Uint8Array.of(0xff, 0xff, 0xff, 0xfe)).bits(32)).toBe(0xff_ff_ff_fe);
});

test("H.264, 9.1: numbers have as many bits as leading zeros, without and with a sign", () => {
  // The bytes contain the Exp-Golomb numbers 1, 010, 011, 00100, 00111 and 0001000.
  const bytes = Uint8Array.of(0b1010_0110, 0b0100_0011, 0b1000_1000);
  const unsigned = new BitReader(bytes);
  expect(Array.from({ length: 6 }, () => unsigned.unsigned())).toEqual([0, 1, 2, 3, 6, 7]);
  const signed = new BitReader(bytes);
  expect(Array.from({ length: 6 }, () => signed.signed() + 0)).toEqual([0, 1, -1, 2, -3, 4]);
});

test("a number after 31 zeros is the largest; more zeros are not a number", () => {
  expect(new BitReader(Uint8Array.of(0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe)).unsigned()).toBe(2 ** 32 - 2);
  expect(new BitReader(Uint8Array.of(0, 0, 0, 0, 0x80, 0, 0, 0, 0)).unsigned()).toBe(0);
  // The reader stops at the end of the data, even if it has found no bit 1.
  expect(new BitReader(new Uint8Array()).unsigned()).toBe(0);
});
