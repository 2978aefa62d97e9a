/**
 * The number of requests per second in the last ten minutes, and how many of the requests were refused or failed. Since this page connected,
 * the numbers come from the stream of requests; the earlier numbers come from the request log. For a time without data the rate is unknown,
 * not zero. All times are from this machine's clock, because the world's clock may be stopped.
 */
const STEP_MS = 5_000;
const SPAN_MS = 600_000;
const STEPS = SPAN_MS / STEP_MS;
const NOW_MS = 3_000;
/** If the first event after a reconnection comes within this time, the event's counts include missed requests, so the counts are not added. */
const CATCHING_UP_MS = 500;

export interface Counts {
  readonly seen: number;
  readonly refused: number;
  readonly failed: number;
}

export interface RateHistory {
  /** The seconds from each step to the end of the last whole step, which has the value 0. */
  readonly times: readonly number[];
  /** Requests per second in each step; null if this page was not connected then. */
  readonly all: readonly (number | null)[];
  readonly refused: readonly (number | null)[];
  readonly failed: readonly (number | null)[];
  readonly sums: Counts;
}

const NONE: Counts = { seen: 0, refused: 0, failed: 0 };

const added = (one: Counts, other: Counts): Counts => ({
  ...{ seen: one.seen + other.seen, refused: one.refused + other.refused, failed: one.failed + other.failed },
});

const countsOf = (status: number): Counts => ({ seen: 1, refused: status >= 400 && status < 500 ? 1 : 0, failed: status >= 500 ? 1 : 0 });

export class Rates {
  /** The counts of requests in each step of time, by the step's number. */
  readonly #steps = new Map<number, Counts>();
  #connected: { fromMs: number; toMs: number | undefined }[] = [];
  #recent: { readonly atMs: number; readonly count: number }[] = [];
  #sinceMs = 0;
  #isBack = false;

  connect(nowMs: number): void {
    const last = this.#connected.at(-1);
    if (last !== undefined && last.toMs === undefined) return;
    this.#sinceMs = nowMs;
    this.#isBack = last?.toMs !== undefined && nowMs - last.toMs > STEP_MS;
    if (last === undefined || this.#isBack) this.#connected.push({ fromMs: nowMs, toMs: undefined });
    else last.toMs = undefined;
    this.#connected = this.#connected.filter(({ toMs = nowMs }) => toMs > nowMs - SPAN_MS - STEP_MS);
  }

  disconnect(nowMs: number): void {
    const last = this.#connected.at(-1);
    if (last !== undefined) last.toMs ??= nowMs;
  }

  add(nowMs: number, counts: Counts): void {
    const isMissed = this.#isBack && nowMs - this.#sinceMs < CATCHING_UP_MS;
    this.#isBack = false;
    if (isMissed) return;
    this.#count(nowMs, counts);
    this.#recent.push({ atMs: nowMs, count: counts.seen });
  }

  /** Adds requests from the log that were made before this page connected. */
  addEarlier(entries: readonly { readonly atMs: number; readonly status: number }[]): void {
    const [first] = this.#connected;
    if (first === undefined) return;
    const until = first.fromMs;
    for (const { atMs, status } of entries) {
      if (atMs >= until) continue;
      this.#count(atMs, countsOf(status));
      first.fromMs = Math.min(first.fromMs, atMs);
    }
  }

  #count(atMs: number, counts: Counts): void {
    const step = Math.floor(atMs / STEP_MS);
    this.#steps.set(step, added(this.#steps.get(step) ?? NONE, counts));
  }

  clear(): void {
    this.#steps.clear();
    this.#connected = [];
    this.#recent = [];
    this.#isBack = false;
  }

  /** The requests per second in the last three seconds. */
  perSecond(nowMs: number): number {
    this.#recent = this.#recent.filter(({ atMs }) => atMs >= nowMs - NOW_MS);
    return this.#recent.reduce((sum, { count }) => sum + count, 0) / (NOW_MS / 1_000);
  }

  history(nowMs: number): RateHistory {
    const end = Math.floor(nowMs / STEP_MS);
    for (const step of this.#steps.keys()) if (step < end - STEPS) this.#steps.delete(step);
    const steps = Array.from({ length: STEPS }, (_, at) => end - STEPS + at);
    const isKnown = (step: number): boolean =>
      this.#connected.some(({ fromMs, toMs = nowMs }) => fromMs < (step + 1) * STEP_MS && toMs >= (step + 1) * STEP_MS);
    const valuesOf = (of: (counts: Counts) => number) =>
      steps.map((step) => (isKnown(step) ? of(this.#steps.get(step) ?? NONE) / (STEP_MS / 1_000) : null));
    return {
      times: steps.map((step) => ((step + 1 - end) * STEP_MS) / 1_000),
      ...{ all: valuesOf(({ seen }) => seen), refused: valuesOf(({ refused }) => refused), failed: valuesOf(({ failed }) => failed) },
      sums: [...this.#steps.values()].reduce(added, NONE),
    };
  }
}
