/** All lanes of a process: what each may take next, within what the server can hold. */
import type { Callbacks } from "../../callbacks/callbacks.ts";
import type { Seen, Want } from "../claims.ts";
import { NO_LANE } from "../deliveries.store.ts";
import { Lane } from "./endpoint-queue.ts";

/** Deliveries that this process holds: each some kB, and a socket once it is out. */
const HELD_MAX = 2_048;
/** Of them retries, so that a night's failures leave room for what is new. */
const HELD_RETRIES_MAX = 512;
/** Of them those to receivers that did not answer in time. */
const HELD_SLOW_MAX = 256;
/** Claimed in one transaction. */
export const CLAIMED_MAX = 512;
/** Lanes that are remembered though nothing waits in them, for what is known of their receivers. */
const LANES_KEPT_MAX = 10_000;

export interface LanesOptions {
  readonly callbacks: Callbacks;
  /** Deliveries a second and callback; 0: as many as it takes. */
  readonly perSecondMax: number;
  /** Asks for another turn in so many ms of real time. */
  wakeIn(ms: number): void;
}

export interface Asked {
  /** World time. */
  readonly nowMs: number;
  readonly isHurried: boolean;
  readonly held: number;
  readonly heldRetries: number;
}

export class Lanes {
  readonly #options: LanesOptions;
  readonly #lanes = new Map<string, Lane>();
  /** One for each promise. */
  readonly #promised: Lane[] = [];
  /** Who comes first in the next turn. */
  #rotation = 0;

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  get(id: string): Lane {
    let lane = this.#lanes.get(id);
    if (lane === undefined) {
      if (this.#lanes.size >= LANES_KEPT_MAX) this.#forget();
      lane = new Lane(id, this.#options.perSecondMax);
      this.#lanes.set(id, lane);
    }
    return lane;
  }

  /**
   * Whether an event that is being stored may go to the lane without waiting there. What was promised counts until
   * `forgetPromises`: nobody knows yet whether the transaction will commit.
   */
  promise(id: string, held: number): boolean {
    if (held + this.#promised.length >= HELD_MAX) return false;
    const callback = this.#options.callbacks.peek(id);
    if (callback === undefined || callback.paused_ms !== null) return false;
    const lane = this.get(id);
    // time: limits of lanes are real time.
    if (!lane.promise(performance.now())) return false;
    this.#promised.push(lane);
    return true;
  }

  /** After a commit: what it stored is held by now, and bodies that it undid will not come back. */
  forgetPromises(): void {
    for (const lane of this.#promised) lane.promised = 0;
    this.#promised.length = 0;
  }

  /** What each lane may take now, beginning with another one each time. */
  async wants({ nowMs, isHurried, held, heldRetries }: Asked): Promise<Want[]> {
    // time: limits of lanes are real time.
    const monotonicMs = performance.now();
    const wants: Want[] = [];
    let capacity = Math.min(CLAIMED_MAX, HELD_MAX - held);
    let retryCapacity = HELD_RETRIES_MAX - heldRetries;
    let slowCapacity = HELD_SLOW_MAX - this.#heldSlow();
    const active = [...this.#lanes.values()].filter((lane) => lane.hasFirsts || isDue(lane, nowMs));
    const start = active.length === 0 ? 0 : this.#rotation++ % active.length;
    for (let at = 0; at < active.length && capacity > 0; at++) {
      const lane = active[(start + at) % active.length] as Lane;
      if (lane.id !== NO_LANE && (await this.#isPaused(lane.id))) continue;
      const waitMs = isHurried ? 0 : lane.waitMs(monotonicMs);
      if (waitMs > 0) {
        this.#options.wakeIn(waitMs);
        continue;
      }
      const most = lane.isSlow ? Math.min(capacity, slowCapacity) : capacity;
      const firsts = lane.hasFirsts ? Math.max(0, Math.min(most, lane.capacityForFirsts(monotonicMs, isHurried))) : 0;
      // A probe is one request, whichever it is.
      const left = lane.isProbing && !isHurried ? 1 - firsts : most - firsts;
      const retries = isDue(lane, nowMs) ? Math.max(0, Math.min(left, retryCapacity, lane.capacityForRetries(monotonicMs, isHurried))) : 0;
      if (firsts + retries === 0) continue;
      wants.push({ lane, firsts, retries });
      capacity -= firsts + retries;
      retryCapacity -= retries;
      if (lane.isSlow) slowCapacity -= firsts + retries;
    }
    return wants;
  }

  /** What a claim saw, which may be older than the ends that were stored meanwhile. */
  believe({ lane, hasFirsts, hasBlocked, retries, nextEntity, endCount }: Seen): void {
    const hasEnds = lane.endCount !== endCount;
    // What was behind a delivery that ended meanwhile may go.
    lane.hasFirsts ||= hasFirsts || (hasBlocked && hasEnds);
    lane.hasBlocked = hasBlocked;
    lane.nextEntity = nextEntity;
    if (retries === undefined) return;
    lane.nextRetryMs = hasEnds ? earlier(lane.nextRetryMs, retries.nextMs) : retries.nextMs;
  }

  /** World time. Those that are due and were not taken wait for a request to end, or for time of their own. */
  nextDueMs(nowMs: number): number | undefined {
    let next: number | undefined;
    for (const { id, nextRetryMs } of this.#lanes.values()) {
      if (nextRetryMs === undefined || nextRetryMs <= nowMs || this.#isKnownAsPaused(id)) continue;
      next = earlier(next, nextRetryMs);
    }
    return next;
  }

  async #isPaused(id: string): Promise<boolean> {
    if (this.#options.callbacks.peek(id) === undefined) await this.#options.callbacks.find(id);
    return this.#isKnownAsPaused(id);
  }

  #isKnownAsPaused(id: string): boolean {
    const callback = this.#options.callbacks.peek(id);
    return callback !== undefined && callback.paused_ms !== null;
  }

  #heldSlow(): number {
    let held = 0;
    for (const lane of this.#lanes.values()) if (lane.isSlow) held += lane.firsts + lane.retries;
    return held;
  }

  #forget(): void {
    for (const lane of this.#lanes.values()) if (lane.isForgettable) this.#lanes.delete(lane.id);
  }
}

const isDue = ({ nextRetryMs }: Lane, nowMs: number): boolean => nextRetryMs !== undefined && nextRetryMs <= nowMs;

const earlier = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : other === undefined ? one : Math.min(one, other);
