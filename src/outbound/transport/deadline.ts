/** How long a request may take, in real time, also where the world's clock stands still. */
import { type FailureKind, RequestFailed } from "../request.ts";

/** All requests of a client share one timer, which waits for the first deadline: most requests have ended by then. */
export class Deadlines {
  /** A ring of all running deadlines, which begins and ends here. The runtime would rebuild a set every few hundred requests. */
  readonly #ring = new Deadline(Number.POSITIVE_INFINITY);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;

  begin(ms: number): Deadline {
    const deadline = new Deadline(performance.now() + ms);
    deadline.enter(this.#ring);
    if (deadline.endMs < this.#timerAtMs) this.#arm(deadline.endMs);
    return deadline;
  }

  /** Running requests have no deadline any more. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timerAtMs = Number.POSITIVE_INFINITY;
  }

  #arm(atMs: number): void {
    clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(() => this.#sweep(), Math.ceil(atMs - performance.now()));
    // The sockets of requests that are out keep the program running.
    this.#timer.unref();
  }

  #sweep(): void {
    const nowMs = performance.now();
    let nextMs = Number.POSITIVE_INFINITY;
    const late: Deadline[] = [];
    for (let deadline = this.#ring.next; deadline !== this.#ring; deadline = deadline.next) {
      if (deadline.endMs > nowMs) nextMs = Math.min(nextMs, deadline.endMs);
      else late.push(deadline);
    }
    // A deadline that passes may leave the ring at once.
    for (const deadline of late) deadline.pass();
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
  next: Deadline = this;
  #previous: Deadline = this;

  /** `endMs`: monotonic time. */
  constructor(readonly endMs: number) {}

  enter(ring: Deadline): void {
    this.next = ring;
    this.#previous = ring.#previous;
    ring.#previous.next = this;
    ring.#previous = this;
  }

  /** The request has ended. */
  leave(): void {
    this.#previous.next = this.next;
    this.next.#previous = this.#previous;
    this.next = this;
    this.#previous = this;
  }

  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#stop = reject;
      promise.then(resolve, reject);
    });
  }

  /** A connection that comes too late is closed: after this deadline, or after `withinMs`, when another address may be tried. */
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

  /** Once. */
  pass(): void {
    if (this.#hasPassed) return;
    this.#hasPassed = true;
    this.connection?.close("timeout");
    this.#stop?.(new RequestFailed("timeout", "no whole response came in time"));
  }
}
