/** The test clip: a file of FLV (format 10.1, annex E), which `tools/test-encoder/make-clip.ts` makes. */
import clip from "./clip.flv" with { type: "file" };

/** The body of a message of audio or video, as RTMP carries it too. */
export interface Tag {
  readonly isAudio: boolean;
  /** How to decode what follows; no sound or picture itself. */
  readonly isConfig: boolean;
  readonly ms: number;
  readonly body: Uint8Array;
}

/** 120 pictures, and as many frames of sound as they need. */
export const CLIP_MS = 4_800;

/** In the source's folder, beside the build, or in the executable. */
export const readClip = async (): Promise<Tag[]> => readTags(await Bun.file(new URL(clip, import.meta.url)).bytes());

const FILE_HEADER_BYTES = 13;
const TAG_HEADER_BYTES = 11;
/** Of the tag before, behind each. */
const LENGTH_BYTES = 4;
const AUDIO = 8;
const VIDEO = 9;

/** Audio and video, in the order of the file; metadata are left out. */
export function readTags(bytes: Uint8Array): Tag[] {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tags: Tag[] = [];
  for (let at = FILE_HEADER_BYTES; at + TAG_HEADER_BYTES < file.length; ) {
    const type = file.readUInt8(at);
    const length = file.readUIntBE(at + 1, 3);
    const body = file.subarray(at + TAG_HEADER_BYTES, at + TAG_HEADER_BYTES + length);
    if (type === AUDIO || type === VIDEO) tags.push({ isAudio: type === AUDIO, isConfig: body[1] === 0, ms: file.readUIntBE(at + 4, 3), body });
    at += TAG_HEADER_BYTES + length + LENGTH_BYTES;
  }
  return tags;
}
