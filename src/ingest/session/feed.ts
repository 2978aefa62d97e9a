/** What one admitted publisher sends: packaged, recorded, and counted. */
import type { RecordingSpace } from "#recordings/recording-space";
import { type RecordedSegment, SessionRecording } from "#recordings/session-recording";
import type { Admission, FeedEnding, FeedGate, FeedHealth, FeedName } from "../channel.ts";
import { MediaProblem } from "../media/bits.ts";
import type { VideoConfig } from "../media/h264.ts";
import { Packager, type Segment } from "../media/packager.ts";
import type { AudioPacket, VideoPacket } from "../media/packets.ts";
import { TransportStream } from "../media/transport-stream.ts";

export interface FeedOptions {
  readonly gate: FeedGate;
  readonly key: string;
  readonly recordings: string;
  readonly space: RecordingSpace;
  readonly limits: FeedLimits;
  realNowMs(): number;
  monotonicMs(): number;
  /** The feed cannot go on; the publisher reads the reason. */
  stop(reason: string): void;
  onError(error: unknown): void;
}

export interface FeedLimits {
  /** Averaged over `RATE_TICKS` seconds. */
  readonly bitsPerSecondMax: number;
}

/** Encoders send key frames in bursts, so the rate is an average over so many seconds. */
const RATE_TICKS = 5;

export class Feed {
  readonly #options: FeedOptions;
  readonly #packager: Packager;
  #config: VideoConfig | undefined;
  /** The machine's time of the first key frame. */
  #beganRealMs = 0;
  #admission: Admission | undefined;
  #recording: SessionRecording | undefined;
  /** Segments that were ready before the server had answered. */
  #early: RecordedSegment[] = [];
  #hasEnded = false;
  /** The server is asked, or has replied. */
  #starting: Promise<void> = Promise.resolve();
  /** Of the ticks, newest last. */
  readonly #ticks: { bytes: number; audioBytes: number; frames: number }[] = [];
  #bytes = 0;
  #audioBytes = 0;
  #frames = 0;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#packager = new Packager(new TransportStream(), {
      began: (config) => {
        this.#starting = this.#start(config);
      },
      segment: (segment) => this.#record(segment),
      audioMissing: () => this.#fail("no_audio", "The stream has no audio, and audio is required"),
      monotonicMs: options.monotonicMs,
    });
  }

  /** Throws `MediaProblem`. */
  audio(timestamp: number, packet: AudioPacket): void {
    if (this.#hasEnded) return;
    if (packet.kind === "frame") {
      this.#bytes += packet.bytes.length;
      this.#audioBytes += packet.bytes.length;
    }
    this.#packager.addAudio(timestamp, packet);
  }

  /** Throws `MediaProblem`. */
  video(timestamp: number, packet: VideoPacket): void {
    if (this.#hasEnded) return;
    this.#bytes += packet.bytes.length;
    this.#packager.addVideo(timestamp, packet);
    if (packet.kind === "frame") this.#frames++;
  }

  announceAudio(): void {
    this.#packager.announceAudio();
  }

  /** Once a second. Throws `MediaProblem` where the publisher sends too much. */
  tick(): void {
    this.#ticks.push({ bytes: this.#bytes, audioBytes: this.#audioBytes, frames: this.#frames });
    this.#bytes = 0;
    this.#audioBytes = 0;
    this.#frames = 0;
    if (this.#ticks.length > RATE_TICKS) this.#ticks.shift();
    const { bitsPerSecondMax } = this.#options.limits;
    if (this.#ticks.length === RATE_TICKS && this.#rateOf("bytes") * 8 > bitsPerSecondMax)
      throw new MediaProblem(`the stream has more than ${Math.round(bitsPerSecondMax / 1_000_000)} Mbit/s`);
  }

  /** Undefined: it has not begun. */
  get health(): FeedHealth | undefined {
    // Before the first second is over there is no rate.
    if (this.#admission === undefined || this.#config === undefined || this.#hasEnded || this.#ticks.length === 0) return undefined;
    const { width, height } = this.#config;
    return {
      ...this.#admission.feed,
      bits_per_second: Math.round(this.#rateOf("bytes") * 8),
      frames_per_second: Math.round(this.#rateOf("frames") * 10) / 10,
      audio_bits_per_second: Math.round(this.#rateOf("audioBytes") * 8),
      audio_behind_ms: this.#packager.audioBehindMs,
      gaps: this.#packager.gaps,
      clock_steps: this.#packager.clockSteps,
      key_frame_ms: this.#packager.keyFrameMs,
      ...{ width, height },
    };
  }

  /** Its first key frame has come. */
  get hasBegun(): boolean {
    return this.#config !== undefined;
  }

  is(name: FeedName): boolean {
    const feed = this.#admission?.feed;
    return feed?.video === name.video && feed.session === name.session && feed.world === name.world;
  }

  /** The publisher is gone, or may not go on; resolves when the recording is whole. */
  async end(ending: FeedEnding | undefined): Promise<void> {
    if (this.#hasEnded) return;
    this.#packager.end();
    this.#hasEnded = true;
    // The server may still be asked; what came meanwhile is recorded, too.
    await this.#starting;
    await this.#recording?.end();
    if (this.#admission !== undefined && ending !== undefined) this.#options.gate.end(this.#admission.feed, ending);
  }

  #rateOf(what: "bytes" | "audioBytes" | "frames"): number {
    return this.#ticks.reduce((sum, tick) => sum + tick[what], 0) / Math.max(1, this.#ticks.length);
  }

  async #start(config: VideoConfig): Promise<void> {
    this.#config = config;
    this.#beganRealMs = this.#options.realNowMs();
    const { gate, key, recordings: root, space } = this.#options;
    const admission = await gate.start(key, config);
    if (admission === undefined) {
      this.#hasEnded = true;
      this.#options.stop("The stream key opens nothing any more");
      return;
    }
    this.#admission = admission;
    this.#recording = new SessionRecording({ root, ...admission.feed }, space, (failure, error) => {
      this.#options.onError(error);
      this.#fail(failure, "The recording cannot be stored");
    });
    for (const segment of this.#early) this.#recording.add(segment);
    this.#early = [];
  }

  #record(given: Segment): void {
    const segment = { ...given, beganRealMs: Math.max(this.#beganRealMs, this.#options.realNowMs() - given.durationMs) };
    if (this.#recording === undefined) this.#early.push(segment);
    else this.#recording.add(segment);
  }

  #fail(ending: FeedEnding, reason: string): void {
    void this.end(ending);
    this.#options.stop(reason);
  }
}
