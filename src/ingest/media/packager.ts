/**
 * Makes segments of what a publisher sends. A segment begins with a key frame, and nothing is recorded before there was sound, because
 * a stream without audio is not one (LIVE-12). Times are the encoder's: a slow network does not end a stream.
 */
import type { AacConfig } from "./aac.ts";
import { MediaProblem } from "./bits.ts";
import { readVideoConfig, type VideoConfig } from "./h264.ts";
import type { AudioPacket, VideoPacket } from "./packets.ts";
import type { TransportStream } from "./transport-stream.ts";

export interface Segment {
  readonly bytes: Uint8Array;
  readonly durationMs: number;
}

/** What segments are written with. */
type Container = Pick<TransportStream, "isEmpty" | "addPicture" | "addSound" | "take">;

interface PackagerOwner {
  /** The first key frame: the feed has begun. */
  began(config: VideoConfig): void;
  /** Called for every segment, in order. */
  segment(segment: Segment): void;
  /** D-51: there is video and no audio. */
  audioMissing(): void;
}

/** D-51: without sound for so long, by what the encoder announced. */
const SILENT_MS_MAX = { unannounced: 2_000, announced: 4_000, inTheMiddle: 10_000 } as const;
/** A segment is cut at the first key frame after so long: players load few segments, and viewers start early. */
const SEGMENT_MS_MIN = 1_000;
/** x264 sends a key frame at least every 250 frames. */
const KEY_FRAME_MS_MAX = 20_000;
/** Sound waits so long for more of it: each packet of sound has a header of its own. */
const SOUND_MS = 150;
/** Without a first key frame. */
const VIDEO_MISSING_MS_MAX = 10_000;
/** Encoders that drop pictures leave gaps; the slowest usual rate is 10 a second. */
const GAP_MS = 250;
/** The last segment ends one frame after its last picture; 30 a second is usual. */
const LAST_FRAME_MS = 33;

export class Packager {
  readonly #owner: PackagerOwner;
  readonly #time = new StreamTime();
  readonly #container: Container;
  #video: VideoConfig | undefined;
  #audio: AacConfig | undefined;
  #isAudioAnnounced = false;
  /** Of the first key frame. */
  #beganMs: number | undefined;
  #lastSoundMs: number | undefined;
  /** What came before the first key frame is not in the recording. */
  #hasSound = false;
  #segmentBeganMs = 0;
  #lastPictureMs = 0;
  #hasEnded = false;
  /** How often pictures were missing for `GAP_MS` or more. */
  gaps = 0;
  #waitingSound: { ms: number; frames: Uint8Array[] } | undefined;

  constructor(container: Container, owner: PackagerOwner) {
    this.#container = container;
    this.#owner = owner;
  }

  /** Throws `MediaProblem`. */
  addVideo(timestamp: number, packet: VideoPacket): void {
    if (this.#hasEnded) return;
    if (packet.kind === "config") {
      this.#video = readVideoConfig(packet.bytes);
      return;
    }
    const { isKey, compositionMs, bytes } = packet;
    const config = this.#video;
    // Pictures before the first key frame cannot be decoded.
    if (config === undefined || (this.#beganMs === undefined && !isKey)) return;
    const decodeMs = this.#time.video(timestamp);
    const isFirst = this.#beganMs === undefined;
    if (isFirst) this.#begin(config, decodeMs);
    else if (this.#isSilentAt(decodeMs)) {
      this.end();
      this.#hasEnded = true;
      this.#owner.audioMissing();
      return;
    }
    if (isKey) this.#cutAt(decodeMs);
    else if (decodeMs - this.#segmentBeganMs > KEY_FRAME_MS_MAX) throw new MediaProblem("no key frame came for 20 s: send one every 2 s");
    this.#container.addPicture({ config, isKey, decodeMs, showMs: decodeMs + compositionMs, bytes });
    if (!isFirst && decodeMs - this.#lastPictureMs >= GAP_MS) this.gaps++;
    this.#lastPictureMs = decodeMs;
  }

  /** By how much the newest sound is behind the newest picture. */
  get audioBehindMs(): number {
    return Math.max(0, this.#lastPictureMs - Math.max(this.#lastSoundMs ?? 0, this.#beganMs ?? 0));
  }

  /** Throws `MediaProblem`. */
  addAudio(timestamp: number, packet: AudioPacket): void {
    if (this.#hasEnded) return;
    if (packet.kind === "config") {
      this.#flushSound();
      this.#audio = packet.config;
      this.#isAudioAnnounced = true;
      return;
    }
    if (this.#audio === undefined) return;
    const ms = this.#time.audio(timestamp);
    this.#lastSoundMs = ms;
    if (this.#beganMs === undefined) {
      if (ms > VIDEO_MISSING_MS_MAX) throw new MediaProblem("no picture came for 10 s: send H.264 video");
      return;
    }
    this.#hasSound = true;
    this.#waitingSound ??= { ms, frames: [] };
    this.#waitingSound.frames.push(packet.bytes);
    if (ms - this.#waitingSound.ms >= SOUND_MS) this.#flushSound();
  }

  /** The metadata says that there is audio, so it may come a little later. */
  announceAudio(): void {
    this.#isAudioAnnounced = true;
  }

  /** Gives the last segment. */
  end(): void {
    if (this.#hasEnded || !this.#hasSound) return;
    this.#hasEnded = true;
    this.#give(this.#lastPictureMs + LAST_FRAME_MS);
  }

  #begin(config: VideoConfig, ms: number): void {
    this.#beganMs = ms;
    this.#segmentBeganMs = ms;
    this.#owner.began(config);
  }

  #isSilentAt(ms: number): boolean {
    const began = this.#beganMs as number;
    if (this.#lastSoundMs !== undefined) return ms - Math.max(this.#lastSoundMs, began) > SILENT_MS_MAX.inTheMiddle;
    return ms - began > (this.#isAudioAnnounced ? SILENT_MS_MAX.announced : SILENT_MS_MAX.unannounced);
  }

  #cutAt(ms: number): void {
    if (!this.#hasSound || ms - this.#segmentBeganMs < SEGMENT_MS_MIN) return;
    this.#give(ms);
    this.#segmentBeganMs = ms;
  }

  #give(untilMs: number): void {
    this.#flushSound();
    const durationMs = untilMs - this.#segmentBeganMs;
    if (!this.#container.isEmpty) this.#owner.segment({ bytes: this.#container.take(), durationMs });
  }

  #flushSound(): void {
    if (this.#waitingSound === undefined || this.#audio === undefined) return;
    this.#container.addSound({ ...this.#waitingSound, config: this.#audio });
    this.#waitingSound = undefined;
  }
}

/** A larger step is another clock: the encoder connects again and gets a session of its own. */
const JUMP_MS_MAX = 30_000;

export class StreamTime {
  #first: number | undefined;
  #latestMs = 0;
  #videoMs = -1;

  /** Grows with every picture, as decoding times do. Throws `MediaProblem`. */
  video(timestamp: number): number {
    this.#videoMs = Math.max(this.#msOf(timestamp), this.#videoMs + 1);
    return this.#videoMs;
  }

  /** Throws `MediaProblem`. */
  audio(timestamp: number): number {
    return this.#msOf(timestamp);
  }

  #msOf(timestamp: number): number {
    this.#first ??= timestamp;
    // The difference with a sign, modulo 2^32.
    const step = (timestamp - this.#first - this.#latestMs) | 0;
    if (Math.abs(step) > JUMP_MS_MAX) throw new MediaProblem("the timestamps jump by more than 30 s");
    const ms = this.#latestMs + step;
    this.#latestMs = Math.max(this.#latestMs, ms);
    return Math.max(ms, 0);
  }
}
