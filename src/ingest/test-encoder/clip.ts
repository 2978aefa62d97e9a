/** Reads the test clip, an FLV file (format 10.1, annex E) that `tools/test-encoder/make-clip.ts` makes. */
import clip from "./clip.flv" with { type: "file" };

/** A tag of the FLV file. The test encoder sends the body of a tag as the body of an RTMP message. */
export interface Tag {
  readonly isAudio: boolean;
  /** Whether the tag has the decoder's configuration instead of sound or a picture. */
  readonly isConfig: boolean;
  readonly ms: number;
  readonly body: Uint8Array;
}

/** The duration of the clip, which has 120 pictures. */
export const CLIP_MS = 4_800;

/** Reads the clip, whose file is in the folder of the source, beside the build, or in the executable. */
export const readClip = async (): Promise<Tag[]> => readTags(await Bun.file(new URL(clip, import.meta.url)).bytes());

const FILE_HEADER_BYTES = 13;
const TAG_HEADER_BYTES = 11;
/** The number of bytes after each tag that contain the tag's length. */
const LENGTH_BYTES = 4;
const AUDIO = 8;
const VIDEO = 9;

/** Reads the tags of audio and video, in the order of the file. */
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
