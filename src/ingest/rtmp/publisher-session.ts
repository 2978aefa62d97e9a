/**
 * Handles the protocol of one publisher's connection: the handshake, chunks and commands. The session's owner has the socket and checks the stream
 * key. The session serves only the commands of publishers, and refuses `play`.
 *
 * **Invariant:** until the owner admits the key of a peer, the peer can send only small messages, and no data from the peer is stored.
 */
import { type AmfObject, type AmfValue, readAmf, writeAmf } from "./amf0.ts";
import { ChunkReader, readControl } from "./chunk-reader.ts";
import { chunksOf } from "./chunk-writer.ts";
import { Handshake } from "./handshake.ts";
import {
  AFTER_KEY,
  BEFORE_KEY,
  COMMANDS_BEFORE_KEY_MAX,
  KEY_CHARACTERS_MAX,
  type Message,
  MessageType,
  RtmpProblem,
  STREAMS_MAX,
} from "./message.ts";

export interface SessionOwner {
  send(bytes: Uint8Array): void;
  /** Ends the connection after all bytes are sent. */
  end(): void;
  /** Called when the peer asks to publish with this key. To answer, the owner calls `admit` or `refuse`, immediately or later. */
  publishAsked(key: string): void;
  /** Called with audio or video of an admitted publisher; `timestamp` is in ms of the publisher's clock. */
  media(type: "audio" | "video", timestamp: number, body: Uint8Array): void;
  metadata(values: AmfObject): void;
  /** Called when the publisher ends its stream. The connection stays open until `finished` is called or the peer closes it. */
  unpublished(): void;
  /** Called when the peer has sent its last command, after which it will close the connection. */
  finished(): void;
  randomBytes(count: number): Uint8Array;
}

/** The name of the application in all stream addresses: `rtmp://host/live/{key}`. */
const APPLICATION = "live";
/** The number of received bytes after which the peer must send an acknowledgement. */
const WINDOW_BYTES = 2_500_000;
const CONTROL_CHUNKS = 2;
const COMMAND_CHUNKS = 3;
const STREAM_CHUNKS = 5;

const PING_REQUEST = 6;
const PING_RESPONSE = 7;
const STREAM_BEGIN = 0;

/**
 * The state of a session. `unpublished`: the stream has ended, and the session waits until the peer sends `deleteStream` or closes the connection.
 */
type State = "handshake" | "commands" | "asking" | "publishing" | "unpublished" | "ended";

/** The reason of a refusal. `key` means that the key is unknown or in use; `feed` means that the stream cannot continue. */
type Refusal = "key" | "feed";

export class PublisherSession {
  readonly #owner: SessionOwner;
  readonly #handshake = new Handshake();
  readonly #chunks = new ChunkReader(BEFORE_KEY);
  #state: State = "handshake";
  #isConnected = false;
  #streams = 0;
  #commands = 0;
  /** The id of the RTMP stream on which the peer publishes. */
  #stream = 0;
  #receivedBytes = 0;
  #acknowledgedBytes = 0;
  #windowBytes = WINDOW_BYTES;

  constructor(owner: SessionOwner) {
    this.#owner = owner;
  }

  get isPublishing(): boolean {
    return this.#state === "publishing";
  }

  /** Handles bytes from the peer. If this method throws `RtmpProblem`, the owner must close the connection. */
  received(bytes: Uint8Array): void {
    if (this.#state === "ended") return;
    let rest: Uint8Array | undefined = bytes;
    if (this.#state === "handshake") {
      rest = this.#handshake.read(bytes, this.#owner.randomBytes, (reply) => this.#owner.send(reply));
      if (rest === undefined) return;
      this.#state = "commands";
    }
    this.#chunks.read(rest, (message) => this.#take(message));
    this.#acknowledge(bytes.length);
  }

  /** Accepts the key, so that the publisher may send media. */
  admit(): void {
    if (this.#state !== "asking") return;
    this.#state = "publishing";
    this.#chunks.limits = AFTER_KEY;
    this.#sendControl(MessageType.UserControl, [0, STREAM_BEGIN, 0, 0, 0, this.#stream]);
    this.#sendStatus("status", "NetStream.Publish.Start", "Publishing");
  }

  refuse(what: Refusal, reason: string): void {
    if (this.#state === "ended") return;
    if (this.#state !== "unpublished") this.#sendStatus("error", what === "key" ? "NetStream.Publish.BadName" : "NetStream.Publish.Failed", reason);
    this.#end();
  }

  #end(): void {
    this.#state = "ended";
    this.#owner.end();
  }

  #take(message: Message): void {
    const { type, stream, body } = message;
    if (this.#state === "ended") return;
    switch (type) {
      case MessageType.WindowAckSize:
        this.#windowBytes = Math.max(readControl(body), 1);
        return;
      case MessageType.UserControl:
        if (body.length === 6 && body[1] === PING_REQUEST) this.#sendControl(type, [0, PING_RESPONSE, ...body.subarray(2)]);
        return;
      case MessageType.Command:
        this.#command(readAmf(body), stream);
        return;
      case MessageType.CommandAmf3:
        // The first byte is the format of the values. This byte is skipped, because encoders send only AMF0.
        this.#command(readAmf(body.subarray(1)), stream);
        return;
      case MessageType.Aggregate:
        if (this.#state === "publishing") for (const part of partsOf(message)) this.#takeMedia(part);
        return;
      default:
        if (this.#state === "publishing") this.#takeMedia(message);
    }
  }

  #takeMedia({ type, stream, timestamp, body }: Message): void {
    if (stream !== this.#stream) return;
    if (type === MessageType.Audio) this.#owner.media("audio", timestamp, body);
    else if (type === MessageType.Video) this.#owner.media("video", timestamp, body);
    else if (type === MessageType.Data || type === MessageType.DataAmf3) {
      const values = readAmf(type === MessageType.DataAmf3 ? body.subarray(1) : body);
      const [event, metadata] = values[0] === "@setDataFrame" ? values.slice(1) : values;
      if (event === "onMetaData" && isObject(metadata)) this.#owner.metadata(metadata);
    }
  }

  #command(values: readonly AmfValue[], stream: number): void {
    const [name, transaction, argument, ...rest] = values;
    if (typeof name !== "string" || typeof transaction !== "number") throw new RtmpProblem("a command has no name or no transaction number");
    if (this.#state !== "publishing" && ++this.#commands > COMMANDS_BEFORE_KEY_MAX)
      throw new RtmpProblem("the encoder sent too many commands before the stream key");
    if (!this.#isConnected && name !== "connect") throw new RtmpProblem(`the command ${name} comes before the command connect`);
    switch (name) {
      case "connect":
        this.#connect(transaction, argument);
        return;
      case "releaseStream":
      case "FCPublish":
        this.#sendCommand(["_result", transaction, null, undefined]);
        return;
      case "createStream":
        this.#createStream(transaction);
        return;
      case "publish":
        this.#publish(rest[0], stream);
        return;
      case "FCUnpublish":
        // The connection stays open, because the encoder rtmp2sink reports an error if the server closes it before `deleteStream`.
        this.#unpublish();
        return;
      case "deleteStream":
      case "closeStream":
        this.#unpublish();
        if (this.#state === "unpublished") this.#finish();
        return;
      case "play":
      case "play2":
        this.#sendStatus("error", "NetStream.Play.Failed", "This server only receives streams; watch them in the player of embed_html");
        this.#end();
        return;
      default:
        if (transaction !== 0) this.#sendCommand(["_error", transaction, null, status("error", "NetConnection.Call.Failed", "Unknown command")]);
    }
  }

  #connect(transaction: number, argument: AmfValue): void {
    if (this.#isConnected) throw new RtmpProblem("the command connect comes twice");
    if (!isObject(argument)) throw new RtmpProblem("the command connect has no properties object");
    // Some encoders send the name of the application with a slash at its end.
    const application = typeof argument.app === "string" ? argument.app.replace(/\/$/, "") : undefined;
    if (application !== APPLICATION) {
      this.#sendCommand(["_error", transaction, null, status("error", "NetConnection.Connect.InvalidApp", `The application must be ${APPLICATION}`)]);
      this.#end();
      return;
    }
    this.#isConnected = true;
    this.#sendControl(MessageType.WindowAckSize, uint32(WINDOW_BYTES));
    this.#sendControl(MessageType.SetPeerBandwidth, [...uint32(WINDOW_BYTES), 2]);
    const properties = { fmsVer: "FMS/3,0,1,123", capabilities: 31 };
    const information = { ...status("status", "NetConnection.Connect.Success", "Connected"), objectEncoding: 0 };
    this.#sendCommand(["_result", transaction, properties, information]);
  }

  #createStream(transaction: number): void {
    if (++this.#streams > STREAMS_MAX) throw new RtmpProblem("the encoder created too many streams");
    this.#sendCommand(["_result", transaction, null, this.#streams]);
  }

  #publish(key: AmfValue, stream: number): void {
    if (this.#state !== "commands") throw new RtmpProblem("the command publish comes twice");
    if (stream < 1 || stream > this.#streams) throw new RtmpProblem("the command publish names a stream that createStream did not create");
    this.#stream = stream;
    if (typeof key !== "string" || key === "" || key.length > KEY_CHARACTERS_MAX) {
      this.refuse("key", "The stream key is not valid");
      return;
    }
    this.#state = "asking";
    // Some encoders append a query string to the stream key.
    this.#owner.publishAsked(key.split("?", 1)[0] as string);
  }

  #unpublish(): void {
    if (this.#state !== "publishing") return;
    this.#sendStatus("status", "NetStream.Unpublish.Success", "The stream has ended");
    this.#state = "unpublished";
    this.#owner.unpublished();
  }

  #finish(): void {
    this.#state = "ended";
    this.#owner.finished();
  }

  /** Acknowledges received bytes (section 5.4.3). The number of bytes is sent modulo 2^32. */
  #acknowledge(byteCount: number): void {
    this.#receivedBytes += byteCount;
    if (this.#receivedBytes - this.#acknowledgedBytes < this.#windowBytes || this.#state === "ended") return;
    this.#acknowledgedBytes = this.#receivedBytes;
    this.#sendControl(MessageType.Acknowledgement, uint32(this.#receivedBytes % 2 ** 32));
  }

  #sendStatus(level: "status" | "error", code: string, description: string): void {
    const body = writeAmf(["onStatus", 0, null, status(level, code, description)]);
    this.#owner.send(chunksOf(STREAM_CHUNKS, { type: MessageType.Command, stream: this.#stream, timestamp: 0, body }));
  }

  #sendCommand(values: readonly AmfValue[]): void {
    this.#owner.send(chunksOf(COMMAND_CHUNKS, { type: MessageType.Command, stream: 0, timestamp: 0, body: writeAmf(values) }));
  }

  #sendControl(type: number, body: readonly number[]): void {
    this.#owner.send(chunksOf(CONTROL_CHUNKS, { type, stream: 0, timestamp: 0, body: Uint8Array.from(body) }));
  }
}

const status = (level: "status" | "error", code: string, description: string) => ({ level, code, description });

/**
 * The size of the header before each message inside an aggregate message (section 7.1.6): type, length, time and stream. The size of the inner
 * message follows its body.
 */
const PART_HEADER_BYTES = 11;
const PART_END_BYTES = 4;

/**
 * Splits an aggregate message into its messages. The first inner message gets the time of the aggregate message, and each later message keeps its
 * distance from the first. Throws `RtmpProblem`.
 */
function partsOf({ body, stream, timestamp }: Message): Message[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const parts: Message[] = [];
  let firstTime: number | undefined;
  for (let at = 0; at < bytes.length; ) {
    if (at + PART_HEADER_BYTES > bytes.length) throw new RtmpProblem("an aggregate message is cut off");
    const length = bytes.readUIntBE(at + 1, 3);
    // The highest byte of an inner message's time is the last of the four bytes.
    const time = (bytes.readUInt8(at + 7) << 24) | bytes.readUIntBE(at + 4, 3);
    firstTime ??= time;
    const start = at + PART_HEADER_BYTES;
    at = start + length + PART_END_BYTES;
    // Only the header and the body of an inner message are required, because some encoders leave out the size after the last message.
    if (start + length > bytes.length) throw new RtmpProblem("an aggregate message is cut off");
    parts.push({
      type: bytes.readUInt8(start - PART_HEADER_BYTES),
      stream,
      timestamp: (timestamp + time - firstTime) >>> 0,
      body: body.subarray(start, start + length),
    });
  }
  return parts;
}

const isObject = (value: AmfValue): value is AmfObject => typeof value === "object" && value !== null && !Array.isArray(value);

const uint32 = (value: number): number[] => [value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff];
