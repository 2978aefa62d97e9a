/** Stores the bytes of a file in parts as they arrive. */
import { readSetting } from "#graph/contract/setting";
import type { World } from "#graph/worlds/world";
import { FeedFileProblem } from "../formats/rows.ts";
import { PART_BYTES } from "../product-feeds.limits.ts";
import { feedFileBytesMax } from "../product-feeds.settings.ts";
import { insertPart } from "./uploads.store.ts";

export class PartWriter {
  readonly #world: World;
  readonly #feed: string;
  readonly #n: number;
  readonly #bytesMax: number;
  readonly #part = Buffer.allocUnsafe(PART_BYTES);
  #filled = 0;
  #parts = 0;
  #bytes = 0;

  constructor(world: World, feed: string, n: number) {
    this.#world = world;
    this.#feed = feed;
    this.#n = n;
    this.#bytesMax = readSetting(world, feedFileBytesMax);
  }

  /** Must be awaited before the next call. Throws `FeedFileProblem` for a file that is too large. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#bytes += bytes.length;
    if (this.#bytes > this.#bytesMax) throw new FeedFileProblem(`the file is larger than ${this.#bytesMax} bytes`);
    for (let at = 0; at < bytes.length; ) {
      const taken = Math.min(PART_BYTES - this.#filled, bytes.length - at);
      this.#part.set(bytes.subarray(at, at + taken), this.#filled);
      this.#filled += taken;
      at += taken;
      if (this.#filled === PART_BYTES) await this.#store();
    }
  }

  /** Stores the last part and returns the size of the file in bytes. */
  async end(): Promise<number> {
    if (this.#filled > 0) await this.#store();
    return this.#bytes;
  }

  async #store(): Promise<void> {
    const bytes = this.#part.subarray(0, this.#filled);
    await this.#world.database.write((tx) => insertPart(tx, this.#feed, this.#n, this.#parts, bytes));
    this.#parts++;
    this.#filled = 0;
  }
}
