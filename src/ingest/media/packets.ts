/** What an encoder sends, and what is recorded of it. */
import { type AacConfig, readAacConfig } from "./aac.ts";
import { MediaProblem } from "./bits.ts";
import type { VideoConfig } from "./h264.ts";

export type VideoPacket =
  /** An AVCDecoderConfigurationRecord (ISO/IEC 14496-15). */
  | { readonly kind: "config"; readonly bytes: Uint8Array }
  | {
      readonly kind: "frame";
      readonly isKey: boolean;
      /** Milliseconds from decoding to presentation; may be negative. */
      readonly compositionMs: number;
      /** NAL units, each behind its length. */
      readonly bytes: Uint8Array;
    };

export type AudioPacket = { readonly kind: "config"; readonly config: AacConfig } | { readonly kind: "frame"; readonly bytes: Uint8Array };

export interface Picture {
  readonly config: VideoConfig;
  readonly isKey: boolean;
  /** Milliseconds since the beginning of the session. */
  readonly decodeMs: number;
  readonly showMs: number;
  /** NAL units, each behind its length. */
  readonly bytes: Uint8Array;
}

export interface Sound {
  readonly config: AacConfig;
  /** Milliseconds since the beginning of the session. */
  readonly ms: number;
  /** One after the other, without gaps. */
  readonly frames: readonly Uint8Array[];
}

/** What a message of audio or video holds: the body of an FLV tag (FLV file format 10.1, annex E.4). */
const H264 = 7;
const AAC = 10;
const KEY_FRAME = 1;
/** Not a picture, but a command of a server. */
const COMMAND_FRAME = 5;
const CONFIG = 0;
const FRAME = 1;
/** The highest bit of the first byte: the codec is named by four characters. */
const ENHANCED = 0x80;

/** Undefined: nothing that is shown. Throws `MediaProblem`. */
export function readVideoTag(body: Uint8Array): VideoPacket | undefined {
  const first = body[0];
  if (first === undefined) return undefined;
  if ((first & ENHANCED) !== 0 || (first & 0x0f) !== H264) throw new MediaProblem("the video is not H.264: choose H.264 (AVC) in the encoder");
  const frameType = first >> 4;
  if (frameType === COMMAND_FRAME || body.length < 5) return undefined;
  const packet = body[1];
  const bytes = body.subarray(5);
  if (packet === CONFIG) return { kind: "config", bytes };
  if (packet !== FRAME || bytes.length === 0) return undefined;
  // 24 bits with a sign.
  const compositionMs = ((((body[2] as number) << 16) | ((body[3] as number) << 8) | (body[4] as number)) << 8) >> 8;
  return { kind: "frame", isKey: frameType === KEY_FRAME, compositionMs, bytes };
}

/** Undefined: nothing that is heard. Throws `MediaProblem`. */
export function readAudioTag(body: Uint8Array): AudioPacket | undefined {
  const first = body[0];
  if (first === undefined) return undefined;
  if (first >> 4 !== AAC) throw new MediaProblem("the audio is not AAC: choose AAC in the encoder");
  const bytes = body.subarray(2);
  if (body[1] === CONFIG) return { kind: "config", config: readAacConfig(bytes) };
  return body[1] === FRAME && bytes.length > 0 ? { kind: "frame", bytes } : undefined;
}
