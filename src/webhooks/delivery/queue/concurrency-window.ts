/**
 * How many requests one receiver may have out at once: the window grows by one with each success and is halved by a timeout,
 * between limits that follow from how quickly the receiver responds.
 */
const SIZE_START = 4;
/**
 * At most four requests for each millisecond that the receiver takes: a quick one and one far away both get some thousand
 * requests a second, and little is in doubt when the process is killed.
 */
const SIZE_MAX_MIN = 16;
const SIZE_MAX_MAX = 128;
const SIZE_PER_MS = 4;
/** No further POST while this number of events is in doubt; it matters when POSTs hold many events. */
const UPDATES_IN_DOUBT_MAX = 256;
/** The next deliveries of a receiver that responds in this time are claimed before the current ones have ended. */
const QUICK_MS = 50;
/** They cover the time of a commit, */
const CLAIMED_AHEAD = 256;
/** The least number that such a claim takes, because each claim also looks at deliveries that it does not take. */
const CLAIMED_AT_ONCE_MIN = 64;
/** Each new latency counts for a fifth of the average. */
const LATENCY_SHARE = 0.2;

export class ConcurrencyWindow {
  #size = SIZE_START;
  /** Requests that are out, or whose result is not stored: a killed process would have them sent twice. */
  #requestsInDoubt = 0;
  /** The events in them. */
  #updatesInDoubt = 0;
  /** Unknown until the first response. */
  #latencyMs: number | undefined;
  #isSlow = false;

  /** The last request timed out. Such receivers share a small part of the capacity of the process. */
  get isSlow(): boolean {
    return this.#isSlow;
  }

  get hasFreeSlot(): boolean {
    return this.#requestsInDoubt < this.#size && this.#updatesInDoubt < UPDATES_IN_DOUBT_MAX;
  }

  /** First attempts that may be held: out, or claimed and waiting for a slot. */
  get heldMax(): number {
    return this.#isQuick ? CLAIMED_AHEAD : this.#size;
  }

  get retriesMax(): number {
    return Math.max(1, this.#size >> 1);
  }

  /** First attempts to claim where `held` are held already. */
  claimable(held: number): number {
    const count = this.heldMax - held;
    return this.#isQuick && count < CLAIMED_AT_ONCE_MIN && held > this.#size ? 0 : count;
  }

  sent(updates: number): void {
    this.#requestsInDoubt++;
    this.#updatesInDoubt += updates;
  }

  /** The result of a request is stored, which frees its slot. */
  stored(updates: number): void {
    this.#requestsInDoubt--;
    this.#updatesInDoubt -= updates;
  }

  succeeded(latencyMs: number): void {
    this.#isSlow = false;
    const averageMs = this.#average(latencyMs);
    const most = Math.min(SIZE_MAX_MAX, Math.max(SIZE_MAX_MIN, SIZE_PER_MS * averageMs));
    if (this.#size < most) this.#size++;
  }

  failed(latencyMs: number): void {
    this.#isSlow = false;
    this.#average(latencyMs);
  }

  timedOut(latencyMs: number): void {
    this.#isSlow = true;
    this.#average(latencyMs);
    this.#size = Math.max(1, this.#size >> 1);
  }

  get #isQuick(): boolean {
    return this.#latencyMs !== undefined && this.#latencyMs <= QUICK_MS;
  }

  #average(latencyMs: number): number {
    const known = this.#latencyMs;
    this.#latencyMs = known === undefined ? latencyMs : known + (latencyMs - known) * LATENCY_SHARE;
    return this.#latencyMs;
  }
}
