/** What a segment of HLS is written as: an MPEG transport stream, or a fragment of MP4. */
import type { VideoConfig } from "./h264.ts";
import type { AudioConfig } from "./packets.ts";

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
  readonly config: AudioConfig;
  /** Milliseconds since the beginning of the session. */
  readonly ms: number;
  /** One after the other, without gaps. */
  readonly frames: readonly Uint8Array[];
}

export interface Container {
  readonly isEmpty: boolean;
  /** Throws `MediaProblem`. */
  addPicture(picture: Picture): void;
  /** Throws `MediaProblem`. */
  addSound(sound: Sound): void;
  /** The segment so far, which ends at this time; the next one begins empty. After the last one nothing comes any more. */
  take(untilMs: number, isLast: boolean): ContainedSegment;
}

export interface ContainedSegment {
  readonly bytes: Uint8Array;
  /** What a player loads before the first segment of the session; undefined: nothing. Always the same. */
  readonly head: Uint8Array | undefined;
}
