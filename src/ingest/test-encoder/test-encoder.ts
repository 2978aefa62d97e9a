/**
 * An encoder of the server's own (D-119): it sends a short clip with sound to the server's port for encoders, again and again, until its
 * connection is closed, as that of any encoder is when its video ends.
 */
import type { TestFeed } from "#graph/worlds/world";
import { CLIP_MS, readClip, type Tag } from "./clip.ts";
import { CHUNK_BYTES, mediaOf, RtmpClient } from "./rtmp-client.ts";

/** A picture is shown for so long. */
const TURN_MS = 40;
/** Where the machine slept or was busy for longer, what was due meanwhile is not sent all at once; times in the stream have no gap. */
const BEHIND_MS_MAX = 2_000;
/** Some 20 s of the clip: the server no longer reads. */
const WAITING_BYTES_MAX = 1_048_576;

/** What the clip is, sent from `startedMs` on, over and over. */
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

  /** Sends what is due. `nowMs` on the clock of `startedMs`. */
  turn(nowMs: number): void {
    if (this.#next === 0) for (const config of this.#configs) this.#send(config);
    const behindMs = nowMs - this.#startedMs - this.#following().ms;
    if (behindMs > BEHIND_MS_MAX) this.#startedMs += behindMs;
    for (let tag = this.#following(); tag.ms <= nowMs - this.#startedMs; tag = this.#following()) {
      this.#send(tag);
      this.#next++;
    }
  }

  /** With its time in the stream. */
  #following(): Tag {
    const tag = this.#tags[this.#next % this.#tags.length] as Tag;
    return { ...tag, ms: tag.ms + Math.floor(this.#next / this.#tags.length) * CLIP_MS };
  }
}

/** Resolves once the server takes the stream. Rejects with its reason. */
export async function playClip(hostname: string, port: number, key: string, monotonicMs: () => number): Promise<TestFeed> {
  const tags = await readClip();
  const client = new RtmpClient();
  await client.publish(hostname, port, key);
  const playback = new Playback(tags, monotonicMs(), (tag) => client.send(mediaOf(tag, CHUNK_BYTES)));
  // A timer because only it can send at the pace of the clip. It ends with the connection.
  const turning = setInterval(() => {
    playback.turn(monotonicMs());
    if (client.waitingBytes > WAITING_BYTES_MAX) client.terminate();
  }, TURN_MS);
  const ended = client.closed.finally(() => clearInterval(turning));
  return { ended, stop: () => client.end() };
}
