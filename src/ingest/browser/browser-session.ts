/**
 * One page that publishes, as bytes: a WebSocket, a stream key, then media as WebCodecs encodes it (docs/guides/live-from-a-page.md). It
 * knows no socket and checks no key; its owner does.
 *
 * **Invariant:** before the owner has admitted a key, a peer can send nothing that is large or kept.
 */
import type { PageGuard } from "#kernel/page-guard";
import { readOpusConfig } from "../media/opus.ts";
import type { AudioPacket, VideoPacket } from "../media/packets.ts";
import { AFTER_KEY, KEY_CHARACTERS_MAX } from "../rtmp/limits.ts";
import type { Refusal } from "../session/encoder-session.ts";
import { CloseCode, closeFrame, FrameProblem, FrameReader, frameOf, Opcode } from "./frames.ts";
import { Opening } from "./opening.ts";

export interface BrowserOwner {
  send(bytes: Uint8Array): void;
  /** After what was sent. */
  end(): void;
  /** The page wants to publish with this key. The owner calls `admit` or `refuse`, now or later. */
  publishAsked(key: string): void;
  /** Of the admitted publisher; `timestamp` in ms on its own clock. Throws `MediaProblem`. */
  takeVideo(timestamp: number, packet: VideoPacket): void;
  takeAudio(timestamp: number, packet: AudioPacket): void;
  /** The page ends its stream, in an orderly way or with a mistake. */
  unpublished(): void;
}

/** A key in JSON. */
const FIRST_MESSAGE_BYTES_MAX = 1024;
/** One byte says what follows, four when. */
const HEADER_BYTES = 5;

enum Kind {
  VideoConfig = 1,
  KeyPicture = 2,
  Picture = 3,
  AudioConfig = 4,
  Sound = 5,
}

export class BrowserSession {
  readonly #owner: BrowserOwner;
  readonly #opening: Opening;
  readonly #frames = new FrameReader(FIRST_MESSAGE_BYTES_MAX);
  #state: "opening" | "key" | "asking" | "publishing" | "ended" = "opening";

  constructor(owner: BrowserOwner, pages: PageGuard | undefined) {
    this.#owner = owner;
    this.#opening = new Opening(pages);
  }

  get isPublishing(): boolean {
    return this.#state === "publishing";
  }

  /** Throws `MediaProblem`. */
  received(bytes: Uint8Array): void {
    try {
      if (this.#state === "opening") this.#open(bytes);
      else this.#read(bytes);
    } catch (error) {
      if (!(error instanceof FrameProblem)) throw error;
      this.#close(error.code, error.message);
      this.#owner.unpublished();
    }
  }

  admit(): void {
    if (this.#state !== "asking") return;
    this.#state = "publishing";
    this.#frames.messageBytesMax = AFTER_KEY.messageBytesMax;
    this.#owner.send(frameOf(Opcode.Text, Buffer.from(JSON.stringify({ event: "publishing" }))));
  }

  refuse(what: Refusal, reason: string): void {
    if (this.#state !== "ended") this.#close(what === "key" ? CloseCode.KeyRefused : CloseCode.FeedEnded, reason);
  }

  #open(bytes: Uint8Array): void {
    const opened = this.#opening.read(bytes);
    if (opened === undefined) return;
    this.#owner.send(opened.response);
    if (opened.isOpen) {
      this.#state = "key";
      this.#read(opened.rest);
    } else {
      this.#state = "ended";
      this.#owner.end();
    }
  }

  #read(bytes: Uint8Array): void {
    this.#frames.read(bytes, (opcode, payload) => this.#take(opcode, payload));
  }

  #take(opcode: Opcode, payload: Uint8Array): void {
    if (this.#state === "ended") return;
    if (opcode === Opcode.Ping) this.#owner.send(frameOf(Opcode.Pong, payload));
    else if (opcode === Opcode.Close) {
      this.#close(CloseCode.Normal, "");
      this.#owner.unpublished();
    } else if (opcode === Opcode.Text) this.#takeKey(payload);
    else if (opcode === Opcode.Binary && this.#state === "publishing") this.#takeMedia(payload);
  }

  #takeKey(payload: Uint8Array): void {
    if (this.#state !== "key") throw new FrameProblem(CloseCode.ProtocolError, "only the first message is text");
    const key = streamKeyIn(Buffer.from(payload).toString());
    if (key === undefined) throw new FrameProblem(CloseCode.ProtocolError, 'the first message is {"stream_key": "..."}');
    this.#state = "asking";
    this.#owner.publishAsked(key);
  }

  #takeMedia(message: Uint8Array): void {
    const [kind] = message;
    if (message.length <= HEADER_BYTES) throw new FrameProblem(CloseCode.ProtocolError, "a message has a kind, a time of four bytes, and data");
    const timestamp = new DataView(message.buffer, message.byteOffset).getUint32(1);
    const bytes = message.subarray(HEADER_BYTES);
    switch (kind) {
      case Kind.VideoConfig:
        this.#owner.takeVideo(timestamp, { kind: "config", bytes });
        break;
      case Kind.KeyPicture:
      case Kind.Picture:
        this.#owner.takeVideo(timestamp, { kind: "frame", isKey: kind === Kind.KeyPicture, compositionMs: 0, bytes });
        break;
      case Kind.AudioConfig:
        this.#owner.takeAudio(timestamp, { kind: "config", config: readOpusConfig(bytes) });
        break;
      case Kind.Sound:
        this.#owner.takeAudio(timestamp, { kind: "frame", bytes });
        break;
      default:
        throw new FrameProblem(CloseCode.ProtocolError, `there is no kind of message ${kind}`);
    }
  }

  #close(code: CloseCode, reason: string): void {
    this.#state = "ended";
    this.#owner.send(closeFrame(code, reason));
    this.#owner.end();
  }
}

function streamKeyIn(text: string): string | undefined {
  try {
    const { stream_key } = JSON.parse(text) as { stream_key?: unknown };
    return typeof stream_key === "string" && stream_key !== "" && stream_key.length <= KEY_CHARACTERS_MAX ? stream_key : undefined;
  } catch {
    return undefined;
  }
}
