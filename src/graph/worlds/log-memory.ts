/** Divides the memory for request logs among the logs of a process (D-272). */

const MEGABYTE = 1024 * 1024;
const BYTES_MAX = 32 * MEGABYTE;
/**
 * The greatest amount of memory for one request log. This memory is enough for a thousand requests of the usual size, and a log never has more
 * entries.
 */
const SHARE_BYTES_MAX = 8 * MEGABYTE;
/** The least amount of memory for one request log. The longest possible log entry, with texts of three bytes a character, takes 100 kB. */
const SHARE_BYTES_MIN = MEGABYTE / 8;

interface Sharer {
  /** Called when another request log needs memory, or when memory has become free. */
  resize(bytesMax: number): void;
}

/**
 * Gives each request log that has entries an equal share of 32 MB: 8 MB for up to four open worlds, then 4 MB, and so on. Each log gets at least 128
 * kB, so the logs of more than 256 open worlds take more than 32 MB. The size of a log's memory is a power of two, so that it seldom changes.
 */
export class LogMemory {
  readonly #sharers = new Set<Sharer>();

  get shareBytes(): number {
    const equal = 2 ** Math.floor(Math.log2(BYTES_MAX / Math.max(1, this.#sharers.size)));
    return Math.min(SHARE_BYTES_MAX, Math.max(SHARE_BYTES_MIN, equal));
  }

  /**
   * Gives memory to a request log that had none, and reduces the memory of the other logs if needed. Returns the number of bytes for each request
   * log.
   */
  join(sharer: Sharer): number {
    const before = this.shareBytes;
    const others = [...this.#sharers];
    this.#sharers.add(sharer);
    const share = this.shareBytes;
    if (share < before) for (const other of others) other.resize(share);
    return share;
  }

  leave(sharer: Sharer): void {
    this.#sharers.delete(sharer);
  }
}
