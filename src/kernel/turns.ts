/** A turn of the event loop: what is ready on other connections is served in between. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Long pieces of work of many requests: one in each turn of the event loop. */
export class Turns {
  readonly #waiting: (() => void)[] = [];

  /** Resolves when the next piece may be done. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#run);
    });
  }

  readonly #run = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(this.#run);
  };
}
