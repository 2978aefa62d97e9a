/** An encoder whose bytes a test or a bench decides: it sends a prepared FLV file over RTMP, at the speed that the test chooses. */
import { readFileSync } from "node:fs";
import { readTags, type Tag } from "#ingest/test-encoder/clip";
import { mediaOf, RtmpClient } from "#ingest/test-encoder/rtmp-client";
import { afterThisTest } from "../cleanup.ts";

interface Message extends Pick<Tag, "isAudio" | "ms"> {
  readonly bytes: Uint8Array;
}

/** Returns the time stamp that an encoder's clock gives to an FLV tag that is sent at `ms`. */
export type Stamp = (tag: Pick<Tag, "isAudio" | "ms">) => number;

/** Reads the media of a file as RTMP messages in chunks of `chunkBytes`. */
export const readMessages = (path: string, chunkBytes: number, stamp: Stamp = ({ ms }) => ms): Message[] =>
  readTags(readFileSync(path)).map((tag) => ({ isAudio: tag.isAudio, ms: tag.ms, bytes: mediaOf({ ...tag, ms: stamp(tag) }, chunkBytes) }));

/** One encoder. Bytes that the server does not accept at once wait in a buffer, as in a real encoder. */
export class Pusher {
  readonly #messages: readonly Message[];
  readonly #chunkBytes: number;
  readonly #speed: number;
  readonly #client = new RtmpClient();
  #startedMs = 0;
  #next = 0;
  readonly #sent = Promise.withResolvers<void>();
  /** The promise resolves when the encoder has sent everything. */
  readonly sent = this.#sent.promise;
  /** The promise resolves when the server has closed the connection. */
  readonly closed = this.#client.closed;

  /**
   * `chunkBytes` is the length of the chunks into which RTMP messages are divided. `speed` is the number of seconds of the stream that are sent in
   * one second.
   */
  constructor(messages: readonly Message[], chunkBytes: number, speed = 1) {
    this.#messages = messages;
    this.#chunkBytes = chunkBytes;
    this.#speed = speed;
  }

  async connect(hostname: string, port: number, key: string): Promise<void> {
    await this.#client.publish(hostname, port, key, this.#chunkBytes);
    this.#startedMs = performance.now();
  }

  /** Sends the messages that are due. Returns false if all messages are sent. */
  turn(): boolean {
    const ms = (performance.now() - this.#startedMs) * this.#speed;
    for (let one = this.#messages[this.#next]; one !== undefined && one.ms <= ms; one = this.#messages[++this.#next]) this.#client.send(one.bytes);
    const isOver = this.#next >= this.#messages.length && this.#client.waitingBytes === 0;
    if (isOver) this.#sent.resolve();
    return !isOver;
  }

  end(): void {
    this.#client.end();
  }
}

export interface PushOptions {
  readonly chunkBytes: number;
  readonly speed?: number;
  /** The sound ends after this much of the stream, while the picture goes on. */
  readonly audioUntilMs?: number;
  readonly stamp?: Stamp;
}

const TURN_MS = 10;

/** Sends files to a stream address, one after the other, each with its own time stamps. When the test ends, the sending ends too. */
export async function pushFile(
  files: string | readonly string[],
  url: string,
  { chunkBytes, speed, audioUntilMs = Number.POSITIVE_INFINITY, stamp }: PushOptions,
): Promise<Pusher> {
  let fileMs = 0;
  const messages: Message[] = [];
  for (const file of [files].flat()) {
    const own = readMessages(file, chunkBytes, stamp).filter(({ isAudio, ms }) => !isAudio || ms < audioUntilMs);
    for (const message of own) messages.push({ ...message, ms: fileMs + message.ms });
    fileMs += Math.max(...own.map(({ ms }) => ms));
  }
  const pusher = new Pusher(messages, chunkBytes, speed);
  const { hostname, port, pathname } = new URL(url.replace("rtmp:", "http:"));
  await pusher.connect(hostname, Number(port), pathname.split("/").at(-1) as string);
  const turning = setInterval(() => pusher.turn() || clearInterval(turning), TURN_MS);
  afterThisTest(() => {
    clearInterval(turning);
    pusher.end();
  });
  return pusher;
}
