/**
 * A lane is one app's callback, as this process sees it: how many calls it may have under way, whether it is being spared
 * after failures, and what waits for it. Everything here is in memory and in real time; what must outlast the process is in
 * the database.
 *
 * **Invariant:** a lane never takes more of the server than its own limits, so a callback that hangs slows nobody else.
 */

/** Calls at once at first: it grows with each success, and is halved when no response came in time. */
const WINDOW_START = 4;
/**
 * And at most: four for each millisecond that the receiver takes, so that one that is quick and one that is far away both
 * get some thousand calls a second, and what is in doubt when the process is killed stays small.
 */
const WINDOW_MAX_MIN = 16;
const WINDOW_MAX_MAX = 128;
const WINDOW_PER_MS = 4;
/** Events in doubt, where POSTs hold many: one more POST only below that. */
const DOUBTFUL_UPDATES_MAX = 256;
/** Of the share of calls that succeed, each new one counts for a tenth; one that was not answered in time for three. */
const HEALTH_SHARE = 0.1;
const HEALTH_SHARE_OF_TIMEOUT = 0.3;
/** Below this share a callback is spared: after some 22 failures in a row, never where three in ten fail. */
const HEALTH_MIN = 0.1;
/** How long it is spared, then twice that, and so on. */
const SPARED_MS_MIN = 1_000;
const SPARED_MS_MAX = 30_000;
/** A receiver that responses in this time has its next deliveries claimed before the ones under way are through. */
const QUICK_MS = 50;
/** Of the last latencies each new one counts for a fifth. */
const LATENCY_SHARE = 0.2;
/** So many: they cover the time of a commit. */
const AHEAD = 256;
/** And are claimed so many at a time. */
const AHEAD_STEP = 64;

export class Lane {
  /** Something may wait for its first attempt. */
  hasFirsts = false;
  /** Something does, behind a delivery of the same entity that is under way. */
  hasBlocked = false;
  /** Where the last look at its entities ended. */
  nextEntity = "0";
  /** World time; undefined: no retry waits, as far as is known. */
  nextRetryMs: number | undefined;
  /** Entities whose first attempts are claimed here, until their ends are stored. */
  readonly entities = new Set<string>();
  /** Ends that were stored. */
  endCount = 0;
  /** Claimed and not ended, in flight or queued here. */
  firsts = 0;
  retries = 0;
  /** Events that are being stored and may go out at once. */
  promised = 0;
  /** Calls that are out, or whose end is not stored: a killed process would make them twice. */
  #inDoubt = 0;
  /** The events in them. */
  #doubtfulUpdates = 0;
  #window = WINDOW_START;
  /** 1: every request succeeds. */
  #health = 1;
  #sparedMs = SPARED_MS_MIN;
  #sparedUntilMs = 0;
  /** Unknown until the first response. */
  #latencyMs = Number.POSITIVE_INFINITY;
  #isSlow = false;
  #tokens: number;
  #tokensAtMs = 0;

  /** `perSecondMax`: deliveries a second; 0: as many as it takes. */
  constructor(
    readonly id: string,
    readonly perSecondMax: number,
  ) {
    this.#tokens = perSecondMax;
  }

  /** No response came in time at its last try: such lanes share a small part of the server. */
  get isSlow(): boolean {
    return this.#isSlow;
  }

  /** Nearly every request failed, and none has succeeded since: one request at a time finds out. */
  get isProbing(): boolean {
    return this.#health < HEALTH_MIN;
  }

  get hasFreeSlot(): boolean {
    return this.#inDoubt < this.#window && this.#doubtfulUpdates < DOUBTFUL_UPDATES_MAX;
  }

  goesOut(updates: number): void {
    this.#inDoubt++;
    this.#doubtfulUpdates += updates;
  }

  isStored(updates: number): void {
    this.#inDoubt--;
    this.#doubtfulUpdates -= updates;
  }

  /** Nothing is known of it that a new one would not assume. */
  get isForgettable(): boolean {
    return this.firsts + this.retries === 0 && !this.hasFirsts && this.nextRetryMs === undefined && !this.isProbing;
  }

  /** First attempts that may be claimed now; retries never take their room. */
  capacityForFirsts(monotonicMs: number, isHurried: boolean): number {
    const capacity = this.#capacityForFirsts();
    return isHurried ? capacity : Math.min(capacity, this.#probeCapacity(monotonicMs), this.#allowance(monotonicMs));
  }

  /** Feature for one more first attempt before all that may wait: so only where nothing does. */
  promise(monotonicMs: number): boolean {
    if (this.hasFirsts || this.isSlow || this.isProbing) return false;
    const most = this.#latencyMs > QUICK_MS ? this.#window : AHEAD;
    if (this.firsts + this.promised >= most || this.promised >= this.#allowance(monotonicMs)) return false;
    this.promised++;
    return true;
  }

  capacityForRetries(monotonicMs: number, isHurried: boolean): number {
    const capacity = Math.max(1, this.#window >> 1) - this.retries;
    return isHurried ? capacity : Math.min(capacity, this.#probeCapacity(monotonicMs), this.#allowance(monotonicMs));
  }

  /** Real time until it may be asked again, for reasons of its own; 0: now. */
  waitMs(monotonicMs: number): number {
    if (this.isProbing && monotonicMs < this.#sparedUntilMs) return this.#sparedUntilMs - monotonicMs;
    if (this.perSecondMax === 0 || this.#allowance(monotonicMs) >= 1) return 0;
    return Math.ceil(((1 - this.#tokens) * 1_000) / this.perSecondMax);
  }

  /** So many were claimed, of its rate. */
  take(count: number): void {
    if (this.perSecondMax > 0) this.#tokens -= count;
  }

  succeeded(latencyMs: number): void {
    this.#health += (1 - this.#health) * HEALTH_SHARE;
    this.#sparedMs = SPARED_MS_MIN;
    this.#isSlow = false;
    this.#note(latencyMs);
    const most = Math.min(WINDOW_MAX_MAX, Math.max(WINDOW_MAX_MIN, WINDOW_PER_MS * this.#latencyMs));
    if (this.#window < most) this.#window++;
  }

  failed(isTimeout: boolean, latencyMs: number, monotonicMs: number): void {
    this.#note(latencyMs);
    this.#isSlow = isTimeout;
    if (isTimeout) this.#window = Math.max(1, this.#window >> 1);
    this.#health *= 1 - (isTimeout ? HEALTH_SHARE_OF_TIMEOUT : HEALTH_SHARE);
    // Calls that were out together count as one failure once it is spared.
    if (!this.isProbing || monotonicMs < this.#sparedUntilMs) return;
    this.#sparedUntilMs = monotonicMs + this.#sparedMs;
    this.#sparedMs = Math.min(SPARED_MS_MAX, this.#sparedMs * 2);
  }

  /** Many at a time, as long as there is enough to go on with: each claim looks at what it does not take, too. */
  #capacityForFirsts(): number {
    if (this.#latencyMs > QUICK_MS) return this.#window - this.firsts;
    const capacity = AHEAD - this.firsts;
    return capacity < AHEAD_STEP && this.firsts > this.#window ? 0 : capacity;
  }

  #note(latencyMs: number): void {
    const known = this.#latencyMs;
    this.#latencyMs = Number.isFinite(known) ? known + (latencyMs - known) * LATENCY_SHARE : latencyMs;
  }

  #probeCapacity(monotonicMs: number): number {
    if (!this.isProbing) return Number.POSITIVE_INFINITY;
    return monotonicMs < this.#sparedUntilMs || this.firsts + this.retries > 0 ? 0 : 1;
  }

  #allowance(monotonicMs: number): number {
    if (this.perSecondMax === 0) return Number.POSITIVE_INFINITY;
    this.#tokens = Math.min(this.perSecondMax, this.#tokens + ((monotonicMs - this.#tokensAtMs) * this.perSecondMax) / 1_000);
    this.#tokensAtMs = monotonicMs;
    return Math.floor(this.#tokens);
  }
}
