/**
 * Finds deliveries that wait although they could be sent, which only a mistake of the program can cause. Every half minute a check reads the oldest
 * delivery of each queue. A delivery that is still the oldest at the next check is overdue, unless its queue has a reason to wait.
 */

/**
 * The real time between two checks for overdue deliveries. Between two checks, a queue that may send has sent its oldest delivery, because an attempt
 * takes 15 s at most (D-62).
 */
export const CHECK_EVERY_MS = 30_000;

/** The oldest first attempt of a queue, or the queue's retry that has been due the longest. */
export interface OldestWaiting {
  /** The queue in which the delivery waits, by the id of its callback; 0 is the queue of deliveries without a callback. */
  readonly queue: string;
  readonly delivery: string;
  readonly isRetry: boolean;
}

export class OverdueWatch {
  #oldest: ReadonlyMap<string, OldestWaiting> = new Map();
  #checkAtMs = 0;

  /** Returns the real time until the next check for overdue deliveries. */
  waitMs(monotonicMs: number): number {
    return Math.max(0, this.#checkAtMs - monotonicMs);
  }

  /** Returns those deliveries in `oldest` that were already the oldest of their queues at the last check. */
  compare(oldest: readonly OldestWaiting[], monotonicMs: number): OldestWaiting[] {
    this.#checkAtMs = monotonicMs + CHECK_EVERY_MS;
    const before = this.#oldest;
    this.#oldest = new Map(oldest.map((one) => [keyOf(one), one]));
    return oldest.filter((one) => before.get(keyOf(one))?.delivery === one.delivery);
  }
}

const keyOf = ({ queue, isRetry }: OldestWaiting): string => `${queue} ${isRetry}`;
