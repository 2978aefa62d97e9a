/**
 * The work loop of a world, which has one timer. In each turn the work loop asks a source for work that is due on the world's clock. Between turns
 * the work loop sleeps until the next due time or a call of `wake`.
 *
 * **Invariant:** the work loop runs nothing in the background before `start` and after `stop`; `runDue` works at any time.
 */
import type { Clock } from "#kernel/clock";
import { within } from "#kernel/turns";
import type { Database, Reader, Transaction } from "#storage/database";
import { BEAT_MS, WorkSession } from "./work-session.ts";
import type { TurnEnd, WorkSource } from "./work-source.ts";

/** The interval at which a process looks for work that other processes have stored in a shared database. */
const POLL_MS = 1_000;
/** The interval at which a sleeping loop looks at a frozen clock, because another process may move the clock. */
const LOOK_MS = 1_000;
/** The longest time for which the loop sets its timer. If the next work is due later, the loop sets the timer several times. */
const SLEEP_MS_MAX = 60_000;
/** The delay before the next turn after a failed turn, for example while the database cannot be reached. */
const FAILED_MS = 1_000;
/**
 * The number of turns after which `runDue` gives up. Only work that always schedules new work for the same time needs more turns, and such work is a
 * mistake in the server's code.
 */
const PASSES_MAX = 10_000;
/**
 * The longest time for which a caller of `runDue` waits. If new events keep arriving, there is always work that is due; the loop continues with that
 * work after the caller has stopped waiting.
 */
const RUN_DUE_MS_MAX = 60_000;
/**
 * The time that running work has to end when the program stops. Requests to receivers take 15 s at most (D-62), and the program ends within 10 s
 * (docs/operating/start.md).
 */
const STOP_MS_MAX = 8_000;
/**
 * The time that running work has to end when a world is abandoned. The time limit is short, because a receiver on the same machine responds in a
 * short time.
 */
const ABANDON_MS_MAX = 100;

interface WorkLoopOptions {
  readonly database: Database;
  readonly clock: Clock;
  /** Reads the world time from the clock that is stored in a shared database. The function is absent if no other process can set the clock. */
  readonly storedNowMs?: (reader: Reader) => Promise<number>;
  readonly realNowMs: () => number;
  /** The loop calls this function when a turn failed, and then tries again. */
  onError(error: unknown): void;
}

type TurnKind = "usual" | "hurried" | "last";

export class WorkLoop {
  readonly session: WorkSession;
  readonly #options: WorkLoopOptions;
  readonly #runners: Runner[] = [];
  #state: "idle" | "started" | "stopped" = "idle";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;
  #beatAtMs = 0;
  #pollAtMs = 0;
  #isBeating = false;
  #isAbandoned = false;

  constructor(options: WorkLoopOptions) {
    this.#options = options;
    this.session = new WorkSession(options.database, options.realNowMs);
  }

  add(source: WorkSource): void {
    this.#runners.push(newRunner(source));
  }

  /** Takes over the work of processes that have ended, and starts the loop. */
  start(): void {
    if (this.#state !== "idle") return;
    this.#state = "started";
    void this.#beat().then(() => {
      for (const runner of this.#runners) this.#wake(runner);
      this.#arm();
    });
  }

  /** Gives the source a turn, because new work is due or the clock was moved. If `source` is undefined, all sources get a turn. */
  wake(source?: WorkSource): void {
    for (const runner of this.#runners) if (source === undefined || runner.source === source) this.#wake(runner);
  }

  /** Gives the source a turn after `ms` of real time. The method is for waits that do not depend on the world's clock, such as rate limits. */
  wakeIn(source: WorkSource, ms: number): void {
    const runner = this.#runners.find((one) => one.source === source);
    const atMs = performance.now() + ms;
    if (runner === undefined || runner.wakeAtMs <= atMs) return;
    runner.wakeAtMs = atMs;
    this.#arm();
  }

  /**
   * Runs all work that is due on the world's clock, including work that becomes due meanwhile, and waits a short time for due jobs of other
   * processes. The returned promise resolves with true when all due work is done, and with false if new work kept becoming due; the loop then
   * continues with that work. The returned promise rejects if the database cannot be reached.
   */
  async runDue(): Promise<boolean> {
    await this.session.takeOver((tx, fence) => this.#release(tx, fence));
    const endMs = performance.now() + RUN_DUE_MS_MAX;
    const others = new OthersWork(this.#runners.map(({ source }) => source));
    for (let pass = 0; pass < PASSES_MAX; pass++) {
      let didWork = false;
      // The loop renews the lease before it gives work back. Work that was claimed under an expired lease would be given back and claimed again
      // forever.
      if (this.session.needsBeat) await this.#beat();
      for (const runner of this.#runners) {
        while (runner.running !== undefined) await runner.running.catch(() => {});
        const end = await this.#turn(runner, "hurried");
        const hasWaited = await runner.source.settled();
        didWork ||= end.didWork || hasWaited;
      }
      const isLate = performance.now() >= endMs;
      if (didWork && !isLate) continue;
      if (this.session.isShared && (await others.wait(this.#options.clock.nowMs()))) continue;
      // A source may have been woken during its own turn, so every source gets another turn.
      this.wake();
      return !(didWork && isLate);
    }
    throw new Error(`work keeps becoming due after ${PASSES_MAX} turns`);
  }

  /**
   * Moves the clock to `targetMs` and stops at each due time on the way, so that all work happens at its time, for example a retry and the retry
   * after it. `moveClock` sets the world's time. The method calls `isEnough` at each due time; if `isEnough` returns true, the clock stays at that
   * time.
   */
  async runUntil(targetMs: number, moveClock: (worldMs: number) => Promise<void>, isEnough = () => false): Promise<void> {
    for (;;) {
      const isDone = await this.runDue();
      const nowMs = this.#options.clock.nowMs();
      if (isEnough() || (isDone && nowMs >= targetMs)) return;
      if (!isDone) continue;
      // The clock moves on even if some due work cannot run yet, for example because of a rate limit.
      const due = this.#runners.map(({ nextDueMs = targetMs }) => nextDueMs).filter((ms) => ms > nowMs);
      await moveClock(Math.min(targetMs, ...due));
    }
  }

  /** Stops starting new work, waits some seconds for running work, and leaves unfinished work to the next process. */
  async stop(): Promise<void> {
    if (this.#state === "stopped") return;
    this.#state = "stopped";
    clearTimeout(this.#timer);
    const ended = Promise.all(
      this.#runners.map(async (runner) => {
        await runner.running?.catch(() => {});
        await runner.source.settled();
      }),
    );
    await within(ended, STOP_MS_MAX);
    try {
      // The last turn of each source stores the results of its work.
      await Promise.all(this.#runners.map((runner) => runner.running ?? this.#turn(runner, "last")));
      await this.session.end((tx, fence) => this.#release(tx, fence));
    } catch (error) {
      // If the database cannot be reached, the lease of the session expires by itself.
      this.#options.onError(error);
    }
  }

  /**
   * Ends the loop without storing more results, because the world's data will be replaced or deleted. Running work gets a short time to end.
   */
  async abandon(): Promise<void> {
    this.#state = "stopped";
    this.#isAbandoned = true;
    clearTimeout(this.#timer);
    const ended = Promise.all(this.#runners.map(({ running, source }) => running?.catch(() => {}) ?? source.settled()));
    await within(ended, ABANDON_MS_MAX);
  }

  /**
   * Describes an idle loop: the world time at which the next work is due, if the loop knows one. The result is undefined if work is running or due.
   */
  get idle(): { readonly nextDueMs: number | undefined } | undefined {
    const nowMs = this.#options.clock.nowMs();
    let next: number | undefined;
    for (const { running, isWoken, source, nextDueMs } of this.#runners) {
      if (running !== undefined || isWoken || source.isBusy(nowMs) || (nextDueMs !== undefined && nextDueMs <= nowMs)) return undefined;
      next = next === undefined || (nextDueMs !== undefined && nextDueMs < next) ? nextDueMs : next;
    }
    return { nextDueMs: next };
  }

  get isStarted(): boolean {
    return this.#state === "started";
  }

  get isStopped(): boolean {
    return this.#state === "stopped";
  }

  async #release(tx: Transaction, fence: number): Promise<void> {
    for (const { source } of this.#runners) await source.release(tx, fence);
  }

  #wake(runner: Runner): void {
    if (runner.running !== undefined) {
      runner.isWoken = true;
      return;
    }
    if (this.#state === "started" && performance.now() >= runner.notBeforeMs) void this.#work(runner);
  }

  async #work(runner: Runner): Promise<void> {
    try {
      for (;;) {
        runner.isWoken = false;
        const { didWork } = await this.#turn(runner, "usual");
        if (this.#state !== "started" || runner.running !== undefined) return;
        if (!didWork && !runner.isWoken) break;
      }
    } catch (error) {
      runner.notBeforeMs = performance.now() + FAILED_MS;
      // After a failed turn no other code requests the next turn, so the loop requests it here.
      runner.wakeAtMs = Math.min(runner.wakeAtMs, runner.notBeforeMs);
      this.#failed(error);
    }
    this.#arm();
  }

  #turn(runner: Runner, kind: TurnKind): Promise<TurnEnd> {
    const turn = this.#ask(runner, kind);
    runner.running = turn;
    return turn;
  }

  async #ask(runner: Runner, kind: TurnKind): Promise<TurnEnd> {
    runner.wakeAtMs = Number.POSITIVE_INFINITY;
    const { clock, storedNowMs = async () => clock.nowMs() } = this.#options;
    try {
      // The stored work of another process can wake this loop before this process has read the new clock.
      if (clock.rereading !== undefined) await clock.rereading;
      const { session } = this;
      const end = await runner.source.turn({ nowMs: clock.nowMs(), storedNowMs, session, isHurried: kind === "hurried", isLast: kind === "last" });
      runner.nextDueMs = end.nextDueMs;
      return end;
    } finally {
      runner.running = undefined;
    }
  }

  /** Sets the timer to the earliest of three times: the next due time, the next renewal of the lease, and the next check of a shared database. */
  #arm(): void {
    if (this.#state !== "started") return;
    const monotonicMs = performance.now();
    const worldMs = this.#options.clock.nowMs();
    let delayMs = SLEEP_MS_MAX;
    for (const { running, nextDueMs, wakeAtMs, notBeforeMs } of this.#runners) {
      if (running !== undefined) continue;
      const nextMs = Math.min(wakeAtMs - monotonicMs, (nextDueMs ?? Number.POSITIVE_INFINITY) - worldMs);
      delayMs = Math.min(delayMs, Math.max(nextMs, notBeforeMs - monotonicMs, 1));
    }
    if (this.session.isShared) delayMs = Math.min(delayMs, Math.max(Math.min(this.#beatAtMs, this.#pollAtMs) - monotonicMs, 1));
    this.#sleep(monotonicMs + delayMs);
  }

  #sleep(atMs: number): void {
    if (atMs >= this.#timerAtMs) return;
    clearTimeout(this.#timer);
    this.#timerAtMs = atMs;
    this.#timer = setTimeout(() => this.#tick(), Math.max(0, Math.ceil(atMs - performance.now())));
    // The timer must not keep the program running.
    this.#timer.unref();
  }

  #tick(): void {
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    const monotonicMs = performance.now();
    const worldMs = this.#options.clock.nowMs();
    const isPoll = this.session.isShared && monotonicMs >= this.#pollAtMs;
    if (isPoll) this.#pollAtMs = monotonicMs + POLL_MS;
    if (this.session.isShared && monotonicMs >= this.#beatAtMs) void this.#beat();
    let hasDue = false;
    for (const runner of this.#runners) {
      const isDue = runner.wakeAtMs <= monotonicMs || (runner.nextDueMs !== undefined && runner.nextDueMs <= worldMs);
      if (!isPoll && !isDue) continue;
      hasDue = true;
      this.#wake(runner);
    }
    // No work was due, because the clock is frozen or was set back. The next turn comes later, because another turn at once would make a busy loop.
    if (hasDue) this.#arm();
    else this.#sleep(monotonicMs + LOOK_MS);
  }

  async #beat(): Promise<void> {
    if (this.#isBeating) return;
    this.#isBeating = true;
    this.#beatAtMs = performance.now() + BEAT_MS;
    try {
      await this.session.beat();
      if ((await this.session.takeOver((tx, fence) => this.#release(tx, fence))) > 0) this.wake();
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#isBeating = false;
    }
  }

  /** Reports a failure. An abandoned loop does not report failures, because its database is closed. */
  readonly #failed = (error: unknown): void => (this.#isAbandoned ? undefined : this.#options.onError(error));
}

/** A source of work, with the data that the loop keeps about the source between turns. */
interface Runner {
  readonly source: WorkSource;
  running: Promise<TurnEnd> | undefined;
  /** Whether another turn was requested while a turn of the source ran. */
  isWoken: boolean;
  nextDueMs: number | undefined;
  /** The monotonic time of the source's next turn. */
  wakeAtMs: number;
  /** The monotonic time before which the source gets no turn, because its last turn failed. */
  notBeforeMs: number;
}

const newRunner = (source: WorkSource): Runner => ({
  source,
  running: undefined,
  isWoken: false,
  nextDueMs: undefined,
  wakeAtMs: Number.POSITIVE_INFINITY,
  notBeforeMs: 0,
});

/** The interval at which `runDue` checks whether other processes still have due jobs. */
const OTHERS_LOOK_MS = 5;
/**
 * The longest time for which one call of `runDue` waits for other processes. Most jobs take a few ms, and the caller should not wait for a job that
 * fetches a file or hangs.
 */
const WAIT_MS_MAX = 2_000;

export class OthersWork {
  readonly #sources: readonly WorkSource[];
  readonly #endMs = performance.now() + WAIT_MS_MAX;

  constructor(sources: readonly WorkSource[]) {
    this.#sources = sources;
  }

  /**
   * Checks whether other processes run due work or have not claimed it yet. If other processes have due work, waits for a moment and returns true.
   * `nowMs` is world time.
   */
  async wait(nowMs: number): Promise<boolean> {
    if (performance.now() >= this.#endMs || !(await this.#hasDue(nowMs))) return false;
    await new Promise((resolve) => setTimeout(resolve, OTHERS_LOOK_MS));
    return true;
  }

  async #hasDue(nowMs: number): Promise<boolean> {
    return (await Promise.all(this.#sources.map((source) => source.hasDueAnywhere?.(nowMs)))).includes(true);
  }
}
