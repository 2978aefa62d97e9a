/**
 * The endpoint queues of a process, one for each callback. This module decides how many deliveries each queue may claim next, within the limits of
 * the process.
 */

import type { CallbackRow } from "../../callbacks/callbacks.store.ts";
import type { Callbacks } from "../../callbacks/callbacks.ts";
import type { Claimed, ClaimRequest } from "../claims.ts";
import { NO_CALLBACK } from "../deliveries.store.ts";
import { EndpointQueue } from "./endpoint-queue.ts";

/** The greatest number of claimed deliveries that the process holds. Each delivery takes some kB of memory, and a socket while it is being sent. */
const HELD_MAX = 2_048;
/**
 * The greatest number of retries among the deliveries that the process holds. This limit for retries leaves capacity for new deliveries if a night of
 * failures has left many retries.
 */
const HELD_RETRIES_MAX = 512;
/** The greatest number of deliveries that the process holds for receivers that timed out. */
const HELD_SLOW_MAX = 256;
/** The greatest number of deliveries that one transaction claims. */
export const CLAIMED_MAX = 512;
/**
 * The number of queues that stay in memory although no delivery waits in them, because a queue remembers the latency and the failures of its
 * receiver.
 */
const QUEUES_KEPT_MAX = 10_000;

export interface EndpointQueuesOptions {
  readonly callbacks: Callbacks;
  /** The limit of deliveries a second to each callback; 0 means that there is no limit. */
  readonly perSecondMax: number;
  /** Requests another turn of the dispatcher after `ms` milliseconds of real time. */
  wakeIn(ms: number): void;
}

export class EndpointQueues {
  readonly #options: EndpointQueuesOptions;
  readonly #queues = new Map<string, EndpointQueue>();
  /** The queues with reservations. A queue is in this list once for each event for which it has reserved capacity. */
  readonly #reserved: EndpointQueue[] = [];
  #held = 0;
  #heldRetries = 0;
  /** The position in the list of queues of the queue that may claim first in the next turn. */
  #rotation = 0;

  constructor(options: EndpointQueuesOptions) {
    this.#options = options;
  }

  get(id: string): EndpointQueue {
    let queue = this.#queues.get(id);
    if (queue === undefined) {
      if (this.#queues.size >= QUEUES_KEPT_MAX) this.#forget();
      queue = new EndpointQueue(id, this.#options.perSecondMax);
      this.#queues.set(id, queue);
    }
    return queue;
  }

  /**
   * Reserves capacity for an event that is being stored. Returns false if the event must wait in its queue. The reservation lasts until
   * `releaseReservations`, because the event's transaction may still be rolled back.
   */
  reserve(id: string): boolean {
    if (this.#held + this.#reserved.length >= HELD_MAX) return false;
    const callback = this.#options.callbacks.peek(id);
    if (callback === undefined || callback.paused_ms !== null) return false;
    const queue = this.get(id);
    // time: the limits of queues are real time.
    if (!queue.reserve(performance.now())) return false;
    this.#reserved.push(queue);
    return true;
  }

  /**
   * Ends all reservations after a commit. After the commit, each event with a reservation is held as a delivery, or its transaction was rolled back.
   */
  releaseReservations(): void {
    for (const queue of this.#reserved) queue.releaseReservations();
    this.#reserved.length = 0;
  }

  /** Adds a claimed delivery to the deliveries that the process holds. Returns whether the delivery is to be sent now. */
  hold(claimed: Claimed, isHurried: boolean): boolean {
    this.#held++;
    if (claimed.isRetry) this.#heldRetries++;
    return this.get(claimed.row.callback).hold(claimed, isHurried);
  }

  /** Removes a held delivery after its result was stored. */
  stored(claimed: Claimed, wasSent: boolean): void {
    this.#held--;
    if (claimed.isRetry) this.#heldRetries--;
    this.get(claimed.row.callback).stored(claimed, wasSent);
  }

  /** Returns the claims of all queues for this turn. Each turn begins with another queue, so that all queues have the same chance. */
  async requestClaims(nowMs: number, isHurried: boolean): Promise<ClaimRequest[]> {
    // time: the limits of queues are real time.
    const monotonicMs = performance.now();
    const requests: ClaimRequest[] = [];
    let deliveries = Math.min(CLAIMED_MAX, HELD_MAX - this.#held);
    let retries = HELD_RETRIES_MAX - this.#heldRetries;
    let slow = HELD_SLOW_MAX - this.#heldSlow();
    const due = [...this.#queues.values()].filter((queue) => queue.hasDue(nowMs) || (queue.hasWaiting && this.#isKnownAsPaused(queue.id)));
    const start = due.length === 0 ? 0 : this.#rotation++ % due.length;
    for (let at = 0; at < due.length && deliveries > 0; at++) {
      const queue = due[(start + at) % due.length] as EndpointQueue;
      const callback = await this.#find(queue.id);
      const isPaused = callback !== undefined && callback.paused_ms !== null;
      if (isPaused && !isProbeDue(callback, nowMs)) continue;
      const waitMs = isHurried ? 0 : queue.waitMs(monotonicMs);
      if (waitMs > 0) {
        this.#options.wakeIn(waitMs);
        continue;
      }
      const most = queue.isSlow ? Math.min(deliveries, slow) : deliveries;
      const request = isPaused ? queue.requestProbe() : queue.requestClaim({ nowMs, monotonicMs, isHurried, deliveries: most, retries });
      if (request === undefined) continue;
      requests.push(request);
      const count = request.firsts + request.retries;
      deliveries -= count;
      retries -= request.retries;
      if (queue.isSlow) slow -= count;
    }
    return requests;
  }

  /** Whether a delivery that waits in the queue could be claimed now. */
  async hasCapacity(id: string, isRetry: boolean): Promise<boolean> {
    const callback = await this.#find(id);
    if (callback !== undefined && callback.paused_ms !== null) return false;
    const queue = this.get(id);
    const deliveries = Math.min(HELD_MAX - this.#held, queue.isSlow ? HELD_SLOW_MAX - this.#heldSlow() : HELD_MAX);
    // time: the limits of queues are real time.
    const capacity = { nowMs: 0, monotonicMs: performance.now(), isHurried: false, deliveries, retries: HELD_RETRIES_MAX - this.#heldRetries };
    return queue.hasCapacity(isRetry, capacity);
  }

  /**
   * Whether due deliveries wait only for capacity, for the rate limit or for the circuit breaker, which depend on real time. Deliveries to a paused
   * callback do not count, because the time for which they wait is world time.
   */
  hasDue(nowMs: number): boolean {
    for (const queue of this.#queues.values()) if (queue.hasDue(nowMs) && !this.#isKnownAsPaused(queue.id)) return true;
    return false;
  }

  /** World time at which the next retry is due, or the next attempt at a callback that is paused. */
  nextDueMs(nowMs: number): number | undefined {
    let next: number | undefined;
    for (const queue of this.#queues.values()) {
      if (!queue.hasWaiting) continue;
      const dueMs = this.#isKnownAsPaused(queue.id) ? this.#nextProbeAfter(queue.id, nowMs) : queue.nextRetryAfter(nowMs);
      if (dueMs !== undefined && (next === undefined || dueMs < next)) next = dueMs;
    }
    return next;
  }

  async #find(id: string): Promise<CallbackRow | undefined> {
    return id === NO_CALLBACK ? undefined : this.#options.callbacks.find(id);
  }

  /**
   * World time of the next test of a paused callback; undefined if the test is already due, and waits only until the result of an earlier delivery is
   * stored.
   */
  #nextProbeAfter(id: string, nowMs: number): number | undefined {
    const dueMs = this.#options.callbacks.peek(id)?.probe_due_ms ?? undefined;
    return dueMs !== undefined && dueMs > nowMs ? dueMs : undefined;
  }

  #isKnownAsPaused(id: string): boolean {
    const callback = this.#options.callbacks.peek(id);
    return callback !== undefined && callback.paused_ms !== null;
  }

  #heldSlow(): number {
    let held = 0;
    for (const queue of this.#queues.values()) if (queue.isSlow) held += queue.held;
    return held;
  }

  #forget(): void {
    for (const queue of this.#queues.values()) if (queue.isForgettable) this.#queues.delete(queue.id);
  }
}

const isProbeDue = ({ probe_due_ms }: CallbackRow, nowMs: number): boolean => probe_due_ms !== null && probe_due_ms <= nowMs;
