/**
 * Segments of HLS as fragments of MP4 (CMAF, ISO/IEC 23000-19): for streams of browsers, whose Opus a transport stream cannot hold in a
 * way that players understand. Pictures keep both of their times; sound is one line of samples, as its decoder makes it.
 */
import { AAC_FRAME_SAMPLES } from "./aac.ts";
import type { ContainedSegment, Container, Picture, Sound } from "./container.ts";
import type { VideoConfig } from "./h264.ts";
import { AUDIO_TRACK, audioScale, box, fullBox, initSegment, joined, u32, u64, VIDEO_TRACK } from "./mp4-boxes.ts";
import { opusSamples } from "./opus.ts";
import type { AudioConfig } from "./packets.ts";
import { MediaProblem } from "./problem.ts";

/** Times of encoders are rounded to milliseconds and tremble; only a larger step is a gap in the sound. */
const GAP_MS = 50;

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
  #soundEnd: number | undefined;
  #count = 0;

  get isEmpty(): boolean {
    return this.#pictures.length === 0;
  }

  addPicture(picture: Picture): void {
    this.#video ??= picture.config;
    if (picture.config !== this.#video && !isSame(picture.config.bytes, this.#video.bytes)) throw changed("video");
    this.#pictures.push(picture);
  }

  addSound({ config, ms, frames }: Sound): void {
    this.#audio ??= config;
    if (config !== this.#audio && !isSame(config.bytes, this.#audio.bytes)) throw changed("sound");
    const scale = audioScale(config);
    const at = Math.round((ms * scale) / 1000);
    const end = this.#soundEnd ?? at;
    const gap = at - end > (GAP_MS * scale) / 1000 ? at - end : 0;
    const last = this.#sounds.at(-1);
    // The sample before it lasts until then, or the segment begins later.
    if (last !== undefined) last.duration += gap;
    else this.#soundsBegin = end + gap;
    this.#soundEnd = end + gap;
    for (const bytes of frames) {
      const duration = config.codec === "opus" ? opusSamples(bytes) : AAC_FRAME_SAMPLES;
      this.#sounds.push({ bytes, duration });
      this.#soundEnd += duration;
    }
  }

  take(untilMs: number): ContainedSegment {
    const [pictures, sounds] = [this.#pictures, this.#sounds];
    this.#pictures = [];
    this.#sounds = [];
    if (this.#video !== undefined && this.#audio !== undefined) this.#head ??= initSegment(this.#video, this.#audio);
    const number = ++this.#count;
    // The offsets of the samples depend on the size of what is written before them, which does not depend on them.
    const before = this.#fragment({ pictures, sounds, untilMs, number, dataAt: 0 }).length + 8;
    const fragment = this.#fragment({ pictures, sounds, untilMs, number, dataAt: before });
    return { head: this.#head, bytes: joined([fragment, box("mdat", ...pictures.map(({ bytes }) => bytes), ...sounds.map(({ bytes }) => bytes))]) };
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

const isSame = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0;
