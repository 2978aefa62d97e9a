import { Turns } from "#kernel/turns";
import { collectValues, monotonicMs } from "#system";

/**
 * The number of parsed bytes after which the server collects garbage at once. A hostile body of 1 MB takes 25 MB after it is parsed, and such bodies
 * can arrive faster than the concurrent garbage collector frees their memory: up to 14 of them were found in memory. During a flood of hostile bodies
 * a collection took 23 ms, and parsing this number of bytes took 45 ms.
 */
const BYTES_PER_COLLECTION = 4 * 1_048_576;

/**
 * Runs long work, which is the making of documents and the parsing of large bodies, one piece after another. Between two pieces of this long work the
 * server serves other requests.
 */
export class LongWork {
  readonly #turns = new Turns(monotonicMs);
  readonly #collect: () => void;
  /** The number of bytes that were parsed since the last collection of garbage. */
  #bytes = 0;

  constructor(collect: () => void = collectValues) {
    this.#collect = collect;
  }

  /** Resolves when the caller may do the next piece of its long work. `bytes` is the length of the request body that this piece of work parses. */
  async next(bytes = 0): Promise<void> {
    await this.#turns.next();
    this.#bytes += bytes;
    if (this.#bytes <= BYTES_PER_COLLECTION) return;
    this.#bytes = 0;
    this.#collect();
  }
}
