/** What encoders send, byte by byte: tags of FLV (file format 10.1, annex E.4), numbers of bits, times. */
import { expect, test } from "bun:test";
import { BitReader, MediaProblem } from "./bits.ts";
import { StreamTime } from "./packager.ts";
import { readAudioTag, readVideoTag } from "./packets.ts";

const video = (...bytes: number[]) => readVideoTag(Uint8Array.from(bytes));
const audio = (...bytes: number[]) => readAudioTag(Uint8Array.from(bytes));

test("a video tag is the decoder's configuration, or a picture that is a key frame or none", () => {
  expect(video(0x17, 0, 0, 0, 0, 1, 2)).toEqual({ kind: "config", bytes: Uint8Array.of(1, 2) });
  expect(video(0x17, 0, 0, 0, 0)).toEqual({ kind: "config", bytes: new Uint8Array() });
  expect(video(0x17, 1, 0, 0, 0, 9)).toEqual({ kind: "frame", isKey: true, compositionMs: 0, bytes: Uint8Array.of(9) });
  expect(video(0x27, 1, 0, 0, 40, 9, 8)).toEqual({ kind: "frame", isKey: false, compositionMs: 40, bytes: Uint8Array.of(9, 8) });
});

test("a picture is shown later than it is decoded by 24 bits with a sign", () => {
  const compositionMs = (...time: [number, number, number]) => {
    const packet = video(0x27, 1, ...time, 9);
    return packet?.kind === "frame" ? packet.compositionMs : undefined;
  };
  expect([compositionMs(1, 2, 3), compositionMs(0x7f, 0xff, 0xff), compositionMs(0x80, 0, 0), compositionMs(0xff, 0xff, 0xfe)]).toEqual([
    ...[0x01_02_03, 8_388_607, -8_388_608, -2],
  ]);
});

test("what shows or sounds like nothing is passed over: an empty or short tag, a server's command, an end", () => {
  for (const bytes of [[], [0x17, 1, 0, 0], [0x17, 0, 0, 0], [0x17, 1, 0, 0, 0], [0x57, 0, 0, 0, 0, 9], [0x57, 1, 0, 0, 0, 9], [0x17, 2, 0, 0, 0, 9]])
    expect({ bytes, packet: video(...bytes) }).toEqual({ bytes, packet: undefined });
  for (const bytes of [[], [0xaf], [0xaf, 1], [0xaf, 2, 9]]) expect({ bytes, packet: audio(...bytes) }).toEqual({ bytes, packet: undefined });
});

test("an audio tag is the decoder's configuration, or a frame", () => {
  expect(audio(0xaf, 0, 0x12, 0x10)).toMatchObject({ kind: "config", config: { sampleRate: 44_100, channels: 2 } });
  expect(audio(0xaf, 1, 5, 6)).toEqual({ kind: "frame", bytes: Uint8Array.of(5, 6) });
  expect(audio(0xa0, 1, 5)).toEqual({ kind: "frame", bytes: Uint8Array.of(5) });
});

test("another codec is refused with the one to choose, also where four characters name it, and however short its tag is", () => {
  for (const first of [0x12, 0x22, 0x1c, 0x90, 0x97]) expect(() => video(first)).toThrow("choose H.264 (AVC) in the encoder");
  for (const first of [0x2f, 0x9f, 0xbf]) expect(() => audio(first)).toThrow("choose AAC in the encoder");
  expect(() => video(0x12, 1, 0, 0, 0, 9)).toThrow(MediaProblem);
  expect(() => audio(0x2f, 1, 9)).toThrow(MediaProblem);
});

test("bits are read from the highest to the lowest, across bytes, and past the end there are zeros", () => {
  const reader = new BitReader(Uint8Array.of(0b1010_0110, 0b1100_0001));
  expect([reader.bits(3), reader.bits(6), reader.bits(0), reader.isPastEnd]).toEqual([0b101, 0b001101, 0, false]);
  reader.skip(6);
  expect([reader.bits(1), reader.isPastEnd]).toEqual([1, false]);
  expect([reader.bits(1), reader.isPastEnd, reader.bits(2)]).toEqual([0, true, 0]);
  expect(new BitReader(Uint8Array.of(0xff, 0xff, 0xff, 0xfe)).bits(32)).toBe(0xff_ff_ff_fe);
});

test("H.264, 9.1: numbers of as many bits as zeros come before them, without and with a sign", () => {
  // 1, 010, 011, 00100, 00111, 0001000
  const bytes = Uint8Array.of(0b1010_0110, 0b0100_0011, 0b1000_1000);
  const unsigned = new BitReader(bytes);
  expect(Array.from({ length: 6 }, () => unsigned.unsigned())).toEqual([0, 1, 2, 3, 6, 7]);
  const signed = new BitReader(bytes);
  expect(Array.from({ length: 6 }, () => signed.signed() + 0)).toEqual([0, 1, -1, 2, -3, 4]);
});

test("a number after 31 zeros is the largest; more zeros are no number", () => {
  expect(new BitReader(Uint8Array.of(0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe)).unsigned()).toBe(2 ** 32 - 2);
  expect(new BitReader(Uint8Array.of(0, 0, 0, 0, 0x80, 0, 0, 0, 0)).unsigned()).toBe(0);
  // An end without a one is not waited for.
  expect(new BitReader(new Uint8Array()).unsigned()).toBe(0);
});

test("times count from the first one, and a picture is always later than the one before it", () => {
  const time = new StreamTime();
  expect([time.video(1_000), time.video(1_040), time.video(1_040), time.video(1_039), time.video(1_100)]).toEqual([0, 40, 41, 42, 100]);
  const sound = new StreamTime();
  // Sound may be a little out of order, but is never earlier than the beginning.
  expect([sound.audio(500), sound.audio(540), sound.audio(520), sound.audio(499), sound.audio(560), sound.video(501)]).toEqual([0, 40, 20, 0, 60, 1]);
});

test("they have 32 bits and begin again", () => {
  const time = new StreamTime();
  expect([time.video(2 ** 32 - 10), time.audio(2 ** 32 - 1), time.video(0), time.audio(30)]).toEqual([0, 9, 10, 40]);
});

test("a step of more than 30 seconds from the latest time is another clock, in either direction", () => {
  const at = (...timestamps: number[]) => {
    const time = new StreamTime();
    return timestamps.map((timestamp) => time.audio(timestamp)).at(-1);
  };
  expect([at(0, 30_000), at(0, 30_000, 60_000), at(0, 30_000, 0), at(5, 30_005, 10, 60_005)]).toEqual([30_000, 60_000, 0, 60_000]);
  for (const timestamps of [
    [0, 30_001],
    [0, 30_000, 60_001],
    [40_000, 70_000, 39_999],
    [0, 20_000, 10_000, 50_001],
  ])
    expect(() => at(...timestamps)).toThrow("the timestamps jump by more than 30 s");
});
