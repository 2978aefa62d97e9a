/**
 * The test encoder (D-119) sends a short clip with sound to the server's port for encoders, in a loop, until the server closes the connection, for
 * example because the video has ended.
 */
import type { TestFeed } from "#graph/worlds/world";
import { CLIP_MS, readClip, type Tag } from "./clip.ts";
import { CHUNK_BYTES, mediaOf, RtmpClient } from "./rtmp-client.ts";

/** The interval at which tags are sent, which is the duration of a picture. */
const TURN_MS = 40;
/**
 * The longest delay that the encoder makes up for by sending faster. After a longer delay, for example because the machine slept, the encoder
 * continues later instead of sending a burst. The time stamps have no gap, whether the encoder catches up or continues later.
 */
const BEHIND_MS_MAX = 2_000;
/** The number of waiting bytes, about 20 s of the clip, at which the server counts as no longer reading. */
const WAITING_BYTES_MAX = 1_048_576;

/** Sends the clip in a loop that begins at `startedMs`. */
export class Playback {
  readonly #configs: readonly Tag[];
  readonly #tags: readonly Tag[];
  readonly #send: (tag: Tag) => void;
  #next = 0;
  #startedMs: number;

  constructor(tags: readonly Tag[], startedMs: number, send: (tag: Tag) => void) {
    this.#configs = tags.filter(({ isConfig }) => isConfig);
    this.#tags = tags.filter(({ isConfig }) => !isConfig);
    this.#startedMs = startedMs;
    this.#send = send;
  }

  /** Sends the tags that are due. `nowMs` and the start of the loop, `startedMs`, are times of the same clock. */
  turn(nowMs: number): void {
    if (this.#next === 0) for (const config of this.#configs) this.#send(config);
    const behindMs = nowMs - this.#startedMs - this.#following().ms;
    if (behindMs > BEHIND_MS_MAX) this.#startedMs += behindMs;
    for (let tag = this.#following(); tag.ms <= nowMs - this.#startedMs; tag = this.#following()) {
      this.#send(tag);
      this.#next++;
    }
  }

  /** Returns the next tag, with its time in the stream. */
  #following(): Tag {
    const tag = this.#tags[this.#next % this.#tags.length] as Tag;
    return { ...tag, ms: tag.ms + Math.floor(this.#next / this.#tags.length) * CLIP_MS };
  }
}

/** Plays the clip. Resolves when the server accepts the stream. Rejects with the server's reason. */
export async function playClip(hostname: string, port: number, key: string, monotonicMs: () => number): Promise<TestFeed> {
  const tags = await readClip();
  const client = new RtmpClient();
  await client.publish(hostname, port, key);
  const playback = new Playback(tags, monotonicMs(), (tag) => client.send(mediaOf(tag, CHUNK_BYTES)));
  // A timer sends the tags at the pace of the clip. The timer stops when the connection ends.
  const turning = setInterval(() => {
    playback.turn(monotonicMs());
    if (client.waitingBytes > WAITING_BYTES_MAX) client.terminate();
  }, TURN_MS);
  const ended = client.closed.finally(() => clearInterval(turning));
  return { ended, stop: () => client.end() };
}
