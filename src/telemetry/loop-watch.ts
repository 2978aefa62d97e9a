/**
 * Finds the work that blocks the event loop, so that an operator knows what to limit. Code calls `begin` with the name of its work before each step
 * that may take long; a step lasts until the next step begins, or until the turn of the event loop ends.
 */

/** The shortest blocking time that is reported. A shorter blocking time delays other requests less than a slow network does. */
const HOLD_MS_MIN = 50;
/**
 * If a step takes at least this long, the CPU time is read at its end, so that the CPU time of this step does not count for later steps of the same
 * turn.
 */
const READ_CPU_MS_MIN = 10;
/** The maximum number of names of work that are counted separately: more than there are operations and types of jobs. */
const NAMES_MAX = 500;
const OTHER_WORK = "other work";
/**
 * The interval at which the lag of the event loop is measured. A timer that wakes an idle process four times a second takes no measurable CPU time.
 */
const SAMPLE_MS = 250;
/** The maximum number of stored measurements of the lag: those of the last five minutes. */
const SAMPLES_MAX = 1_200;

export interface Hold {
  readonly work: string;
  /** The id of the delivery, job or upload for which the work was done. */
  readonly id: string | undefined;
  readonly ms: number;
}

export interface HoldsOfWork {
  readonly work: string;
  readonly count: number;
  readonly longestMs: number;
}

/** The metrics of the event loop, as JSON. */
export interface LoopReport {
  /** The 99th percentile of the lag in the last five minutes: 99 of 100 timers were late by at most this time. */
  readonly lagP99Ms: number;
  readonly holds: readonly HoldsOfWork[];
}

export interface LoopWatchOptions {
  /** Returns the milliseconds of a monotonic clock. */
  nowMs(): number;
  /** Returns the CPU time of the thread that serves requests, in ms. */
  cpuMs(): number;
  /** Calls `run` when the current turn of the loop has ended. */
  afterTurn(run: () => void): void;
  onHold(hold: Hold): void;
}

export class LoopWatch {
  readonly #options: LoopWatchOptions;
  readonly #holds = new Map<string, { count: number; longestMs: number }>();
  readonly #lagsMs: number[] = [];
  /** The name of the current work in this turn of the loop; undefined if no work has called `begin` in this turn. */
  #work: string | undefined;
  #id: string | undefined;
  #beganMs = 0;
  /** The CPU time when the turn began, or when its last long step ended. */
  #cpuMs = 0;
  #sampleDueMs = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(options: LoopWatchOptions) {
    this.#options = options;
  }

  /** Starts the measurements. The timer of the measurements does not keep the process running. */
  start(): void {
    this.#sampleDueMs = this.#options.nowMs() + SAMPLE_MS;
    // timer: the measurement is how late the timer calls the method.
    this.#timer = setInterval(() => this.sample(), SAMPLE_MS);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  readonly begin = (work: string, id?: string): void => {
    const now = this.#options.nowMs();
    if (this.#work === undefined) {
      this.#options.afterTurn(this.#endTurn);
      this.#cpuMs = this.#options.cpuMs();
    } else this.#endPart(now);
    this.#work = work;
    this.#id = id;
    this.#beganMs = now;
  };

  /** Records how late the timer called this method. */
  sample(): void {
    const now = this.#options.nowMs();
    this.#lagsMs.push(Math.max(0, now - this.#sampleDueMs));
    if (this.#lagsMs.length > SAMPLES_MAX) this.#lagsMs.shift();
    this.#sampleDueMs = now + SAMPLE_MS;
  }

  report(): LoopReport {
    const lagsMs = this.#lagsMs.toSorted((a, b) => a - b);
    return {
      lagP99Ms: lagsMs[Math.ceil(lagsMs.length * 0.99) - 1] ?? 0,
      holds: [...this.#holds].map(([work, { count, longestMs }]) => ({ work, count, longestMs })),
    };
  }

  readonly #endTurn = (): void => {
    this.#endPart(this.#options.nowMs());
    this.#work = undefined;
  };

  #endPart(now: number): void {
    const passedMs = now - this.#beganMs;
    if (passedMs < READ_CPU_MS_MIN) return;
    const cpuMs = this.#options.cpuMs();
    // On a busy machine, a process may get no CPU time for a while. A delay for this reason is not caused by the process's own work.
    const ms = Math.min(passedMs, cpuMs - this.#cpuMs);
    this.#cpuMs = cpuMs;
    if (ms < HOLD_MS_MIN || this.#work === undefined) return;
    const work = this.#holds.has(this.#work) || this.#holds.size < NAMES_MAX ? this.#work : OTHER_WORK;
    const { count, longestMs } = this.#holds.get(work) ?? { count: 0, longestMs: 0 };
    this.#holds.set(work, { count: count + 1, longestMs: Math.max(longestMs, ms) });
    this.#options.onHold({ work: this.#work, id: this.#id, ms });
  }
}
