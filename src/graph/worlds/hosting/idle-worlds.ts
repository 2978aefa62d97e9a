/**
 * Closes worlds that are not used, and opens worlds again when they have work. Idle worlds do not have timers of their own. While any world is open,
 * one timer looks for unused worlds. Another timer opens the idle world that has work next.
 */

/**
 * The time between two searches for unused worlds. A test suite rarely pauses longer than this time, and a closed world opens again in some
 * milliseconds.
 */
const LOOK_EVERY_MS = 60_000;
/** The longest time for which the timer that opens idle worlds is set. The runtime supports timers of at most 24 days. */
const SLEEP_MS_MAX = 3_600_000;

export interface IdleWorldsOptions {
  realNowMs(): number;
  /** Closes the worlds that were not used since the last call of this function. Returns whether any world is open now. */
  look(): Promise<boolean>;
  /** Opens the world; called when work of the world is due. */
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

  /** Records that a world has been opened. */
  opened(name: string): void {
    this.#wakeTimes.delete(name);
    if (this.#looking !== undefined || this.#isStopped) return;
    // The search for unused worlds needs a timer, because an unused world causes no events. The timer does not keep the program running.
    this.#looking = setTimeout(() => this.#look(), LOOK_EVERY_MS);
    this.#looking.unref();
  }

  /** Records that the world is idle. The next work of the idle world is due at `wakeMs`, in real time. */
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
    // One timer is enough to wake all idle worlds.
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
