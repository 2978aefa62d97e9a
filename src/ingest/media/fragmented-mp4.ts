/**
 * Segments of HLS as fragments of MP4 (CMAF, ISO/IEC 23000-19): for streams of browsers, whose Opus a transport stream cannot hold in a
 * way that players understand. Pictures keep both of their times; sound is one line of samples, as its decoder makes it. Where the encoder
 * sent none the line is filled with silence (D-117): browsers play by the clock of the sound, and a line with holes runs dry.
 */
import { AAC_FRAME_SAMPLES, silentAac } from "./aac.ts";
import type { ContainedSegment, Container, Picture, Sound } from "./container.ts";
import type { VideoConfig } from "./h264.ts";
import { AUDIO_TRACK, audioScale, box, fullBox, initSegment, joined, u32, u64, VIDEO_TRACK } from "./mp4-boxes.ts";
import { opusSamples, SILENT_OPUS } from "./opus.ts";
import type { AudioConfig } from "./packets.ts";
import { MediaProblem } from "./problem.ts";

/** Times of encoders are rounded to milliseconds and tremble; only a larger step is a gap in the sound. */
const GAP_MS = 50;
/** Of silence in one segment: a stream ends after half of it, and times that jump on purpose make no more bytes than that. */
const SILENCE_MS_MAX = 20_000;

interface Sample {
  readonly bytes: Uint8Array;
  /** In the track's own units. */
  duration: number;
}

export class FragmentedMp4 implements Container {
  #video: VideoConfig | undefined;
  #audio: AudioConfig | undefined;
  #head: Uint8Array | undefined;
  #pictures: Picture[] = [];
  #sounds: Sample[] = [];
  /** Where the sound of the segment begins, and where the sound so far ends. */
  #soundsBegin = 0;
  #soundEnd = 0;
  /** How much of the segment's sound is silence that was made here. */
  #silentSamples = 0;
  /** Up to here silence took the place of sound that may still come, too late. */
  #closedUntil = 0;
  /** The first picture of the session. */
  #beganMs: number | undefined;
  #count = 0;

  get isEmpty(): boolean {
    return this.#pictures.length === 0;
  }

  addPicture(picture: Picture): void {
    this.#video ??= picture.config;
    this.#beganMs ??= picture.decodeMs;
    if (picture.config !== this.#video && !isSame(picture.config.bytes, this.#video.bytes)) throw changed("video");
    this.#pictures.push(picture);
  }

  addSound({ config, ms, frames }: Sound): void {
    let at = samplesIn(config, ms);
    if (this.#audio === undefined) {
      this.#audio = config;
      this.#soundEnd = Math.min(at, samplesIn(config, this.#beganMs ?? ms));
      this.#beSilent(config, at);
    } else if (config !== this.#audio && !isSame(config.bytes, this.#audio.bytes)) throw changed("sound");
    if (at - this.#soundEnd > samplesIn(config, GAP_MS)) this.#beSilent(config, at);
    for (const bytes of frames) {
      const duration = durationOf(config, bytes);
      if (at >= this.#closedUntil) this.#addSample({ bytes, duration });
      at += duration;
    }
  }

  take(untilMs: number, isLast = false): ContainedSegment {
    // Browsers play as far as both tracks go: a segment without sound adds nothing, and behind a last one of that kind they wait for ever.
    if (isLast || this.#sounds.length === 0) this.#closeAt(untilMs);
    const [pictures, sounds] = [this.#pictures, this.#sounds];
    this.#pictures = [];
    this.#sounds = [];
    this.#silentSamples = 0;
    if (this.#video !== undefined && this.#audio !== undefined) this.#head ??= initSegment(this.#video, this.#audio);
    const number = ++this.#count;
    // The offsets of the samples depend on the size of what is written before them, which does not depend on them.
    const before = this.#fragment({ pictures, sounds, untilMs, number, dataAt: 0 }).length + 8;
    const fragment = this.#fragment({ pictures, sounds, untilMs, number, dataAt: before });
    return { head: this.#head, bytes: joined([fragment, box("mdat", ...pictures.map(({ bytes }) => bytes), ...sounds.map(({ bytes }) => bytes))]) };
  }

  #addSample(sample: Sample): void {
    if (this.#sounds.length === 0) this.#soundsBegin = this.#soundEnd;
    this.#sounds.push(sample);
    this.#soundEnd += sample.duration;
  }

  #closeAt(ms: number): void {
    if (this.#audio === undefined) return;
    const at = samplesIn(this.#audio, ms);
    if (this.#soundEnd >= at) return;
    this.#beSilent(this.#audio, at);
    this.#closedUntil = this.#soundEnd;
  }

  /** Until `at`, in whole frames. What cannot be filled lasts as long as the sample before it, or the segment begins later. */
  #beSilent(config: AudioConfig, at: number): void {
    const bytes = config.codec === "opus" ? SILENT_OPUS : silentAac(config);
    const end = Math.min(at, this.#soundEnd + samplesIn(config, SILENCE_MS_MAX) - this.#silentSamples);
    while (bytes !== undefined && this.#soundEnd < end) {
      const duration = durationOf(config, bytes);
      this.#addSample({ bytes, duration });
      this.#silentSamples += duration;
    }
    const rest = Math.max(0, at - this.#soundEnd);
    const last = this.#sounds.at(-1);
    if (last !== undefined) last.duration += rest;
    this.#soundEnd += rest;
  }

  #fragment({ pictures, sounds, untilMs, number, dataAt }: Fragment): Uint8Array {
    const video = pictures.flatMap(({ decodeMs, showMs, isKey, bytes }, index) => {
      const endMs = pictures[index + 1]?.decodeMs ?? Math.max(untilMs, decodeMs + 1);
      return [...u32(endMs - decodeMs), ...u32(bytes.length), ...u32(isKey ? KEY : DEPENDS), ...u32(showMs - decodeMs)];
    });
    const audio = sounds.flatMap(({ bytes, duration }) => [...u32(duration), ...u32(bytes.length)]);
    const soundAt = dataAt + pictures.reduce((sum, { bytes }) => sum + bytes.length, 0);
    const tracks = [traf(VIDEO_TRACK, pictures[0]?.decodeMs ?? 0, fullBox("trun", 1, WITH_ALL, u32(pictures.length), u32(dataAt), video))];
    if (sounds.length > 0) {
      tracks.push(traf(AUDIO_TRACK, this.#soundsBegin, fullBox("trun", 1, WITH_DURATION_AND_SIZE, u32(sounds.length), u32(soundAt), audio)));
    }
    return box("moof", fullBox("mfhd", 0, 0, u32(number)), ...tracks);
  }
}

interface Fragment {
  readonly pictures: readonly Picture[];
  readonly sounds: readonly Sample[];
  readonly untilMs: number;
  /** From 1. */
  readonly number: number;
  /** Where the samples begin, from the fragment's beginning. */
  readonly dataAt: number;
}

/** Flags of samples (8.8.3.1): a key picture depends on no other; others are no points to begin at. */
const KEY = 0x0200_0000;
const DEPENDS = 0x0101_0000;
/** What a run says of each sample (8.8.8.1), besides where the data begin. */
const WITH_DURATION_AND_SIZE = 0x301;
const WITH_ALL = 0xf01;
/** Offsets count from the fragment (8.8.7.1). */
const FROM_FRAGMENT = 0x2_0000;

const traf = (track: number, begins: number, run: Uint8Array): Uint8Array =>
  box("traf", fullBox("tfhd", 0, FROM_FRAGMENT, u32(track)), fullBox("tfdt", 1, 0, u64(begins)), run);

/** One beginning of the file describes all of a session. */
const changed = (what: string): MediaProblem => new MediaProblem(`the configuration of the ${what} changed: connect again to send with another one`);

/** Of a frame, in samples. Throws `MediaProblem`. */
const durationOf = (config: AudioConfig, bytes: Uint8Array): number => (config.codec === "opus" ? opusSamples(bytes) : AAC_FRAME_SAMPLES);

const samplesIn = (config: AudioConfig, ms: number): number => Math.round((ms * audioScale(config)) / 1000);

const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;
