/** Publishes a stream to an RTMP server: the client does the handshake, and sends a stream key and then the messages of the caller. */
import type { Socket } from "bun";
import { readAmf, writeAmf } from "../rtmp/amf0.ts";
import { ChunkReader } from "../rtmp/chunk-reader.ts";
import { chunksOf } from "../rtmp/chunk-writer.ts";
import { BEFORE_KEY, MessageType } from "../rtmp/message.ts";
import type { Tag } from "./clip.ts";

/** The size of C0, C1 and C2 together, and of S0, S1 and S2 (section 5.2 of the specification). */
const HANDSHAKE_BYTES = 1 + 2 * 1536;
const VERSION = 3;
const [CONTROL_CHUNKS, COMMAND_CHUNKS, AUDIO_CHUNKS, VIDEO_CHUNKS] = [2, 3, 4, 6];
/** The id of the stream that the first `createStream` makes. */
const STREAM = 1;
/** The size of the chunks that encoders such as OBS send. */
export const CHUNK_BYTES = 4_096;

const command = (values: Parameters<typeof writeAmf>[0], stream = 0): Uint8Array =>
  chunksOf(COMMAND_CHUNKS, { type: MessageType.Command, stream, timestamp: 0, body: writeAmf(values) });

/** Returns the bytes that `RtmpClient.send` sends for a tag. The time in a message has 32 bits and wraps. */
export const mediaOf = ({ isAudio, ms, body }: Tag, chunkBytes: number): Uint8Array =>
  chunksOf(
    isAudio ? AUDIO_CHUNKS : VIDEO_CHUNKS,
    { type: isAudio ? MessageType.Audio : MessageType.Video, stream: STREAM, timestamp: ms % 2 ** 32, body },
    chunkBytes,
  );

export class RtmpClient {
  #socket: Socket | undefined;
  #handshakeLeft = HANDSHAKE_BYTES;
  readonly #chunks = new ChunkReader(BEFORE_KEY);
  readonly #admitted = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<string>();
  #reason = "the server has closed the connection";
  #waiting: Uint8Array[] = [];
  /** The number of bytes that the operating system has not accepted yet. */
  waitingBytes = 0;
  /** Resolves with the server's reason when the connection is closed. */
  readonly closed = this.#closed.promise;

  constructor() {
    // This handler prevents an unhandled rejection, because the connection may end before the caller waits for `publish`.
    this.#admitted.promise.catch(() => {});
  }

  /** Connects and publishes a stream. Resolves when the server accepts the stream. Rejects with the server's reason, or if the connection fails. */
  async publish(hostname: string, port: number, key: string, chunkBytes = CHUNK_BYTES): Promise<void> {
    const socket = await Bun.connect({
      ...{ hostname, port },
      socket: {
        data: (_, bytes) => this.#received(bytes),
        drain: () => this.#flush(),
        close: () => this.#ended(),
        // Errors are ignored here, because the runtime calls `close` after an error.
        error: () => {},
      },
    });
    this.#socket = socket;
    const size = Buffer.alloc(4);
    size.writeUInt32BE(chunkBytes);
    this.send(Uint8Array.of(VERSION, ...new Uint8Array(HANDSHAKE_BYTES - 1)));
    this.send(command(["connect", 1, { app: "live", type: "nonprivate", tcUrl: `rtmp://${hostname}:${port}/live` }]));
    this.send(command(["createStream", 2, null]));
    this.send(command(["publish", 3, null, key, "live"], STREAM));
    this.send(chunksOf(CONTROL_CHUNKS, { type: MessageType.SetChunkSize, stream: 0, timestamp: 0, body: size }));
    await this.#admitted.promise;
  }

  /** Sends bytes. Bytes that the operating system does not accept at once are sent later. */
  send(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.waitingBytes += bytes.length;
    this.#flush();
  }

  /** Ends the stream, and then the connection. */
  end(): void {
    this.send(command(["deleteStream", 4, null, STREAM]));
    this.#socket?.end();
  }

  /** Closes the connection at once. */
  terminate(): void {
    this.#socket?.terminate();
  }

  #flush(): void {
    for (let part = this.#waiting.shift(); part !== undefined; part = this.#waiting.shift()) {
      const sent = Math.max(0, this.#socket?.write(part) ?? 0);
      this.waitingBytes -= sent;
      if (sent === part.length) continue;
      this.#waiting.unshift(part.subarray(sent));
      return;
    }
  }

  #received(bytes: Uint8Array): void {
    const skipped = Math.min(this.#handshakeLeft, bytes.length);
    this.#handshakeLeft -= skipped;
    try {
      this.#chunks.read(bytes.subarray(skipped), ({ type, body }) => {
        if (type === MessageType.Command) this.#take(readAmf(body));
      });
    } catch (error) {
      this.#reason = error instanceof Error ? error.message : String(error);
      this.terminate();
    }
  }

  /** Reads the arguments of `onStatus`, which say whether the server accepts the stream. */
  #take([name, , , information]: readonly unknown[]): void {
    if (name !== "onStatus") return;
    const { level, code, description } = information as { level?: unknown; code?: unknown; description?: unknown };
    if (level === "error") this.#reason = String(description);
    else if (code === "NetStream.Publish.Start") this.#admitted.resolve();
  }

  #ended(): void {
    this.#admitted.reject(new Error(this.#reason));
    this.#closed.resolve(this.#reason);
  }
}
