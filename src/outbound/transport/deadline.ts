/** The deadlines of requests. Deadlines are in real time, so they also pass while the world's clock is frozen. */
import { type FailureKind, RequestFailed } from "../request.ts";

/**
 * The deadlines of all running requests. All deadlines share one timer, which waits for the earliest deadline. A timer for each request would take
 * more CPU time, because most requests end long before their deadlines.
 */
export class Deadlines {
  readonly #running = new Set<Deadline>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;

  begin(ms: number): Deadline {
    const deadline: Deadline = new Deadline(performance.now() + ms, () => this.#running.delete(deadline));
    this.#running.add(deadline);
    if (deadline.endMs < this.#timerAtMs) this.#arm(deadline.endMs);
    return deadline;
  }

  /** Stops the timer. After this call, running requests have no deadline. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timerAtMs = Number.POSITIVE_INFINITY;
  }

  #arm(atMs: number): void {
    clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(() => this.#sweep(), Math.max(0, Math.ceil(atMs - performance.now())));
    // The timer of deadlines must not keep the program running. The sockets of running requests keep the program running.
    this.#timer.unref();
  }

  #sweep(): void {
    const nowMs = performance.now();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const deadline of this.#running) {
      if (deadline.endMs > nowMs) nextMs = Math.min(nextMs, deadline.endMs);
      else deadline.pass();
    }
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    if (nextMs !== Number.POSITIVE_INFINITY) this.#arm(nextMs);
  }
}

/** A connection that a deadline can close at once. */
interface Closable {
  close(problem?: FailureKind): void;
}

export class Deadline {
  /** The connection that carries the request at the moment. */
  connection: Closable | undefined;
  #hasPassed = false;
  #stop: ((error: RequestFailed) => void) | undefined;

  /** The time `endMs` is monotonic time. The function `leave` is called when the request has ended, to remove the request's deadline. */
  constructor(
    readonly endMs: number,
    readonly leave: () => void,
  ) {}

  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#stop = reject;
      promise.then(resolve, reject);
    });
  }

  /**
   * Waits for a connection until the deadline, or only for `withinMs`, so that the caller can try another address. A connection that opens after this
   * time is closed.
   */
  async open<C extends Closable>(opening: Promise<C>, withinMs?: number): Promise<C> {
    let isLate = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    opening.then(
      (connection) => isLate && connection.close(),
      () => {},
    );
    const limit = new Promise<never>((_, reject) => {
      if (withinMs !== undefined)
        timer = setTimeout(() => reject(new RequestFailed("connect", `the connection failed: it took longer than ${withinMs} ms`)), withinMs);
    });
    try {
      return await this.race(Promise.race([opening, limit]));
    } catch (error) {
      isLate = true;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the request, because its deadline has passed. A second call for the same request does nothing. */
  pass(): void {
    if (this.#hasPassed) return;
    this.#hasPassed = true;
    this.connection?.close("timeout");
    this.#stop?.(new RequestFailed("timeout", "the response was not complete in time"));
  }
}
