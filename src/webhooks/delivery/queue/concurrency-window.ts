/**
 * The number of requests that one receiver may have at once. The concurrency window grows by one with each success and is halved by a timeout,
 * between limits that follow from the time in which the receiver responds.
 */
const SIZE_START = 4;
/**
 * The upper limit of the concurrency window is four requests for each millisecond of the receiver's latency, but at least 16 and at most 128. With
 * this limit, a quick receiver and a distant receiver both get some thousand requests a second. The limit also keeps the number of requests small
 * that are in doubt if the process is killed: sent, but without a stored result.
 */
const SIZE_MAX_MIN = 16;
const SIZE_MAX_MAX = 128;
const SIZE_PER_MS = 4;
/**
 * The number of events in doubt (sent, but without a stored result) at which no further POST is sent. The limit of events in doubt matters only if
 * POSTs contain many events.
 */
const UPDATES_IN_DOUBT_MAX = 256;
/**
 * The latency up to which a receiver counts as quick. The next deliveries to a quick receiver are claimed before the current deliveries have ended.
 */
const QUICK_MS = 50;
/** The number of first attempts that the queue of a quick receiver may claim ahead, so that the queue can go on sending during a commit. */
const CLAIMED_AHEAD = 256;
/** The least number of deliveries that a claim ahead takes. Smaller claims would be wasteful, because each claim reads more rows than it claims. */
const CLAIMED_AT_ONCE_MIN = 64;
/** The weight of a new latency in the running average of a receiver's latency: a fifth. */
const LATENCY_SHARE = 0.2;

export class ConcurrencyWindow {
  #size = SIZE_START;
  /** The number of requests that are under way, or whose result is not stored. If the process were killed now, these requests would be sent twice. */
  #requestsInDoubt = 0;
  /** The number of events in the requests that were sent and whose results are not stored. */
  #updatesInDoubt = 0;
  /** The average latency of the receiver; undefined until its first response. */
  #latencyMs: number | undefined;
  #isSlow = false;

  /** Whether the last request timed out. All receivers that time out together may use only a small part of the capacity of the process. */
  get isSlow(): boolean {
    return this.#isSlow;
  }

  get hasFreeSlot(): boolean {
    return this.#requestsInDoubt < this.#size && this.#updatesInDoubt < UPDATES_IN_DOUBT_MAX;
  }

  /** The number of first attempts that the queue may hold: attempts under way, and claimed deliveries that wait for a slot of the window. */
  get heldMax(): number {
    return this.#isQuick ? CLAIMED_AHEAD : this.#size;
  }

  get retriesMax(): number {
    return Math.max(1, this.#size >> 1);
  }

  /** Returns the number of first attempts that the queue may claim if it already holds `held` first attempts. */
  claimable(held: number): number {
    const count = this.heldMax - held;
    return this.#isQuick && count < CLAIMED_AT_ONCE_MIN && held > this.#size ? 0 : count;
  }

  sent(updates: number): void {
    this.#requestsInDoubt++;
    this.#updatesInDoubt += updates;
  }

  /** Frees the slot of a request after its result was stored. */
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
