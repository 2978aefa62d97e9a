/**
 * The queue of one app's callback, as this process knows it: whether deliveries wait in the database, which deliveries this process has claimed, and
 * how many more it may claim. The queue is only in memory; the database has all data that must outlast the process.
 *
 * **Invariant:** a queue never exceeds its own limits of requests and deliveries, so a callback that hangs does not slow other callbacks.
 */
import { type Claimed, type ClaimRequest, type ClaimView, FIRST_ENTITY } from "../claims.ts";
import { ConcurrencyWindow } from "./concurrency-window.ts";

/** The limits for one queue's claim in a turn. */
export interface Capacity {
  readonly nowMs: number;
  readonly monotonicMs: number;
  /** Whether the queue ignores its rate and its circuit breaker, because a caller waits until all due deliveries are sent. */
  readonly isHurried: boolean;
  /** The number of further deliveries that the process has room for. */
  readonly deliveries: number;
  readonly retries: number;
}

export class EndpointQueue {
  /** The callback's id. */
  readonly id: string;
  readonly #window = new ConcurrencyWindow();
  readonly #breaker = new CircuitBreaker();
  readonly #rate: RateLimit;

  /** Whether the queue may have a delivery that waits for its first attempt and could be claimed now. */
  #hasFirsts = false;
  /** Whether deliveries wait behind other deliveries of their entity. */
  #hasBlocked = false;
  /** Whether the result of a first attempt was stored since the claim began. */
  #hasFreed = false;
  /** The entity at which the last search for deliveries of this queue ended. */
  #nextEntity = FIRST_ENTITY;
  /** World time of the next retry; undefined if the queue has no record of a waiting retry. */
  #nextRetryMs: number | undefined;

  /** The entities whose first attempts this process holds. */
  readonly #entities = new Set<string>();
  /** Deliveries that are claimed and wait for a slot of the concurrency window. */
  readonly #unsent: Claimed[] = [];
  #firsts = 0;
  #retries = 0;
  /** The number of events that are being stored and may be sent after their commit. */
  #reserved = 0;

  constructor(id: string, perSecondMax: number) {
    this.id = id;
    this.#rate = new RateLimit(perSecondMax);
  }

  /** Whether the last request to the receiver timed out. */
  get isSlow(): boolean {
    return this.#window.isSlow;
  }

  /** Whether nearly every request to the receiver fails. */
  get isBreakerOpen(): boolean {
    return !this.#breaker.isClosed;
  }

  /** The number of deliveries that are claimed and whose result is not stored. */
  get held(): number {
    return this.#firsts + this.#retries;
  }

  /** Whether the queue can be removed from memory, because a new queue for the callback would behave in the same way. */
  get isForgettable(): boolean {
    return this.held + this.#reserved === 0 && !this.#hasFirsts && this.#nextRetryMs === undefined && !this.isBreakerOpen;
  }

  /** Records that a delivery waits for its first attempt. */
  firstWaits(): void {
    this.#hasFirsts = true;
  }

  retryWaits(dueMs: number): void {
    if (this.#nextRetryMs === undefined || dueMs < this.#nextRetryMs) this.#nextRetryMs = dueMs;
  }

  /**
   * World time of the next retry; undefined if a retry is already due at `nowMs`, and waits only for a slot of the concurrency window or for the
   * circuit breaker.
   */
  nextRetryAfter(nowMs: number): number | undefined {
    return this.#isRetryDue(nowMs) ? undefined : this.#nextRetryMs;
  }

  /** Whether the queue may have a waiting first attempt or a waiting retry, due or not. */
  get hasWaiting(): boolean {
    return this.#hasFirsts || this.#nextRetryMs !== undefined;
  }

  hasDue(nowMs: number): boolean {
    return this.#hasFirsts || this.#isRetryDue(nowMs);
  }

  /** The real time until the circuit breaker and the rate limit allow a claim; 0 if both allow a claim now. */
  waitMs(monotonicMs: number): number {
    return this.#breaker.waitMs(monotonicMs) || this.#rate.waitMs(monotonicMs);
  }

  /** Returns this queue's next claim, or undefined if no delivery is due or the queue's limits allow no claim now. */
  requestClaim(capacity: Capacity): ClaimRequest | undefined {
    const firsts = this.#hasFirsts ? this.#capacityForFirsts(capacity) : 0;
    const retries = this.#isRetryDue(capacity.nowMs) ? this.#capacityForRetries(capacity, firsts) : 0;
    if (firsts + retries === 0) return undefined;
    return { queue: this.id, firsts, retries, busy: this.#entities, fromEntity: this.#nextEntity, isProbe: false };
  }

  /**
   * Returns a claim of one delivery, which tests whether a paused callback works again. The result is undefined until the results of all earlier
   * deliveries are stored.
   */
  requestProbe(): ClaimRequest | undefined {
    if (this.held > 0) return undefined;
    return { queue: this.id, firsts: 1, retries: 1, busy: this.#entities, fromEntity: this.#nextEntity, isProbe: true };
  }

  /** Whether the queue's limits allow the claim of a delivery, whether or not a delivery waits. */
  hasCapacity(isRetry: boolean, capacity: Capacity): boolean {
    return (isRetry ? this.#capacityForRetries(capacity, 0) : this.#capacityForFirsts(capacity)) > 0;
  }

  /**
   * Clears the queue's records of waiting deliveries when a claim begins. After the claim, the records contain only deliveries that arrived while the
   * claim ran.
   */
  claimBegins({ firsts, retries }: ClaimRequest): void {
    if (firsts > 0) {
      this.#hasFirsts = false;
      this.#hasFreed = false;
    }
    if (retries > 0) this.#nextRetryMs = undefined;
  }

  claimFailed({ firsts, retries }: ClaimRequest): void {
    if (firsts > 0) this.firstWaits();
    if (retries > 0) this.retryWaits(0);
  }

  claimEnded({ request, hasMore, hasBlocked, nextEntity, nextRetryMs }: ClaimView): void {
    if (request.firsts > 0) {
      // While the claim ran, a delivery may have ended for which other deliveries of its entity wait.
      this.#hasFirsts ||= hasMore || (hasBlocked && this.#hasFreed);
      this.#hasBlocked = hasBlocked;
      this.#nextEntity = nextEntity;
    }
    if (nextRetryMs !== undefined) this.retryWaits(nextRetryMs);
  }

  /** Reserves capacity for an event that is being stored. Returns false if other deliveries wait before the event, or if a limit is reached. */
  reserve(monotonicMs: number): boolean {
    if (this.#hasFirsts || this.isSlow || this.isBreakerOpen) return false;
    if (this.#firsts + this.#reserved >= this.#window.heldMax || this.#reserved >= this.#rate.available(monotonicMs)) return false;
    this.#reserved++;
    return true;
  }

  /** Ends all reservations. Each event with a reservation is now held as a delivery, or its transaction was rolled back. */
  releaseReservations(): void {
    this.#reserved = 0;
  }

  /**
   * Adds a claimed delivery to the deliveries that this process holds. Returns true if the delivery is to be sent now. Otherwise the method
   * `takeSendable` returns the delivery when a slot of the concurrency window is free.
   */
  hold(claimed: Claimed, isHurried: boolean): boolean {
    this.#rate.take();
    if (claimed.isRetry) {
      // Retries have a limit of their own, so that a concurrency window full of first attempts does not keep retries waiting.
      this.#retries++;
      return true;
    }
    this.#firsts++;
    this.#entities.add(claimed.row.entity);
    if (isHurried || this.#window.hasFreeSlot) return true;
    this.#unsent.push(claimed);
    return false;
  }

  takeSendable(): Claimed | undefined {
    return this.#window.hasFreeSlot ? this.#unsent.shift() : undefined;
  }

  /** Removes and returns all deliveries that were claimed before a slot was free for them. */
  takeUnsent(): readonly Claimed[] {
    return this.#unsent.splice(0);
  }

  sent(claimed: Claimed): void {
    this.#window.sent(1 + claimed.members.length);
  }

  succeeded(latencyMs: number): void {
    this.#breaker.succeeded();
    this.#window.succeeded(latencyMs);
  }

  failed(isTimeout: boolean, latencyMs: number, monotonicMs: number): void {
    this.#breaker.failed(isTimeout, monotonicMs);
    if (isTimeout) this.#window.timedOut(latencyMs);
    else this.#window.failed(latencyMs);
  }

  /**
   * Removes a held delivery after its result was stored. If the delivery was sent, its slot of the concurrency window is free again. The next
   * delivery of the same entity can be claimed from now on.
   */
  stored(claimed: Claimed, wasSent: boolean): void {
    if (wasSent) this.#window.stored(1 + claimed.members.length);
    if (claimed.isRetry) {
      this.#retries--;
      return;
    }
    this.#firsts--;
    this.#entities.delete(claimed.row.entity);
    this.#hasFreed = true;
    if (this.#hasBlocked) this.#hasFirsts = true;
  }

  #capacityForFirsts(capacity: Capacity): number {
    return Math.max(0, Math.min(this.#capacity(capacity), this.#window.claimable(this.#firsts)));
  }

  #capacityForRetries(capacity: Capacity, firsts: number): number {
    return Math.max(0, Math.min(this.#capacity(capacity) - firsts, capacity.retries, this.#window.retriesMax - this.#retries));
  }

  #capacity({ monotonicMs, isHurried, deliveries }: Capacity): number {
    return isHurried ? deliveries : Math.min(deliveries, this.#probesLeft(monotonicMs), this.#rate.available(monotonicMs));
  }

  #isRetryDue(nowMs: number): boolean {
    return this.#nextRetryMs !== undefined && this.#nextRetryMs <= nowMs;
  }

  /**
   * The number of deliveries that the circuit breaker allows: without limit if the breaker is closed, 0 if it is open, and one at a time if it is
   * half open.
   */
  #probesLeft(monotonicMs: number): number {
    if (!this.isBreakerOpen) return Number.POSITIVE_INFINITY;
    return this.#breaker.waitMs(monotonicMs) > 0 ? 0 : 1 - this.held;
  }
}

/**
 * The limit of deliveries a second to one callback (`--deliveries-per-second`): a bucket with at most the tokens of one second, from which each
 * delivery takes one token.
 */
export class RateLimit {
  readonly #perSecondMax: number;
  #tokens: number;
  #filledAtMs = 0;

  /** `perSecondMax` 0 means that there is no limit. */
  constructor(perSecondMax: number) {
    this.#perSecondMax = perSecondMax;
    this.#tokens = perSecondMax;
  }

  /** Returns the number of deliveries that the rate limit allows to claim now. */
  available(monotonicMs: number): number {
    const rate = this.#perSecondMax;
    if (rate === 0) return Number.POSITIVE_INFINITY;
    this.#tokens = Math.min(rate, this.#tokens + ((monotonicMs - this.#filledAtMs) * rate) / 1_000);
    this.#filledAtMs = monotonicMs;
    return Math.floor(this.#tokens);
  }

  /**
   * Takes a token for a delivery. The number of tokens falls below zero if deliveries are claimed in spite of the limit, because a caller waits until
   * all due deliveries are sent.
   */
  take(): void {
    if (this.#perSecondMax > 0) this.#tokens--;
  }

  /** Returns the time until the rate allows one more delivery. */
  waitMs(monotonicMs: number): number {
    if (this.available(monotonicMs) >= 1) return 0;
    return Math.ceil(((1 - this.#tokens) * 1_000) / this.#perSecondMax);
  }
}

/**
 * The circuit breaker stops sending to a receiver that fails nearly every request, and finds out when the receiver works again.
 *
 * | state | when | what may be sent |
 * | --- | --- | --- |
 * | closed | a tenth of the requests or more succeed | everything |
 * | open | fewer than a tenth succeed; for 1 s, then 2 s, … 30 s of real time | no request |
 * | half open | the time of the state `open` is over | one request at a time; a success closes the breaker, a failure opens it again |
 */

/** The weight of a new request in the running rate of successes: a tenth, or three tenths for a request that timed out. */
const SHARE = 0.1;
const TIMEOUT_SHARE = 0.3;
/** The rate of successes below which the breaker opens: after some 22 failures in a row, but never if only three in ten requests fail. */
const SUCCESS_MIN = 0.1;
const OPEN_MS_MIN = 1_000;
const OPEN_MS_MAX = 30_000;

export class CircuitBreaker {
  /** The running rate of successes: 1 if all requests succeed, 0 if all requests fail. */
  #success = 1;
  #openMs = OPEN_MS_MIN;
  #openUntilMs = 0;

  get isClosed(): boolean {
    return this.#success >= SUCCESS_MIN;
  }

  /** Returns the time until a request may be sent; 0 if the breaker is closed or half open. */
  waitMs(monotonicMs: number): number {
    return this.isClosed ? 0 : Math.max(0, this.#openUntilMs - monotonicMs);
  }

  succeeded(): void {
    this.#success += (1 - this.#success) * SHARE;
    this.#openMs = OPEN_MS_MIN;
  }

  failed(isTimeout: boolean, monotonicMs: number): void {
    this.#success *= 1 - (isTimeout ? TIMEOUT_SHARE : SHARE);
    // Requests that were under way together when the breaker opened count as one failure.
    if (this.isClosed || monotonicMs < this.#openUntilMs) return;
    this.#openUntilMs = monotonicMs + this.#openMs;
    this.#openMs = Math.min(OPEN_MS_MAX, this.#openMs * 2);
  }
}
