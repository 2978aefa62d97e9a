import { Turns } from "#kernel/turns";
import { collectValues, monotonicMs } from "#system";

/**
 * A hostile body of 1 MB takes 25 MB once it is parsed, and such bodies can arrive faster than the concurrent garbage collector frees them: up
 * to 14 were found in memory. Collecting at once took 23 ms in such a flood, and parsing these bytes 45 ms.
 */
const BYTES_PER_COLLECTION = 4 * 1_048_576;

/** Makes documents and parses large bodies, one after the other. Other requests are served in between. */
export class LongWork {
  readonly #turns = new Turns(monotonicMs);
  readonly #collect: () => void;
  /** Parsed since the last collection. */
  #bytes = 0;

  constructor(collect: () => void = collectValues) {
    this.#collect = collect;
  }

  /** Resolves when the next piece may be done; `bytes` is the length of the body that it parses. */
  async next(bytes = 0): Promise<void> {
    await this.#turns.next();
    this.#bytes += bytes;
    if (this.#bytes <= BYTES_PER_COLLECTION) return;
    this.#bytes = 0;
    this.#collect();
  }
}
