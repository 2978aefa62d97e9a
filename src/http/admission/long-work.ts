import { Turns } from "#kernel/turns";
import { collectValues, monotonicMs } from "#system";

/**
 * Parsed, a hostile body of 1 MB takes 25 MB, and such bodies come faster than the collector, which works beside them, takes their values
 * away: 14 of them were found waiting for it. Collecting at once took 23 ms (measured in such a flood), parsing so many bytes 45.
 */
const BYTES_PER_COLLECTION = 4 * 1_048_576;

/** Documents, and large bodies: one after the other, with time for others in between. */
export class LongWork {
  readonly #turns = new Turns(monotonicMs);
  readonly #collect: () => void;
  /** Since garbage was last collected. */
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
