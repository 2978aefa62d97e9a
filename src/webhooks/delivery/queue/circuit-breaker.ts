/**
 * Spares a receiver that fails nearly every request, and finds out when it works again.
 *
 * | state | when | what may be sent |
 * | --- | --- | --- |
 * | closed | a tenth of the requests or more succeed | everything |
 * | open | fewer do; for 1 s, then 2 s, … 30 s of real time | nothing |
 * | half open | that time is over | one request at a time: a success closes it, a failure opens it again |
 */

/** Of the share of requests that succeed, each new one counts for a tenth; one that timed out for three. */
const SHARE = 0.1;
const TIMEOUT_SHARE = 0.3;
/** Below it the breaker opens: after some 22 failures in a row, never where three in ten fail. */
const SUCCESS_MIN = 0.1;
const OPEN_MS_MIN = 1_000;
const OPEN_MS_MAX = 30_000;

export class CircuitBreaker {
  /** 1: every request succeeds. */
  #success = 1;
  #openMs = OPEN_MS_MIN;
  #openUntilMs = 0;

  get isClosed(): boolean {
    return this.#success >= SUCCESS_MIN;
  }

  /** Until a request may be tried; 0: closed, or half open. */
  waitMs(monotonicMs: number): number {
    return this.isClosed ? 0 : Math.max(0, this.#openUntilMs - monotonicMs);
  }

  succeeded(): void {
    this.#success += (1 - this.#success) * SHARE;
    this.#openMs = OPEN_MS_MIN;
  }

  failed(isTimeout: boolean, monotonicMs: number): void {
    this.#success *= 1 - (isTimeout ? TIMEOUT_SHARE : SHARE);
    // Requests that were out together when it opened count as one failure.
    if (this.isClosed || monotonicMs < this.#openUntilMs) return;
    this.#openUntilMs = monotonicMs + this.#openMs;
    this.#openMs = Math.min(OPEN_MS_MAX, this.#openMs * 2);
  }
}
