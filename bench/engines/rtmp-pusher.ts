/** `rtmp-pusher.ts FILE.flv HOST:PORT KEY…`: sends the file to each key in real time, until it ends, and prints each key when it begins. Chunks of 4096 bytes, as OBS sends them. */
import { readFileSync } from "node:fs";
import type { Socket } from "bun";
import { chunked, join, publishing } from "#harness/live/rtmp";

const CHUNK_BYTES = 4096;
/** Two pictures a turn at most. */
const TURN_MS = 20;
const TAG_HEADER_BYTES = 11;
const FILE_HEADER_BYTES = 13;

interface Tag {
  readonly ms: number;
  readonly bytes: Uint8Array;
}

function readTags(path: string): Tag[] {
  const file = readFileSync(path);
  const tags: Tag[] = [];
  for (let at = FILE_HEADER_BYTES; at + TAG_HEADER_BYTES < file.length; ) {
    const type = file.readUInt8(at);
    const length = file.readUIntBE(at + 1, 3);
    const ms = file.readUIntBE(at + 4, 3);
    const body = file.subarray(at + TAG_HEADER_BYTES, at + TAG_HEADER_BYTES + length);
    if (type === 8 || type === 9) {
      tags.push({ ms, bytes: join(chunked({ chunkStream: type === 8 ? 4 : 6, type, stream: 1, timestamp: ms, body }, CHUNK_BYTES)) });
    }
    at += TAG_HEADER_BYTES + length + 4;
  }
  return tags;
}

/** One encoder. What the server does not take at once waits, as in an encoder's buffer. */
class Encoder {
  readonly #tags: readonly Tag[];
  #socket: Socket | undefined;
  #waiting: Uint8Array[] = [];
  #startedMs = 0;
  #next = 0;

  constructor(tags: readonly Tag[]) {
    this.#tags = tags;
  }

  async connect(hostname: string, port: number, key: string): Promise<void> {
    const admitted = Promise.withResolvers<void>();
    const data = (_socket: Socket, bytes: Buffer) => void (bytes.includes("NetStream.Publish.Start") && admitted.resolve());
    this.#socket = await Bun.connect({ hostname, port, socket: { data, drain: () => this.#flush(), error: () => {} } });
    const setSize = chunked({ chunkStream: 2, type: 1, stream: 0, timestamp: 0, body: Uint8Array.of(0, 0, CHUNK_BYTES >> 8, CHUNK_BYTES & 0xff) });
    this.#waiting.push(...publishing(key), ...setSize);
    this.#flush();
    await admitted.promise;
    this.#startedMs = performance.now();
  }

  turn(): void {
    const ms = performance.now() - this.#startedMs;
    for (let tag = this.#tags[this.#next]; tag !== undefined && tag.ms <= ms; tag = this.#tags[++this.#next]) this.#waiting.push(tag.bytes);
    this.#flush();
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

const [file = "", address = "", ...keys] = process.argv.slice(2);
const [hostname = "", port = ""] = address.split(":");
const tags = readTags(file);
const encoders: Encoder[] = [];
setInterval(() => {
  for (const encoder of encoders) encoder.turn();
}, TURN_MS);
for (const key of keys) {
  const encoder = new Encoder(tags);
  await encoder.connect(hostname, Number(port), key);
  process.stdout.write(`${key}\n`);
  encoders.push(encoder);
  // They do not all send their key frames in one moment.
  await Bun.sleep(2000 / keys.length);
}
