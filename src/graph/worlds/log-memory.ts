/** The memory that all request logs of a process share (D-272). */

const MEGABYTE = 1024 * 1024;
const BYTES_MAX = 32 * MEGABYTE;
/** A single world keeps a thousand requests of the usual size in this memory, so more memory would show nothing more. */
const SHARE_BYTES_MAX = 8 * MEGABYTE;
/** The longest entry, with the longest texts in three bytes a character, takes 100 kB. */
const SHARE_BYTES_MIN = MEGABYTE / 8;

interface Sharer {
  /** Called when another log needs memory. */
  resize(bytesMax: number): void;
}

/**
 * Gives each log that has entries an equal share of 32 MB: 8 MB for up to four open worlds, then 4 MB, and so on. A share has at least 128 kB, so more than 256
 * open worlds take more than 32 MB. A share is a power of two, so that logs seldom change their size.
 */
export class LogMemory {
  readonly #sharers = new Set<Sharer>();

  get shareBytes(): number {
    const equal = 2 ** Math.floor(Math.log2(BYTES_MAX / Math.max(1, this.#sharers.size)));
    return Math.min(SHARE_BYTES_MAX, Math.max(SHARE_BYTES_MIN, equal));
  }

  /** Gives a share to a log that had none, and makes the shares of the others smaller if needed. Returns the size of a share. */
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
