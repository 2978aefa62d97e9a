/** Boxes of MP4 (ISO/IEC 14496-12), and those before the first fragment: what the two tracks are. */

import type { VideoConfig } from "./h264.ts";
import { OPUS_RATE } from "./opus.ts";
import type { AudioConfig } from "./packets.ts";

type Part = Uint8Array | readonly number[];

/** Times of pictures are milliseconds, as encoders send them. */
const VIDEO_SCALE = 1000;
export const VIDEO_TRACK = 1;
export const AUDIO_TRACK = 2;

const u16 = (value: number): number[] => [(value >>> 8) & 0xff, value & 0xff];
export const u32 = (value: number): number[] => [value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff];
export const u64 = (value: number): number[] => [...u32(Math.floor(value / 2 ** 32)), ...u32((value % 2 ** 32) >>> 0)];
const ascii = (text: string): number[] => [...text].map((character) => character.charCodeAt(0));
const zeros = (count: number): number[] => new Array<number>(count).fill(0);

export function joined(parts: readonly Part[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

export function box(type: string, ...parts: readonly Part[]): Uint8Array {
  const size = parts.reduce((sum, part) => sum + part.length, 8);
  return joined([u32(size), ascii(type), ...parts]);
}

export const fullBox = (type: string, version: number, flags: number, ...parts: readonly Part[]): Uint8Array =>
  box(type, u32((version << 24) | flags), ...parts);

/** Of sound: samples a second. */
export const audioScale = (config: AudioConfig): number => (config.codec === "opus" ? OPUS_RATE : config.sampleRate);

/** The file before its fragments. */
export function initSegment(video: VideoConfig, audio: AudioConfig): Uint8Array {
  const brands = ["iso6", "cmfc"].flatMap(ascii);
  const extended = [VIDEO_TRACK, AUDIO_TRACK].map((track) => fullBox("trex", 0, 0, u32(track), u32(1), zeros(12)));
  const movieHeader = fullBox("mvhd", 0, 0, zeros(8), u32(VIDEO_SCALE), zeros(4), u32(0x1_0000), u16(0x100), zeros(10), MATRIX, zeros(24), u32(3));
  return joined([
    box("ftyp", ascii("iso6"), u32(0), brands),
    box("moov", movieHeader, videoTrack(video), audioTrack(audio), box("mvex", ...extended)),
  ]);
}

/** Nothing is turned or moved. */
const MATRIX = [u32(0x1_0000), zeros(12), u32(0x1_0000), zeros(12), u32(0x4000_0000)].flat();
/** Enabled, and part of the movie. */
const SHOWN = 3;
/** `und`, three letters of five bits. */
const NO_LANGUAGE = u16(0x55c4);
/** 72 dots an inch, as everybody writes. */
const RESOLUTION = u32(0x48_0000);

interface Track {
  readonly id: number;
  readonly scale: number;
  readonly handler: "vide" | "soun";
  readonly volume: number;
  readonly width: number;
  readonly height: number;
  readonly header: Uint8Array;
  readonly sampleEntry: Uint8Array;
}

function track({ id, scale, handler, volume, width, height, header, sampleEntry }: Track): Uint8Array {
  const size = [width, height].flatMap((pixels) => u32(pixels * 0x1_0000));
  const source = box("dinf", fullBox("dref", 0, 0, u32(1), fullBox("url ", 0, 1)));
  const samples = box(
    "stbl",
    fullBox("stsd", 0, 0, u32(1), sampleEntry),
    ...["stts", "stsc", "stco"].map((type) => fullBox(type, 0, 0, u32(0))),
    fullBox("stsz", 0, 0, zeros(8)),
  );
  return box(
    "trak",
    fullBox("tkhd", 0, SHOWN, zeros(8), u32(id), zeros(20), u16(volume), zeros(2), MATRIX, size),
    box(
      "mdia",
      fullBox("mdhd", 0, 0, zeros(8), u32(scale), zeros(4), NO_LANGUAGE, zeros(2)),
      fullBox("hdlr", 0, 0, zeros(4), ascii(handler), zeros(13)),
      box("minf", header, source, samples),
    ),
  );
}

function videoTrack({ bytes, width, height }: VideoConfig): Uint8Array {
  const entry = [zeros(6), u16(1), zeros(16), u16(width), u16(height), RESOLUTION, RESOLUTION, zeros(4), u16(1), zeros(32), u16(24), u16(0xffff)];
  const sampleEntry = box("avc1", entry.flat(), box("avcC", bytes));
  const header = fullBox("vmhd", 0, 1, zeros(8));
  return track({ id: VIDEO_TRACK, scale: VIDEO_SCALE, handler: "vide", volume: 0, width, height, header, sampleEntry });
}

function audioTrack(config: AudioConfig): Uint8Array {
  const scale = audioScale(config);
  // The rate is a fixed-point number of 16 bits; above that players read the codec's own.
  const entry = [zeros(6), u16(1), zeros(8), u16(config.channels), u16(16), zeros(4), u16(scale > 0xffff ? 0 : scale), u16(0)].flat();
  const sampleEntry = config.codec === "opus" ? box("Opus", entry, opusBox(config)) : box("mp4a", entry, aacBox(config));
  const header = fullBox("smhd", 0, 0, zeros(4));
  return track({ id: AUDIO_TRACK, scale, handler: "soun", volume: 0x100, width: 0, height: 0, header, sampleEntry });
}

/** Encapsulation of Opus in ISO base media files, 4.3.2. Chromium refuses the rate of a source that is not the rate of the entry. */
const opusBox = ({ channels, preSkip, gain }: Extract<AudioConfig, { codec: "opus" }>): Uint8Array =>
  box("dOps", [0, channels], u16(preSkip), u32(OPUS_RATE), u16(gain), [0]);

/** An elementary stream descriptor (ISO/IEC 14496-1, 7.2.6). */
function aacBox({ bytes }: Extract<AudioConfig, { codec: "aac" }>): Uint8Array {
  const descriptor = (tag: number, ...parts: readonly Part[]): Uint8Array => {
    const content = joined(parts);
    return joined([[tag, content.length], content]);
  };
  // MPEG-4 audio; an audio stream; buffer and bit rates are not known.
  const decoder = descriptor(4, [0x40, 0x15], zeros(11), descriptor(5, bytes));
  return fullBox("esds", 0, 0, descriptor(3, u16(0), [0], decoder, descriptor(6, [2])));
}
