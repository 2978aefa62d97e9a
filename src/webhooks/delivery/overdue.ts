/**
 * Notices deliveries that wait although nothing keeps them, which only a mistake of the program can bring about. The oldest
 * delivery of each queue is looked at every half minute; one that is still the oldest is overdue unless its queue says why.
 */

/** A queue that may send has moved on by then: an attempt takes 15 s at most (D-62). */
export const CHECK_EVERY_MS = 30_000;

/** The oldest first attempt of a queue, or its retry that has been due the longest. */
export interface OldestWaiting {
  /** The callback's id; 0: it leads nowhere. */
  readonly queue: string;
  readonly delivery: string;
  readonly isRetry: boolean;
}

export class OverdueWatch {
  #oldest: ReadonlyMap<string, OldestWaiting> = new Map();
  #checkAtMs = 0;

  /** Real time until the next check. */
  waitMs(monotonicMs: number): number {
    return Math.max(0, this.#checkAtMs - monotonicMs);
  }

  /** Returns those that were the oldest at the last check, too. */
  compare(oldest: readonly OldestWaiting[], monotonicMs: number): OldestWaiting[] {
    this.#checkAtMs = monotonicMs + CHECK_EVERY_MS;
    const before = this.#oldest;
    this.#oldest = new Map(oldest.map((one) => [keyOf(one), one]));
    return oldest.filter((one) => before.get(keyOf(one))?.delivery === one.delivery);
  }
}

const keyOf = ({ queue, isRetry }: OldestWaiting): string => `${queue} ${isRetry}`;
