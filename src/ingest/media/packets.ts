/** Reads the messages of audio and video that an encoder sends into packets. */
import { type AacConfig, readAacConfig } from "./aac.ts";
import { MediaProblem } from "./bits.ts";
import type { VideoConfig } from "./h264.ts";

export type VideoPacket =
  /** The configuration, as an AVCDecoderConfigurationRecord (ISO/IEC 14496-15). */
  | { readonly kind: "config"; readonly bytes: Uint8Array }
  | {
      readonly kind: "frame";
      readonly isKey: boolean;
      /** The milliseconds from decoding to presentation, which can be negative. */
      readonly compositionMs: number;
      /** The NAL units of the picture, each preceded by its length. */
      readonly bytes: Uint8Array;
    };

export type AudioPacket = { readonly kind: "config"; readonly config: AacConfig } | { readonly kind: "frame"; readonly bytes: Uint8Array };

export interface Picture {
  readonly config: VideoConfig;
  readonly isKey: boolean;
  /** The time of decoding, in milliseconds since the beginning of the session. */
  readonly decodeMs: number;
  readonly showMs: number;
  /** The NAL units of the picture, each preceded by its length. */
  readonly bytes: Uint8Array;
}

export interface Sound {
  readonly config: AacConfig;
  /** The time of the first frame, in milliseconds since the beginning of the session. */
  readonly ms: number;
  /** The frames, which follow each other without gaps. */
  readonly frames: readonly Uint8Array[];
}

/**
 * The numbers in the body of an FLV tag. The body of an RTMP message has the format of an FLV tag's body (FLV file format 10.1, annex E.4; Enhanced
 * RTMP v2 for codecs that are named by four characters).
 */
const H264 = 7;
const AAC = 10;
const KEY_FRAME = 1;
/** The frame type of a tag that contains a command of a server instead of a picture. */
const COMMAND_FRAME = 5;
const CONFIG = 0;
const FRAME = 1;

const VIDEO_CODECS: Readonly<Record<number, string>> = {
  2: "Sorenson H.263 (FLV1)",
  3: "Screen Video",
  4: "VP6",
  5: "VP6",
  6: "Screen Video 2",
  12: "HEVC (H.265)",
};
const AUDIO_CODECS: Readonly<Record<number, string>> = {
  ...{ 0: "PCM", 1: "ADPCM", 2: "MP3", 3: "PCM", 4: "Nellymoser", 5: "Nellymoser", 6: "Nellymoser", 7: "G.711", 8: "G.711", 11: "Speex", 14: "MP3" },
};
const FOUR_CHARACTER_CODECS: Readonly<Record<string, string>> = {
  ...{ hvc1: "HEVC (H.265)", vvc1: "VVC (H.266)", av01: "AV1", vp08: "VP8", vp09: "VP9" },
  ...{ ".mp3": "MP3", Opus: "Opus", fLaC: "FLAC", "ac-3": "AC-3", "ec-3": "E-AC-3" },
};

const videoRefused = (codec: string): MediaProblem => new MediaProblem(`the video is not H.264 but ${codec}: choose H.264 (AVC) in the encoder`);
const audioRefused = (codec: string): MediaProblem => new MediaProblem(`the audio is not AAC but ${codec}: choose AAC in the encoder`);

/** Reads a video tag; returns undefined if the tag contains neither a picture nor a configuration. Throws `MediaProblem`. */
export function readVideoTag(body: Uint8Array): VideoPacket | undefined {
  const first = body[0];
  if (first === undefined) return undefined;
  const frameType = (first >> 4) & 7;
  if ((first & 0x80) !== 0) return readEnhancedVideo(body, frameType);
  const codec = first & 0x0f;
  if (codec !== H264) throw videoRefused(VIDEO_CODECS[codec] ?? `the unknown codec ${codec}`);
  if (frameType === COMMAND_FRAME || body.length < 5) return undefined;
  if (body[1] === CONFIG) return { kind: "config", bytes: body.subarray(5) };
  return body[1] === FRAME ? videoFrame(frameType, signed24(body, 2), body.subarray(5)) : undefined;
}

/** Reads an audio tag; returns undefined if the tag contains neither sound nor a configuration. Throws `MediaProblem`. */
export function readAudioTag(body: Uint8Array): AudioPacket | undefined {
  const first = body[0];
  if (first === undefined) return undefined;
  const codec = first >> 4;
  if (codec === ENHANCED_AUDIO) return readEnhancedAudio(body);
  if (codec !== AAC) throw audioRefused(AUDIO_CODECS[codec] ?? `the unknown codec ${codec}`);
  return audioPacket(body[1], body.subarray(2));
}

/** In Enhanced RTMP, this sound format says that four characters after the tag's type name the codec. */
const ENHANCED_AUDIO = 9;
const FRAME_WITHOUT_COMPOSITION = 3;
const VIDEO_METADATA = 4;
const MULTITRACK_VIDEO = 6;
const MULTITRACK_AUDIO = 5;
const MODIFIER = 7;

interface EnhancedTag {
  readonly type: number;
  readonly codec: string;
  readonly bytes: Uint8Array;
}

/** Reads a tag of Enhanced RTMP; returns undefined if the tag is cut off. `multitrack` is the packet type of a tag with several tracks. */
function readEnhancedTag(body: Uint8Array, multitrack: number): EnhancedTag | undefined {
  let type = (body[0] as number) & 0x0f;
  let at = 1;
  // A modifier of a tag, such as a time in nanoseconds, consists of its size, its bytes, and a byte with the modifier's type and the type of the rest
  // of the tag.
  while (type === MODIFIER) {
    const short = (body[at] ?? 0) + 1;
    const isLong = short === 256;
    const size = isLong ? ((body[at + 1] ?? 0) << 8) + (body[at + 2] ?? 0) + 1 : short;
    at += (isLong ? 3 : 1) + size;
    if (at >= body.length) return undefined;
    type = (body[at++] as number) & 0x0f;
  }
  if (type === multitrack) throw new MediaProblem("the stream has several tracks of one kind: send one video track and one audio track");
  if (body.length < at + 4) return undefined;
  return { type, codec: String.fromCharCode(...body.subarray(at, at + 4)), bytes: body.subarray(at + 4) };
}

function readEnhancedVideo(body: Uint8Array, frameType: number): VideoPacket | undefined {
  if (frameType === COMMAND_FRAME || ((body[0] as number) & 0x0f) === VIDEO_METADATA) return undefined;
  const tag = readEnhancedTag(body, MULTITRACK_VIDEO);
  if (tag === undefined) return undefined;
  const { type, codec, bytes } = tag;
  if (codec !== "avc1") throw videoRefused(FOUR_CHARACTER_CODECS[codec] ?? "an unknown codec");
  if (type === CONFIG) return { kind: "config", bytes };
  if (type === FRAME_WITHOUT_COMPOSITION) return videoFrame(frameType, 0, bytes);
  return type === FRAME && bytes.length > 3 ? videoFrame(frameType, signed24(bytes, 0), bytes.subarray(3)) : undefined;
}

function readEnhancedAudio(body: Uint8Array): AudioPacket | undefined {
  const tag = readEnhancedTag(body, MULTITRACK_AUDIO);
  if (tag === undefined) return undefined;
  const { type, codec, bytes } = tag;
  if (codec !== "mp4a") throw audioRefused(FOUR_CHARACTER_CODECS[codec] ?? "an unknown codec");
  return audioPacket(type, bytes);
}

const videoFrame = (frameType: number, compositionMs: number, bytes: Uint8Array): VideoPacket | undefined =>
  bytes.length === 0 ? undefined : { kind: "frame", isKey: frameType === KEY_FRAME, compositionMs, bytes };

function audioPacket(type: number | undefined, bytes: Uint8Array): AudioPacket | undefined {
  if (type === CONFIG) return { kind: "config", config: readAacConfig(bytes) };
  return type === FRAME && bytes.length > 0 ? { kind: "frame", bytes } : undefined;
}

const signed24 = (bytes: Uint8Array, at: number): number =>
  ((((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number)) << 8) >> 8;
