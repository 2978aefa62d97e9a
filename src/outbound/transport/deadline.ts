/** The deadlines of requests, in real time, so they pass even if the world's clock is frozen. */
import { type FailureKind, RequestFailed } from "../request.ts";

/** All requests of a client share one timer, which waits for the earliest deadline, because most requests have ended by then. */
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

  /** Ends the timer: running requests have no deadline any more. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timerAtMs = Number.POSITIVE_INFINITY;
  }

  #arm(atMs: number): void {
    clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(() => this.#sweep(), Math.max(0, Math.ceil(atMs - performance.now())));
    // The timer does not keep the program running, because the sockets of running requests do.
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

/** A connection that can be ended at once. */
interface Closable {
  close(problem?: FailureKind): void;
}

export class Deadline {
  /** The connection that carries the request now. */
  connection: Closable | undefined;
  #hasPassed = false;
  #stop: ((error: RequestFailed) => void) | undefined;

  /** `endMs` is monotonic time. `leave` is called when the request has ended. */
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
   * Waits for a connection until the deadline, or for `withinMs`, after which another address may be tried. A connection that opens too late is
   * closed.
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
        timer = setTimeout(() => reject(new RequestFailed("connect", `there was no connection within ${withinMs} ms`)), withinMs);
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

  /** Ends the request at its deadline. A second call does nothing. */
  pass(): void {
    if (this.#hasPassed) return;
    this.#hasPassed = true;
    this.connection?.close("timeout");
    this.#stop?.(new RequestFailed("timeout", "no whole response came in time"));
  }
}
