/** An encoder whose bytes a test or a bench decides: it sends a prepared FLV file over RTMP, at its own pace. */
import { readFileSync } from "node:fs";
import type { Socket } from "bun";
import { afterThisTest } from "../cleanup.ts";
import { chunked, join, publishing } from "./rtmp.ts";

const TAG_HEADER_BYTES = 11;
const FILE_HEADER_BYTES = 13;
const AUDIO = 8;
const VIDEO = 9;

export interface Tag {
  readonly ms: number;
  readonly isAudio: boolean;
  readonly bytes: Uint8Array;
}

/** The media of a file as messages in chunks of `chunkBytes`. */
export function readTags(path: string, chunkBytes: number): Tag[] {
  const file = readFileSync(path);
  const tags: Tag[] = [];
  for (let at = FILE_HEADER_BYTES; at + TAG_HEADER_BYTES < file.length; ) {
    const type = file.readUInt8(at);
    const length = file.readUIntBE(at + 1, 3);
    const ms = file.readUIntBE(at + 4, 3);
    const body = file.subarray(at + TAG_HEADER_BYTES, at + TAG_HEADER_BYTES + length);
    if (type === AUDIO || type === VIDEO) {
      const message = { chunkStream: type === AUDIO ? 4 : 6, type, stream: 1, timestamp: ms, body };
      tags.push({ ms, isAudio: type === AUDIO, bytes: join(chunked(message, chunkBytes)) });
    }
    at += TAG_HEADER_BYTES + length + 4;
  }
  return tags;
}

/** One encoder. What the server does not take at once waits, as in an encoder's buffer. */
export class Pusher {
  readonly #tags: readonly Tag[];
  readonly #chunkBytes: number;
  readonly #speed: number;
  #socket: Socket | undefined;
  #waiting: Uint8Array[] = [];
  #startedMs = 0;
  #next = 0;
  readonly #closed = Promise.withResolvers<void>();
  /** Resolves when the server has closed the connection. */
  readonly closed = this.#closed.promise;

  /** `chunkBytes` as the tags have them; `speed` is how many seconds of the stream are sent in one. */
  constructor(tags: readonly Tag[], chunkBytes: number, speed = 1) {
    this.#tags = tags;
    this.#chunkBytes = chunkBytes;
    this.#speed = speed;
  }

  async connect(hostname: string, port: number, key: string): Promise<void> {
    const admitted = Promise.withResolvers<void>();
    const data = (_socket: Socket, bytes: Buffer) => void (bytes.includes("NetStream.Publish.Start") && admitted.resolve());
    const close = () => this.#closed.resolve();
    this.#socket = await Bun.connect({ hostname, port, socket: { data, close, drain: () => this.#flush(), error: () => {} } });
    const size = Buffer.alloc(4);
    size.writeUInt32BE(this.#chunkBytes);
    this.#waiting.push(...publishing(key), ...chunked({ chunkStream: 2, type: 1, stream: 0, timestamp: 0, body: size }));
    this.#flush();
    await admitted.promise;
    this.#startedMs = performance.now();
  }

  /** Sends what is due. False: everything is sent. */
  turn(): boolean {
    const ms = (performance.now() - this.#startedMs) * this.#speed;
    for (let tag = this.#tags[this.#next]; tag !== undefined && tag.ms <= ms; tag = this.#tags[++this.#next]) this.#waiting.push(tag.bytes);
    this.#flush();
    return this.#next < this.#tags.length || this.#waiting.length > 0;
  }

  end(): void {
    this.#socket?.end();
  }

  #flush(): void {
    for (let part = this.#waiting.shift(); part !== undefined; part = this.#waiting.shift()) {
      const sent = Math.max(0, this.#socket?.write(part) ?? 0);
      if (sent === part.length) continue;
      this.#waiting.unshift(part.subarray(sent));
      return;
    }
  }
}

export interface PushOptions {
  readonly chunkBytes: number;
  readonly speed?: number;
  /** No sound after so much of the stream. */
  readonly audioUntilMs?: number;
}

const TURN_MS = 10;

/** Sends the file to a stream address; the test's end ends it. */
export async function pushFile(
  file: string,
  url: string,
  { chunkBytes, speed, audioUntilMs = Number.POSITIVE_INFINITY }: PushOptions,
): Promise<Pusher> {
  const tags = readTags(file, chunkBytes).filter(({ isAudio, ms }) => !isAudio || ms < audioUntilMs);
  const pusher = new Pusher(tags, chunkBytes, speed);
  const { hostname, port, pathname } = new URL(url.replace("rtmp:", "http:"));
  await pusher.connect(hostname, Number(port), pathname.split("/").at(-1) as string);
  const turning = setInterval(() => pusher.turn() || clearInterval(turning), TURN_MS);
  afterThisTest(() => {
    clearInterval(turning);
    pusher.end();
  });
  return pusher;
}
