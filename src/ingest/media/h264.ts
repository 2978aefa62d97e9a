/** Reads H.264 as encoders send it over RTMP: the decoder's configuration, and pictures as NAL units, each after its length (ISO/IEC 14496-15). */
import { BitReader, MediaProblem } from "./bits.ts";

export interface VideoConfig {
  /** The number of bytes of the length before each NAL unit: 1, 2 or 4. */
  readonly lengthBytes: number;
  /** The parameter sets, as NAL units: first those for sequences, then those for pictures (ISO/IEC 14496-15). */
  readonly parameterSets: readonly Uint8Array[];
  /** The width in pixels, after cropping. */
  readonly width: number;
  readonly height: number;
  /** The name of the codec as a playlist states it in `CODECS`, for example `avc1.64001f`. */
  readonly codec: string;
}

const ACCESS_UNIT_DELIMITER = 9;
const SEQUENCE_PARAMETERS = 7;
/** The largest width or height that Plaza accepts, which is more than any level of H.264 allows. */
const PIXELS_MAX = 16_384;

/** Reads an AVCDecoderConfigurationRecord. Throws `MediaProblem`. */
export function readVideoConfig(bytes: Uint8Array): VideoConfig {
  const sets: Uint8Array[] = [];
  let at = 5;
  for (const mask of [0x1f, 0xff]) {
    const count = (bytes[at++] ?? 0) & mask;
    for (let i = 0; i < count; i++) {
      const length = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
      const set = bytes.slice(at + 2, at + 2 + length);
      if (length === 0 || set.length < length) throw broken();
      sets.push(set);
      at += 2 + length;
    }
  }
  const sequence = sets[0];
  if (bytes[0] !== 1 || sequence === undefined || sequence.length < 4 || ((sequence[0] as number) & 0x1f) !== SEQUENCE_PARAMETERS) throw broken();
  const codec = `avc1.${[1, 2, 3].map((i) => (sequence[i] as number).toString(16).padStart(2, "0")).join("")}`;
  return { lengthBytes: ((bytes[4] as number) & 3) + 1, parameterSets: sets, codec, ...sizeOf(sequence) };
}

const broken = (): MediaProblem => new MediaProblem("the H.264 configuration cannot be read");

/** Splits a picture into its NAL units, without access unit delimiters. Throws `MediaProblem`. */
export function nalUnitsOf(bytes: Uint8Array, lengthBytes: number): Uint8Array[] {
  const units: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    let length = 0;
    for (let i = 0; i < lengthBytes; i++) length = length * 256 + (bytes[at + i] ?? 0);
    at += lengthBytes;
    if (length === 0) continue;
    if (at + length > bytes.length) throw new MediaProblem("a picture of the video is cut off");
    const unit = bytes.subarray(at, at + length);
    if (((unit[0] as number) & 0x1f) !== ACCESS_UNIT_DELIMITER) units.push(unit);
    at += length;
  }
  return units;
}

/** The profiles whose sequence parameters say how colours are stored (H.264, 7.3.2.1.1). */
const WITH_CHROMA = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]);

/** Reads the size of the pictures from the sequence parameters (H.264, 7.3.2.1.1). */
function sizeOf(sequence: Uint8Array): { width: number; height: number } {
  const reader = new BitReader(withoutEmulation(sequence).subarray(4));
  reader.unsigned();
  let chroma = 1;
  if (WITH_CHROMA.has(sequence[1] as number)) chroma = skipChroma(reader);
  reader.unsigned();
  skipPictureOrder(reader);
  reader.unsigned();
  reader.skip(1);
  const widthInMacroblocks = reader.unsigned() + 1;
  const heightInMapUnits = reader.unsigned() + 1;
  const isFrame = reader.bits(1);
  if (isFrame === 0) reader.skip(1);
  reader.skip(1);
  const [left, right, top, bottom] =
    reader.bits(1) === 1 ? [reader.unsigned(), reader.unsigned(), reader.unsigned(), reader.unsigned()] : [0, 0, 0, 0];
  const cropX = chroma === 1 || chroma === 2 ? 2 : 1;
  const cropY = (chroma === 1 ? 2 : 1) * (2 - isFrame);
  const width = widthInMacroblocks * 16 - (left + right) * cropX;
  const height = heightInMapUnits * 16 * (2 - isFrame) - (top + bottom) * cropY;
  if (reader.isPastEnd || !(width > 0 && width <= PIXELS_MAX && height > 0 && height <= PIXELS_MAX)) throw broken();
  return { width, height };
}

/** Skips the parameters about colours. Returns the format in which colours are sampled; 1 is 4:2:0. */
function skipChroma(reader: BitReader): number {
  const chroma = reader.unsigned();
  if (chroma === 3) reader.skip(1);
  reader.unsigned();
  reader.unsigned();
  reader.skip(1);
  if (reader.bits(1) === 0) return chroma;
  for (let list = 0; list < (chroma === 3 ? 12 : 8); list++) if (reader.bits(1) === 1) skipScalingList(reader, list < 6 ? 16 : 64);
  return chroma;
}

function skipScalingList(reader: BitReader, size: number): void {
  let last = 8;
  for (let i = 0; i < size && last !== 0; i++) last = (last + reader.signed()) & 0xff;
}

function skipPictureOrder(reader: BitReader): void {
  const kind = reader.unsigned();
  if (kind === 0) reader.unsigned();
  if (kind !== 1) return;
  reader.skip(1);
  reader.signed();
  reader.signed();
  // The number of values is limited to 255, so that a broken header does not keep the program busy.
  for (let left = Math.min(reader.unsigned(), 255); left > 0; left--) reader.signed();
}

/** Removes the bytes that prevent start codes inside a NAL unit (H.264, 7.4.1). */
function withoutEmulation(unit: Uint8Array): Uint8Array {
  const bytes: number[] = [];
  for (const [i, byte] of unit.entries()) if (!(byte === 3 && unit[i - 1] === 0 && unit[i - 2] === 0)) bytes.push(byte);
  return Uint8Array.from(bytes);
}
