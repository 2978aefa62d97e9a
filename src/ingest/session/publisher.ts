/** A connection to the port for encoders, with its socket, its RTMP session, and the feed that the encoder publishes. */
import type { Socket } from "bun";
import type { RecordingSpace } from "#recordings/recording-space";
import type { Admission, FeedEnding, FeedGate, FeedHealth, FeedName } from "../channel.ts";
import { MediaProblem } from "../media/bits.ts";
import { readAudioTag, readVideoTag } from "../media/packets.ts";
import type { AmfObject } from "../rtmp/amf0.ts";
import { RtmpProblem } from "../rtmp/message.ts";
import { PublisherSession, type SessionOwner } from "../rtmp/publisher-session.ts";
import { Feed, type FeedLimits } from "./feed.ts";

/** The port that a publisher's connection belongs to. */
export interface PublisherOwner {
  readonly gate: FeedGate;
  readonly recordings: string;
  readonly space: RecordingSpace;
  readonly limits: FeedLimits;
  monotonicMs(): number;
  realNowMs(): number;
  randomBytes(count: number): Uint8Array;
  /** Returns the connection that publishes the given video; undefined if no connection publishes the video. */
  publisherOf(feed: FeedName): Publisher | undefined;
  onError(error: unknown, about: Readonly<Record<string, unknown>>): void;
  /** Writes a line for the operator into the log. */
  onNote(about: Readonly<Record<string, unknown>>, note: string): void;
}

/** The time in which a connection must send a valid key. */
const KEY_WITHIN_MS = 10_000;
/** The silence after which a publisher counts as lost, because its network has probably failed and left its socket half open. */
const SILENT_MS_MAX = 8_000;
/** The silence of a publisher after which another connection with the same key may replace it. */
const TAKEN_OVER_AFTER_MS = 3_000;
/** The time that the server gives the peer to read the last message and close the connection. */
const LINGER_MS = 2_000;
/** The time after `FCUnpublish` in which the peer must send `deleteStream` or close the connection. Encoders do so in less than a second. */
const UNPUBLISHED_MS_MAX = 10_000;
/**
 * The number of unsent bytes at which a peer is disconnected. The server sends a peer only few and small messages, so a peer with this number of
 * unsent bytes must have stopped reading.
 */
const UNSENT_BYTES_MAX = 65_536;

export class Publisher implements SessionOwner {
  readonly #socket: Socket<Publisher>;
  readonly #owner: PublisherOwner;
  /** The RTMP session; undefined before the first byte. */
  #session: PublisherSession | undefined;
  #feed: Feed | undefined;
  #unsent: Uint8Array[] = [];
  #unsentBytes = 0;
  readonly #openedMs: number;
  #receivedMs: number;
  /** The time at which the last message was sent or received. After the last message, the server only waits until the peer closes the connection. */
  #endedMs: number | undefined;
  /** The time at which the publisher ended its stream. */
  #unpublishedMs: number | undefined;
  /** The id of the video whose stream key the server accepted. The next two fields are the video's world and the stream key. */
  video: string | undefined;
  world: string | undefined;
  #key: string | undefined;
  /** Resolves when the recording is complete. */
  #recorded: Promise<void> = Promise.resolve();

  constructor(socket: Socket<Publisher>, owner: PublisherOwner) {
    this.#socket = socket;
    this.#owner = owner;
    this.#openedMs = owner.monotonicMs();
    this.#receivedMs = this.#openedMs;
  }

  get health(): FeedHealth | undefined {
    return this.#feed?.health;
  }

  get isUnauthenticated(): boolean {
    return this.video === undefined;
  }

  /** Whether the encoder has sent any bytes. */
  get hasSent(): boolean {
    return this.#session !== undefined;
  }

  get silentMs(): number {
    return this.#owner.monotonicMs() - this.#receivedMs;
  }

  publishes(name: FeedName): boolean {
    return this.#feed?.is(name) === true;
  }

  // The methods below handle the events of the socket.

  received(bytes: Uint8Array): void {
    if (this.#endedMs !== undefined) return;
    this.#receivedMs = this.#owner.monotonicMs();
    this.#session ??= new PublisherSession(this);
    const session = this.#session;
    this.#guarded(() => session.received(bytes));
  }

  drained(): void {
    const parts = this.#unsent;
    this.#unsent = [];
    this.#unsentBytes = 0;
    for (const part of parts) this.send(part);
    if (this.#endedMs !== undefined && this.#unsentBytes === 0) this.#socket.shutdown();
  }

  /** Called when the socket is closed. */
  closed(): Promise<void> {
    this.#endFeed("lost");
    return this.#recorded;
  }

  /** Closes the connection at once, without a message. */
  terminate(): void {
    this.#socket.terminate();
  }

  /** Checks the time limits, once a second. */
  checkTime(): void {
    const nowMs = this.#owner.monotonicMs();
    if (this.#endedMs !== undefined) {
      if (nowMs - this.#endedMs > LINGER_MS) this.#socket.terminate();
    } else if (this.#unpublishedMs !== undefined) {
      if (nowMs - this.#unpublishedMs > UNPUBLISHED_MS_MAX) this.#socket.terminate();
    } else if (this.#session?.isPublishing !== true) {
      if (nowMs - this.#openedMs > KEY_WITHIN_MS) this.#socket.terminate();
    } else if (this.silentMs > SILENT_MS_MAX) {
      if (this.#feed?.hasBegun === false) this.#reportRefusal("the encoder sent no picture and then nothing for 8 s: check its video source");
      this.#socket.terminate();
    } else this.#guarded(() => this.#feed?.tick());
  }

  /** Ends the feed. `ending` is undefined if the server has ended the feed itself. Resolves when the recording is complete. */
  stop(reason: string, ending?: FeedEnding): Promise<void> {
    this.#endFeed(ending);
    if (this.#session === undefined) this.#socket.terminate();
    else this.#session.refuse("feed", reason);
    return this.#recorded;
  }

  // The methods below implement `SessionOwner`.

  send(bytes: Uint8Array): void {
    if (this.#unsentBytes > 0) {
      this.#keep(bytes);
      return;
    }
    const sent = Math.max(0, this.#socket.write(bytes));
    if (sent < bytes.length) this.#keep(bytes.subarray(sent));
  }

  end(): void {
    if (this.#endedMs !== undefined) return;
    this.#endedMs = this.#owner.monotonicMs();
    if (this.#unsentBytes === 0) this.#socket.shutdown();
  }

  publishAsked(key: string): void {
    this.#admit(key).catch((error: unknown) => {
      this.#owner.onError(error, {});
      this.#session?.refuse("feed", "The server cannot check the key now");
    });
  }

  media(type: "audio" | "video", timestamp: number, body: Uint8Array): void {
    if (type === "audio") {
      const packet = readAudioTag(body);
      if (packet !== undefined) this.#feed?.audio(timestamp, packet);
    } else {
      const packet = readVideoTag(body);
      if (packet !== undefined) this.#feed?.video(timestamp, packet);
    }
  }

  metadata(values: AmfObject): void {
    if (values.audiocodecid !== undefined) this.#feed?.announceAudio();
  }

  unpublished(): void {
    this.#endFeed("lost");
    this.#unpublishedMs = this.#owner.monotonicMs();
  }

  finished(): void {
    this.#endedMs ??= this.#owner.monotonicMs();
  }

  randomBytes = (count: number): Uint8Array => this.#owner.randomBytes(count);

  async #admit(key: string): Promise<void> {
    const admission = await this.#owner.gate.check(key);
    if (this.#endedMs !== undefined) return;
    if (admission === undefined) this.#session?.refuse("key", "Unknown stream key");
    else if (this.#takeOver(admission, key)) this.#begin(admission, key);
    else {
      this.#owner.gate.refused(admission.feed, "another encoder sends with the same stream key: stop one of them, or make a new key");
      this.#session?.refuse("key", "Another encoder uses this key");
    }
  }

  #begin({ feed: { video, world } }: Admission, key: string): void {
    const { gate, recordings, space, limits } = this.#owner;
    this.video = video;
    this.world = world;
    this.#key = key;
    this.#feed = new Feed({
      ...{ gate, key, recordings, space, limits },
      realNowMs: this.#owner.realNowMs,
      monotonicMs: this.#owner.monotonicMs,
      stop: (reason) => {
        this.#owner.onNote({ world, video, reason }, "a feed was ended");
        this.#session?.refuse("feed", reason);
      },
      onError: (error) => this.#owner.onError(error, { world, video }),
    });
    this.#session?.admit();
  }

  /**
   * Makes this connection the only publisher of the video, and returns whether that succeeded. Another publisher is disconnected if its connection is
   * silent and so may be half open, or if it uses an older key of the video.
   */
  #takeOver({ feed }: Admission, key: string): boolean {
    const other = this.#owner.publisherOf(feed);
    if (other === undefined || other === this) return true;
    if (other.#key === key && other.silentMs < TAKEN_OVER_AFTER_MS) return false;
    other.#endFeed("lost");
    other.#socket.terminate();
    return true;
  }

  #endFeed(ending: FeedEnding | undefined): void {
    const feed = this.#feed;
    if (feed === undefined) return;
    this.#feed = undefined;
    this.video = undefined;
    this.#recorded = feed.end(ending);
  }

  #keep(bytes: Uint8Array): void {
    this.#unsent.push(bytes);
    this.#unsentBytes += bytes.length;
    if (this.#unsentBytes > UNSENT_BYTES_MAX) this.#socket.terminate();
  }

  /** Runs work on bytes from the peer. An error in this work ends only the connection, never the process. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      const isKnown = error instanceof MediaProblem || error instanceof RtmpProblem;
      if (!isKnown) this.#owner.onError(error, { world: this.world, video: this.video });
      // Only a peer that has sent a valid stream key gets the reason of the error.
      if (isKnown && this.#reportRefusal(error.message)) void this.stop(error.message, "lost");
      else {
        this.#endFeed("lost");
        this.#socket.terminate();
      }
    }
  }

  /** Reports a refusal to the server and the log. Returns false if the publisher has no valid key. */
  #reportRefusal(reason: string): boolean {
    const { world, video } = this;
    if (world === undefined || video === undefined) return false;
    this.#owner.onNote({ world, video, reason }, "a feed was refused");
    this.#owner.gate.refused({ world, video }, reason);
    return true;
  }
}
