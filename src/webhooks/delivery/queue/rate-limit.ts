/** Deliveries a second to one callback (`--deliveries-per-second`): a bucket of tokens that holds those of one second. */
export class RateLimit {
  readonly #perSecondMax: number;
  #tokens: number;
  #filledAtMs = 0;

  /** 0: no limit. */
  constructor(perSecondMax: number) {
    this.#perSecondMax = perSecondMax;
    this.#tokens = perSecondMax;
  }

  /** How many deliveries may be claimed now. */
  available(monotonicMs: number): number {
    const rate = this.#perSecondMax;
    if (rate === 0) return Number.POSITIVE_INFINITY;
    this.#tokens = Math.min(rate, this.#tokens + ((monotonicMs - this.#filledAtMs) * rate) / 1_000);
    this.#filledAtMs = monotonicMs;
    return Math.floor(this.#tokens);
  }

  /** Below zero where deliveries are claimed in spite of the limit, because somebody waits for all that is due. */
  take(): void {
    if (this.#perSecondMax > 0) this.#tokens--;
  }

  /** Until one more may be claimed. */
  waitMs(monotonicMs: number): number {
    if (this.available(monotonicMs) >= 1) return 0;
    return Math.ceil(((1 - this.#tokens) * 1_000) / this.#perSecondMax);
  }
}
