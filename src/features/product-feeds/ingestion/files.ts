/** Stores feed files while they arrive. Callers send some feed files, and Plaza fetches other feed files from an address. */
import { defineSetting, readSetting } from "#graph/contract/feature";
import { moveOf } from "#graph/worlds/clock";
import type { World } from "#graph/worlds/world";
import { CallbackRefused } from "#outbound/address-rules";
import { RequestFailed } from "#outbound/request";
import { FeedFileProblem } from "../formats/rows.ts";
import { FILE_BYTES_MAX, PART_BYTES } from "../product-feeds.limits.ts";
import { completeUpload, deleteParts, insertPart, type RunningUpload } from "./uploads.store.ts";

/**
 * D-147: the greatest size of a feed file. An operator may set a lower limit than the server can handle, because callers can make Plaza fetch large
 * files.
 */
export const feedFileBytesMax = defineSetting({
  name: "feed_file_bytes_max",
  value: "BYTES",
  minimum: 1_024,
  default: FILE_BYTES_MAX,
  summary: "bytes of a feed file as it is sent or fetched; an upload of a larger file fails",
});

/** Stores the bytes of a file in parts. */
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

  /**
   * Stores the next bytes of the file. The caller must await the returned promise before it calls the method again. Throws `FeedFileProblem` if the
   * file is too large.
   */
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

  /** Ends the file by storing its last part. Returns the size of the file in bytes. */
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

/** The longest time for fetching a file: enough for 1 GB at 5 Mbit/s. */
const DEADLINE_MS = 30 * 60_000;
/** A number that is greater than the number of parts of any file. */
const PARTS_MAX = 1_000_000;

/** The longest time for connecting to each IP address of the host. Without a limit, the operating system would try to connect for two minutes. */
const CONNECTION_MS = 10_000;

/**
 * The longest time for which the server that has the file may send no data. A server may be silent for two minutes, because some servers create the
 * file only when it is requested.
 */
const SILENCE_MS = 120_000;

/**
 * For each move of the world's clock, the servers that did not respond during the move, with the reasons. One move of the clock can make the fetches
 * of months due at once, and waiting for a silent server at each fetch would take hours.
 */
const unreachable = new WeakMap<object, Map<string, string>>();

function unreachableIn(move: object): Map<string, string> {
  const known = unreachable.get(move) ?? new Map<string, string>();
  unreachable.set(move, known);
  return known;
}

/**
 * Fetches a file through `world.outbound`, which refuses addresses of the internal network (D-64), and stores the file like a file that was sent.
 * Returns the reason if the file could not be fetched, or undefined if the file is stored.
 */
export async function fetchFile(world: World, { feed, n }: RunningUpload, url: string): Promise<string | undefined> {
  // The address is not validated here, because the request below fails with a reason if the address is invalid.
  const origin = URL.parse(url)?.origin ?? url;
  const move = moveOf(world.work);
  const silent = move === undefined ? undefined : unreachableIn(move);
  const problem = silent?.get(origin);
  if (problem !== undefined) return problem;
  // An earlier run of the upload may have stored parts of an older version of the file.
  await world.database.write((tx) => deleteParts(tx, feed, n, PARTS_MAX));
  const parts = new PartWriter(world, feed, n);
  try {
    const response = await world.outbound.request({
      method: "GET",
      url,
      headers: { Accept: "*/*", "Accept-Encoding": "identity", "User-Agent": "plaza" },
      deadlineMs: DEADLINE_MS,
      connectionMs: CONNECTION_MS,
      silenceMs: SILENCE_MS,
      // The limit of the response is one byte higher than the limit of a file, so that `parts.write` notices a file that is too large.
      responseBytesMax: readSetting(world, feedFileBytesMax) + 1,
      takeBody: (part) => parts.write(part),
    });
    if (response.status >= 300 && response.status < 400) return `the address returned status ${response.status}; redirects are not followed`;
    if (response.status !== 200) return `the address returned status ${response.status}`;
  } catch (error) {
    if (error instanceof RequestFailed) silent?.set(origin, error.message);
    if (error instanceof CallbackRefused || error instanceof RequestFailed || error instanceof FeedFileProblem) return error.message;
    throw error;
  }
  const bytes = await parts.end();
  // If the upload was deleted while its file was fetched, the run ends when it saves its counts.
  await world.database.write((tx) => completeUpload(tx, feed, n, bytes, "running", "running"));
  return undefined;
}
