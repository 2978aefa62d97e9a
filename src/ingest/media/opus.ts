/** Opus as WebCodecs gives it: an identification header (RFC 7845, 5.1), then packets (RFC 6716, 3). */
import { MediaProblem } from "./problem.ts";

export interface OpusConfig {
  readonly codec: "opus";
  /** The header itself. */
  readonly bytes: Uint8Array;
  readonly channels: number;
  /** Samples at the beginning that are not heard. */
  readonly preSkip: number;
  /** As in the header: a number with a sign. */
  readonly gain: number;
}

export const OPUS_RATE = 48_000;
const MAGIC = "OpusHead";
const HEADER_BYTES = 19;
/** Of one packet (RFC 6716, 3.2.5, R5): 120 ms. */
const PACKET_SAMPLES_MAX = 5760;

/** Throws `MediaProblem`. */
export function readOpusConfig(bytes: Uint8Array): OpusConfig {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isHeader = header.length >= HEADER_BYTES && header.toString("latin1", 0, MAGIC.length) === MAGIC;
  const channels = isHeader ? header.readUInt8(9) : 0;
  // Family 0 is mono and stereo; others have a table of channels behind the header.
  if (channels < 1 || channels > 2 || header.readUInt8(18) !== 0) {
    throw new MediaProblem("the Opus header cannot be read: send mono or stereo with an identification header (OpusHead)");
  }
  return { codec: "opus", bytes, channels, preSkip: header.readUInt16LE(10), gain: header.readInt16LE(16) };
}

/** Samples of a packet's frames by the five high bits of its first byte (RFC 6716, table 2). */
const SILK = [480, 960, 1920, 2880] as const;
const HYBRID = [480, 960] as const;
const CELT = [120, 240, 480, 960] as const;

function frameSamples(configuration: number): number {
  if (configuration < 12) return SILK[configuration % 4] as number;
  return configuration < 16 ? (HYBRID[configuration % 2] as number) : (CELT[configuration % 4] as number);
}

/** How many samples a packet has, at 48,000 a second. Throws `MediaProblem`. */
export function opusSamples(packet: Uint8Array): number {
  const first = packet[0] ?? 0;
  const code = first & 3;
  const frames = code === 0 ? 1 : code < 3 ? 2 : (packet[1] ?? 0) & 0x3f;
  const samples = frames * frameSamples(first >> 3);
  if (samples < 1 || samples > PACKET_SAMPLES_MAX) throw new MediaProblem("a packet of the sound is not Opus");
  return samples;
}

/** A packet in which nothing is heard: 20 ms of mono, which decoders of stereo take as well (RFC 6716, 2.1.2). */
export const SILENT_OPUS: Uint8Array = Uint8Array.of(0xf8, 0xff, 0xfe);
