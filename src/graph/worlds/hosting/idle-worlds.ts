/**
 * Idle worlds are closed and have no timers. One timer looks for idle worlds while any is open, and another one opens the world that has work
 * next.
 */

/** A suite of tests pauses for less, and a world opens again in some milliseconds. */
const LOOK_EVERY_MS = 60_000;
/** Timers of the runtime can wait up to 24 days. */
const SLEEP_MS_MAX = 3_600_000;

export interface IdleWorldsOptions {
  realNowMs(): number;
  /** Closes the worlds that were not used since the last call. Returns whether any is open now. */
  look(): Promise<boolean>;
  /** The world has work. */
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

  /** A world is open. */
  opened(name: string): void {
    this.#wakeTimes.delete(name);
    if (this.#looking !== undefined || this.#isStopped) return;
    // A timer, because nothing else happens while no world is used. It does not keep the program running.
    this.#looking = setTimeout(() => this.#look(), LOOK_EVERY_MS);
    this.#looking.unref();
  }

  /** The world is idle until then, in real time. */
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
    // One timer for all idle worlds.
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
