/** Reads AAC as encoders send it over RTMP: an AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1), then raw frames. */
import { BitReader, MediaProblem } from "./bits.ts";

export interface AacConfig {
  /** The sample rate in hertz. */
  readonly sampleRate: number;
  readonly channels: number;
  /** The profile in the ADTS header, which is the object type minus one. */
  readonly profile: number;
  readonly rateIndex: number;
}

const RATES = [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350];
/** Object types 5 and 29 are the high-efficiency profiles. The high-efficiency profiles extend AAC LC, which every player decodes. */
const SBR = 5;
const PS = 29;
const AAC_LC = 2;
const OBJECT_TYPES_OF_ADTS = 4;

/** Reads an AudioSpecificConfig. Throws `MediaProblem` if the configuration cannot be recorded. */
export function readAacConfig(bytes: Uint8Array): AacConfig {
  const reader = new BitReader(bytes);
  const objectType = reader.bits(5);
  const rateIndex = reader.bits(4);
  const channels = reader.bits(4);
  const sampleRate = RATES[rateIndex];
  const core = objectType === SBR || objectType === PS ? AAC_LC : objectType;
  if (bytes.length < 2 || sampleRate === undefined || channels < 1 || channels > 7 || core < 1 || core > OBJECT_TYPES_OF_ADTS) {
    throw new MediaProblem("the AAC configuration cannot be read: choose AAC LC, mono or stereo");
  }
  return { sampleRate, channels, profile: core - 1, rateIndex };
}

const HEADER_BYTES = 7;
/** The size of the largest frame: the length of a frame has only 13 bits in ADTS. */
const FRAME_BYTES_MAX = 0x1f_ff;

/** Puts the ADTS header before a frame (ISO/IEC 14496-3, 1.A.2.2). Throws `MediaProblem`. */
export function adtsFrame({ profile, rateIndex, channels }: AacConfig, frame: Uint8Array): Uint8Array {
  const length = HEADER_BYTES + frame.length;
  if (length > FRAME_BYTES_MAX) throw new MediaProblem("an AAC frame is too large");
  const bytes = new Uint8Array(length);
  // The first two bytes of the header contain the sync word, and say that the format is MPEG-4 without a checksum. The last bytes of the header say
  // that the buffer is full, and that one frame follows.
  bytes.set([
    0xff,
    0xf1,
    (profile << 6) | (rateIndex << 2) | (channels >> 2),
    ((channels & 3) << 6) | (length >> 11),
    (length >> 3) & 0xff,
    ((length & 7) << 5) | 0x1f,
    0xfc,
  ]);
  bytes.set(frame, HEADER_BYTES);
  return bytes;
}
