/** Waits for the next turn of the event loop, so that the server can serve other connections meanwhile. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * The number of requests of batches that run in one turn of the event loop. One such request, which reads a page of 100 nodes, takes less than a
 * millisecond.
 */
const PARTS_PER_TURN = 4;
const partsWaiting: (() => void)[] = [];

function runParts(): void {
  for (const run of partsWaiting.splice(0, PARTS_PER_TURN)) run();
  if (partsWaiting.length > 0) setImmediate(runParts);
}

/**
 * Waits for a turn of the event loop in which the next request of a batch or of `ids=` may run. All batches share the number of requests that run in
 * one turn. If each of a hundred batches ran a request in every turn, a turn would take a hundred times as long, and every other connection would
 * wait.
 */
export const nextPartsTurn = (): Promise<void> =>
  new Promise((resolve) => {
    if (partsWaiting.push(resolve) === 1) setImmediate(runParts);
  });

/** Waits until the promise is settled, but at most for `ms` of real time. The function clears its timer at the end of the wait. */
export async function within(promise: Promise<unknown>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  // The end of the wait needs a timer, because the promise may never be settled.
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/**
 * Calls `use` for each item. If the list has more than `count` items, the event loop gets a turn before every `count` of them, so that other work,
 * such as the database's next response, does not wait for all items.
 */
export async function fewAtOnce<T>(items: readonly T[], count: number, use: (item: T) => void): Promise<void> {
  for (const [at, item] of items.entries()) {
    if (at % count === 0 && items.length > count) await nextTurn();
    use(item);
  }
}

/** Runs long pieces of work one after the other. After each piece, other work gets as much time as the piece took. */
export class Turns {
  readonly #monotonicMs: () => number;
  readonly #waiting: (() => void)[] = [];
  #isRunning = false;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /**
   * Resolves when the caller may run its next piece of work. The piece of work must end in the turn of the event loop in which the promise resolves.
   */
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
      // The pause needs a timer, because turns of the event loop may be shorter than the piece of work.
      if (this.#isRunning) setTimeout(this.#run, this.#monotonicMs() - startedMs);
    });
  };
}

/**
 * A value, or a promise of it. A lookup in a cache returns the value itself if the cache has it, because each `await` on the way of a request costs
 * some 0.3 µs even if there is nothing to wait for.
 */
export type Awaitable<T> = T | Promise<T>;

/** Calls `use` with the value: immediately if the value is there, or when its promise resolves. */
export function chain<T, U>(value: Awaitable<T>, use: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(use) : use(value);
}
