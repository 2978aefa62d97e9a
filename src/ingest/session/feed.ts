/** Packs, records and measures the stream of one admitted publisher. */
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
  /** Ends the feed because of an error. The encoder gets the reason of the error. */
  stop(reason: string): void;
  onError(error: unknown): void;
}

export interface FeedLimits {
  /** The highest bit rate, as an average over `RATE_TICKS` seconds. */
  readonly bitsPerSecondMax: number;
}

/** The number of seconds over which the bit rate is averaged, because encoders send key frames in bursts. */
const RATE_TICKS = 5;

export class Feed {
  readonly #options: FeedOptions;
  readonly #packager: Packager;
  #config: VideoConfig | undefined;
  /** The time of the machine's clock at which the first key frame arrived. */
  #beganRealMs = 0;
  #admission: Admission | undefined;
  #recording: SessionRecording | undefined;
  /** The segments that were completed before the server replied to `start`. */
  #early: RecordedSegment[] = [];
  #hasEnded = false;
  /** Resolves when the server has replied to `start`. */
  #starting: Promise<void> = Promise.resolve();
  /** The counts of bytes and frames in each of the last seconds, the newest second last. */
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

  /** Counts and packs a packet of audio. Throws `MediaProblem`. */
  audio(timestamp: number, packet: AudioPacket): void {
    if (this.#hasEnded) return;
    if (packet.kind === "frame") {
      this.#bytes += packet.bytes.length;
      this.#audioBytes += packet.bytes.length;
    }
    this.#packager.addAudio(timestamp, packet);
  }

  /** Counts and packs a packet of video. Throws `MediaProblem`. */
  video(timestamp: number, packet: VideoPacket): void {
    if (this.#hasEnded) return;
    this.#bytes += packet.bytes.length;
    this.#packager.addVideo(timestamp, packet);
    if (packet.kind === "frame") this.#frames++;
  }

  announceAudio(): void {
    this.#packager.announceAudio();
  }

  /** Called once a second to check the bit rate. Throws `MediaProblem` if the bit rate is too high. */
  tick(): void {
    this.#ticks.push({ bytes: this.#bytes, audioBytes: this.#audioBytes, frames: this.#frames });
    this.#bytes = 0;
    this.#audioBytes = 0;
    this.#frames = 0;
    if (this.#ticks.length > RATE_TICKS) this.#ticks.shift();
    const { bitsPerSecondMax } = this.#options.limits;
    if (this.#ticks.length === RATE_TICKS && this.#rateOf("bytes") * 8 > bitsPerSecondMax)
      throw new MediaProblem(`the stream has more than ${Math.round(bitsPerSecondMax / 1_000_000)} Mbit/s: lower the bit rate in the encoder`);
  }

  /** The health of the feed; undefined before the feed has begun. */
  get health(): FeedHealth | undefined {
    // A bit rate cannot be computed before the end of the first second.
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

  /** Whether the first key frame has arrived. */
  get hasBegun(): boolean {
    return this.#config !== undefined;
  }

  is(name: FeedName): boolean {
    const feed = this.#admission?.feed;
    return feed?.video === name.video && feed.session === name.session && feed.world === name.world;
  }

  /** Ends the feed. `ending` is undefined if the server has ended the feed itself. Resolves when the recording is complete. */
  async end(ending: FeedEnding | undefined): Promise<void> {
    if (this.#hasEnded) return;
    this.#packager.end();
    this.#hasEnded = true;
    // If the server has not replied to `start` yet, the completed segments are recorded after the reply.
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
      this.#options.stop("The stream key is no longer valid");
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
