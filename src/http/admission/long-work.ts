import { Turns } from "#kernel/turns";
import { collectValues, monotonicMs } from "#system";

/**
 * The number of parsed bytes after which the server collects garbage at once. A hostile body of 1 MB takes 25 MB after it is parsed, and such bodies
 * can arrive faster than the concurrent garbage collector frees their memory: up to 14 of them were found in memory. During such a flood a collection
 * took 23 ms, and parsing these bytes took 45 ms.
 */
const BYTES_PER_COLLECTION = 4 * 1_048_576;

/**
 * Schedules the making of documents and the parsing of large bodies, one after another. Between two pieces of this work the server serves other
 * requests.
 */
export class LongWork {
  readonly #turns = new Turns(monotonicMs);
  readonly #collect: () => void;
  /** The number of bytes that were parsed since the last collection of garbage. */
  #bytes = 0;

  constructor(collect: () => void = collectValues) {
    this.#collect = collect;
  }

  /** Resolves when the caller may do its next step. `bytes` is the length of the body that this step parses. */
  async next(bytes = 0): Promise<void> {
    await this.#turns.next();
    this.#bytes += bytes;
    if (this.#bytes <= BYTES_PER_COLLECTION) return;
    this.#bytes = 0;
    this.#collect();
  }
}
