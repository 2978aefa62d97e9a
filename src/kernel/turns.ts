/** A turn of the event loop: what is ready on other connections is served in between. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Long pieces of work of many requests, one after the other: between two of them others have as long as the first one took. */
export class Turns {
  readonly #monotonicMs: () => number;
  readonly #waiting: (() => void)[] = [];
  #isRunning = false;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Resolves when the next piece may be done, which lasts for one turn of the event loop. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#isRunning) return;
      this.#isRunning = true;
      setImmediate(this.#run);
    });
  }

  readonly #run = (): void => {
    const startedMs = this.#monotonicMs();
    this.#waiting.shift()?.();
    setImmediate(() => {
      this.#isRunning = this.#waiting.length > 0;
      // A timer because turns of the event loop may be shorter than what was done.
      if (this.#isRunning) setTimeout(this.#run, this.#monotonicMs() - startedMs);
    });
  };
}
