/**
 * Packs an encoder's pictures and sound into segments. A segment begins with a key frame if the encoder sends key frames often enough. Recording
 * begins with the first sound, because a stream without audio is not recorded at all (LIVE-12). The encoder's time stamps decide how long pictures
 * last, but not whether sound is missing (D-297).
 */
import { SEGMENT_SECONDS_MAX } from "#recordings/recording-space";
import type { AacConfig } from "./aac.ts";
import { MediaProblem } from "./bits.ts";
import { readVideoConfig, type VideoConfig } from "./h264.ts";
import type { AudioPacket, VideoPacket } from "./packets.ts";
import { StreamTime } from "./stream-time.ts";
import type { TransportStream } from "./transport-stream.ts";

export interface Segment {
  readonly bytes: Uint8Array;
  readonly durationMs: number;
  /** Whether the picture size or the sound format differs from the previous segment, or the encoder's clock has stepped since that segment. */
  readonly isDiscontinuous: boolean;
}

/** A container that writes the bytes of segments. */
type Container = Pick<TransportStream, "isEmpty" | "addPicture" | "addSound" | "take">;

interface PackagerOwner {
  /** Called when the first key frame has arrived. The feed begins with this key frame. */
  began(config: VideoConfig): void;
  /** Called with every segment, in order. */
  segment(segment: Segment): void;
  /** D-51: called if the stream has video and no audio. */
  audioMissing(): void;
  /** Returns the time of the machine's monotonic clock, in ms. */
  monotonicMs(): number;
}

/** D-51: the time for which sound may be missing: before the first sound, without or with an announcement of audio, and after the first sound. */
const SILENT_MS_MAX = { unannounced: 2_000, announced: 4_000, inTheMiddle: 10_000 } as const;
/**
 * The shortest time after which a segment ends at the next key frame. If segments last at least one second, players load few segments, and viewers
 * can start early.
 */
const SEGMENT_MS_MIN = 1_000;
/**
 * The time after which a segment is cut at any picture. If no picture comes, the segment is cut at a sound half a second later, so that the segment
 * is hardly longer than `SEGMENT_MS_MAX`.
 */
const CUT_AT_PICTURE_MS = 5_000;
const CUT_AT_SOUND_MS = 5_500;
const SEGMENT_MS_MAX = SEGMENT_SECONDS_MAX * 1_000 + 499;
/** The longest allowed time between key frames: x264 sends a key frame at least every 250 frames. */
const KEY_FRAME_MS_MAX = 20_000;
/** The duration of the sound in one packet. Each packet has a header, so fewer and longer packets need less space. */
const SOUND_MS = 150;
/** The time within which the first picture and the first key frame must arrive. */
const START_MS_MAX = 10_000;
/**
 * The shortest time between two pictures that counts as a gap. The slowest usual rate is 10 pictures a second, so 250 ms are a gap at any usual rate.
 */
const GAP_MS = 250;
/** The assumed duration of the stream's last picture, because no picture follows it. Most streams have 30 pictures a second. */
const LAST_FRAME_MS = 33;

export class Packager {
  readonly #owner: PackagerOwner;
  readonly #time = new StreamTime();
  readonly #container: Container;
  #video: VideoConfig | undefined;
  #videoConfigBytes: Uint8Array | undefined;
  #audio: AacConfig | undefined;
  /** A new sound configuration, which applies from the next segment on, because all sound of a segment has the same configuration. */
  #nextAudio: AacConfig | undefined;
  #isAudioAnnounced = false;
  /** The time of the first packet on the timeline. */
  #firstMs: number | undefined;
  #hasPicture = false;
  /** The time of the first key frame on the timeline, and the time at which that key frame arrived. */
  #began: { readonly ms: number; readonly arrivedMs: number } | undefined;
  #lastSoundMs: number | undefined;
  #soundArrivedMs = 0;
  /** The duration of all pictures that arrived after the last sound. */
  #silentMs = 0;
  /** Whether sound came after the first key frame. Before sound has come, no segment is recorded. */
  #hasSound = false;
  #segmentBeganMs = 0;
  #isSegmentDiscontinuous = false;
  /** Whether the next segment does not continue the current segment (`isDiscontinuous`). */
  #isDiscontinuous = false;
  /** The time of the newest picture or sound of the current segment. */
  #newestMs = 0;
  #lastKeyMs = 0;
  #lastPictureMs = 0;
  #pictureArrivedMs = 0;
  #hasEnded = false;
  /** The number of times that pictures were missing for `GAP_MS` or more. */
  gaps = 0;
  /** The time between the last two key frames; null before the second key frame. */
  keyFrameMs: number | null = null;
  #waitingSound: { ms: number; frames: Uint8Array[] } | undefined;

  constructor(container: Container, owner: PackagerOwner) {
    this.#container = container;
    this.#owner = owner;
  }

  /** The number of steps of the encoder's clock. */
  get clockSteps(): number {
    return this.#time.steps;
  }

  /** Adds a configuration of the video, or a picture. Throws `MediaProblem`. */
  addVideo(timestamp: number, packet: VideoPacket): void {
    if (this.#hasEnded) return;
    if (packet.kind === "config") this.#configureVideo(packet.bytes);
    else this.#addPicture(timestamp, packet);
  }

  #configureVideo(bytes: Uint8Array): void {
    const before = this.#videoConfigBytes;
    if (before !== undefined && Buffer.compare(before, bytes) === 0) return;
    this.#video = readVideoConfig(bytes);
    this.#videoConfigBytes = Uint8Array.from(bytes);
    if (this.#began !== undefined) this.#isDiscontinuous = true;
  }

  #addPicture(timestamp: number, { isKey, compositionMs, bytes }: Extract<VideoPacket, { kind: "frame" }>): void {
    const nowMs = this.#owner.monotonicMs();
    const decodeMs = this.#timed(() => this.#time.video(timestamp, nowMs));
    this.#hasPicture = true;
    const config = this.#video;
    // Pictures before the first key frame are left out, because they cannot be decoded.
    if (config === undefined || (this.#began === undefined && !isKey)) {
      this.#requireStart(decodeMs);
      return;
    }
    if (this.#began === undefined) this.#begin(config, decodeMs, nowMs);
    else {
      const durationMs = decodeMs - this.#lastPictureMs;
      if (durationMs >= GAP_MS) this.gaps++;
      this.#silentMs += Math.min(durationMs, Math.max(GAP_MS, nowMs - this.#pictureArrivedMs));
      if (isKey) this.keyFrameMs = decodeMs - this.#lastKeyMs;
    }
    if (this.#isSilent(nowMs)) {
      this.end();
      this.#hasEnded = true;
      this.#owner.audioMissing();
      return;
    }
    if (isKey) this.#lastKeyMs = decodeMs;
    else if (decodeMs - this.#lastKeyMs > KEY_FRAME_MS_MAX) throw new MediaProblem("no key frame came for 20 s: send one every 2 s");
    this.#cutBeforePicture(decodeMs, isKey);
    this.#container.addPicture({ config, isKey, decodeMs, showMs: decodeMs + compositionMs, bytes });
    this.#lastPictureMs = decodeMs;
    this.#newestMs = Math.max(this.#newestMs, decodeMs);
    this.#pictureArrivedMs = nowMs;
  }

  /** The time by which the newest sound is older than the newest picture, but at most the duration of the pictures that arrived after that sound. */
  get audioBehindMs(): number {
    const behindMs = this.#lastPictureMs - Math.max(this.#lastSoundMs ?? 0, this.#began?.ms ?? 0);
    return Math.max(0, Math.min(behindMs, this.#silentMs));
  }

  /** Adds a configuration of the sound, or a packet of sound. Throws `MediaProblem`. */
  addAudio(timestamp: number, packet: AudioPacket): void {
    if (this.#hasEnded) return;
    if (packet.kind === "config") {
      this.#configureAudio(packet.config);
      return;
    }
    if (this.#audio === undefined) return;
    const nowMs = this.#owner.monotonicMs();
    const ms = this.#timed(() => this.#time.audio(timestamp, nowMs));
    this.#lastSoundMs = ms;
    this.#soundArrivedMs = nowMs;
    this.#silentMs = 0;
    if (this.#began === undefined) this.#requireStart(ms);
    // Sound is not recorded before the first key frame, or if its format differs from the format of the segment.
    if (this.#began === undefined || this.#nextAudio !== undefined) return;
    if (this.#hasSound && ms - this.#segmentBeganMs >= CUT_AT_SOUND_MS) this.#cut(ms);
    this.#hasSound = true;
    this.#newestMs = Math.max(this.#newestMs, ms);
    this.#waitingSound ??= { ms, frames: [] };
    this.#waitingSound.frames.push(packet.bytes);
    if (ms - this.#waitingSound.ms >= SOUND_MS) this.#flushSound();
  }

  #configureAudio(config: AacConfig): void {
    this.#isAudioAnnounced = true;
    const isSame = this.#audio !== undefined && isSameSound(this.#audio, config);
    if (this.#hasSound && !isSame) {
      this.#nextAudio = config;
      this.#isDiscontinuous = true;
    } else {
      this.#nextAudio = undefined;
      this.#audio = config;
    }
  }

  /** Records that the stream's metadata announce audio. */
  announceAudio(): void {
    this.#isAudioAnnounced = true;
  }

  /** Completes the last segment. */
  end(): void {
    if (this.#hasEnded || !this.#hasSound) return;
    this.#hasEnded = true;
    // A segment without pictures ends at the time of its newest sound.
    this.#give((this.#lastPictureMs >= this.#segmentBeganMs ? this.#lastPictureMs : this.#newestMs) + LAST_FRAME_MS);
  }

  /** Returns the time of a packet on the timeline, which `place` computes. If the encoder's clock steps, the next segment is discontinuous. */
  #timed(place: () => number): number {
    const { steps } = this.#time;
    const ms = place();
    this.#firstMs ??= ms;
    if (this.#began !== undefined && this.#time.steps > steps) this.#isDiscontinuous = true;
    return ms;
  }

  #requireStart(ms: number): void {
    if (ms - (this.#firstMs ?? ms) <= START_MS_MAX) return;
    if (!this.#hasPicture) throw new MediaProblem("no picture came for 10 s: send H.264 video");
    if (this.#video === undefined) throw new MediaProblem("no configuration of the H.264 video came for 10 s: start the encoder again");
    throw new MediaProblem("no key frame came for 10 s: send one every 2 s");
  }

  #begin(config: VideoConfig, ms: number, arrivedMs: number): void {
    this.#began = { ms, arrivedMs };
    this.#segmentBeganMs = ms;
    this.#owner.began(config);
  }

  /**
   * Whether sound is missing. After the first sound, sound is missing if no sound arrived for the allowed time of the machine's clock, and if the
   * pictures that arrived in that time last at least as long. Because both times are required, neither a slow network nor a step of the encoder's
   * clock counts as silence.
   */
  #isSilent(nowMs: number): boolean {
    if (this.#lastSoundMs === undefined) return this.#silentMs > (this.#isAudioAnnounced ? SILENT_MS_MAX.announced : SILENT_MS_MAX.unannounced);
    const sinceMs = Math.max(this.#soundArrivedMs, this.#began?.arrivedMs ?? 0);
    return this.#silentMs > SILENT_MS_MAX.inTheMiddle && nowMs - sinceMs > SILENT_MS_MAX.inTheMiddle;
  }

  #cutBeforePicture(ms: number, isKey: boolean): void {
    const ageMs = ms - this.#segmentBeganMs;
    const isWanted = isKey && (ageMs >= SEGMENT_MS_MIN || this.#isDiscontinuous);
    if (ageMs < CUT_AT_PICTURE_MS && !isWanted) return;
    if (this.#hasSound) this.#cut(ms);
    else if (ageMs >= CUT_AT_PICTURE_MS || this.#isDiscontinuous) {
      // D-51: the segment is discarded, because no sound has arrived yet.
      this.#container.take();
      this.#isDiscontinuous = false;
      this.#segmentBeganMs = ms;
    }
  }

  /**
   * Completes the current segment; the next segment begins at `ms`. If no packet came for some time and the segment would be too long, neither
   * segment contains the time without packets.
   */
  #cut(ms: number): void {
    const isTooLong = ms - this.#segmentBeganMs > SEGMENT_MS_MAX;
    this.#give(isTooLong ? this.#newestMs + LAST_FRAME_MS : ms);
    this.#isSegmentDiscontinuous = this.#isDiscontinuous || isTooLong;
    this.#isDiscontinuous = false;
    this.#segmentBeganMs = ms;
    this.#audio = this.#nextAudio ?? this.#audio;
    this.#nextAudio = undefined;
  }

  #give(untilMs: number): void {
    this.#flushSound();
    const segment = { durationMs: untilMs - this.#segmentBeganMs, isDiscontinuous: this.#isSegmentDiscontinuous };
    if (!this.#container.isEmpty) this.#owner.segment({ bytes: this.#container.take(), ...segment });
  }

  #flushSound(): void {
    if (this.#waitingSound === undefined || this.#audio === undefined) return;
    this.#container.addSound({ ...this.#waitingSound, config: this.#audio });
    this.#waitingSound = undefined;
  }
}

const isSameSound = (one: AacConfig, other: AacConfig): boolean =>
  one.sampleRate === other.sampleRate && one.channels === other.channels && one.profile === other.profile;
