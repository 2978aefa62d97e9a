/**
 * Closes worlds that are not used, and opens them when they have work. Idle worlds have no timers of their own. One timer looks for worlds that are
 * not used while any world is open, and another timer opens the world that has work next.
 */

/**
 * The time between two looks for worlds that are not used. The pauses of a suite of tests are shorter, and a closed world opens again in some
 * milliseconds.
 */
const LOOK_EVERY_MS = 60_000;
/** The longest wait of the second timer. Timers of the runtime can wait up to 24 days. */
const SLEEP_MS_MAX = 3_600_000;

export interface IdleWorldsOptions {
  realNowMs(): number;
  /** Closes the worlds that were not used since the last call. Returns whether any world is open now. */
  look(): Promise<boolean>;
  /** Called when a world has work. */
  wake(name: string): void;
  onError(error: unknown): void;
}

export class IdleWorlds {
  readonly #options: IdleWorldsOptions;
  readonly #wakeTimes = new Map<string, number>();
  #looking: ReturnType<typeof setTimeout> | undefined;
  #waking: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  constructor(options: IdleWorldsOptions) {
    this.#options = options;
  }

  /** Call this when a world is open. */
  opened(name: string): void {
    this.#wakeTimes.delete(name);
    if (this.#looking !== undefined || this.#isStopped) return;
    // The look needs a timer, because nothing happens while no world is used. The timer does not keep the program running.
    this.#looking = setTimeout(() => this.#look(), LOOK_EVERY_MS);
    this.#looking.unref();
  }

  /** Records that the world is idle until `wakeMs` in real time, when it has work. */
  idleUntil(name: string, wakeMs: number): void {
    this.#wakeTimes.set(name, wakeMs);
    this.#arm();
  }

  forget(name: string): void {
    this.#wakeTimes.delete(name);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#looking);
    clearTimeout(this.#waking);
  }

  #look(): void {
    this.#looking = undefined;
    this.#options.look().then(
      (isAnyOpen) => {
        if (isAnyOpen) this.opened("");
      },
      (error: unknown) => {
        this.#options.onError(error);
        this.opened("");
      },
    );
  }

  #arm(): void {
    clearTimeout(this.#waking);
    if (this.#wakeTimes.size === 0 || this.#isStopped) return;
    const delayMs = Math.min(...this.#wakeTimes.values()) - this.#options.realNowMs();
    // There is one timer for all idle worlds.
    this.#waking = setTimeout(() => this.#wakeDue(), Math.min(SLEEP_MS_MAX, Math.max(1, delayMs)));
    this.#waking.unref();
  }

  #wakeDue(): void {
    const nowMs = this.#options.realNowMs();
    for (const [name, wakeMs] of this.#wakeTimes) {
      if (wakeMs > nowMs) continue;
      this.#wakeTimes.delete(name);
      this.#options.wake(name);
    }
    this.#arm();
  }
}
