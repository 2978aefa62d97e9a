/**
 * The loop of a world, with one timer. In each turn it asks a source for work that is due on the world's clock. Between turns the loop sleeps until
 * the next due time or a call of `wake`.
 *
 * **Invariant:** nothing runs in the background before `start` and after `stop`; `runDue` works at any time.
 */
import type { Clock } from "#kernel/clock";
import { within } from "#kernel/turns";
import type { Database, Reader, Transaction } from "#storage/database";
import { BEAT_MS, WorkSession } from "./work-session.ts";
import type { TurnEnd, WorkSource } from "./work-source.ts";

/** Interval at which a process looks for work of other processes on a shared database. */
const POLL_MS = 1_000;
/** The interval at which a sleeping loop checks a clock that makes nothing due because it is frozen: another process may move it. */
const LOOK_MS = 1_000;
/** The longest time for which the timer is set. For a later due time the timer is set several times. */
const SLEEP_MS_MAX = 60_000;
/** The wait after a failed turn, for example because the database cannot be reached. */
const FAILED_MS = 1_000;
/** The number of turns after which `runDue` gives up: work that always makes new work due at once is a programmer's mistake. */
const PASSES_MAX = 10_000;
/** The time after which callers of `runDue` no longer wait. While new events keep arriving, work is always due; the loop continues with it. */
const RUN_DUE_MS_MAX = 60_000;
/**
 * The time that running work gets at the end. Requests to receivers take 15 s at most (D-62), and the program ends within 10 s
 * (docs/operating/start.md).
 */
const STOP_MS_MAX = 8_000;
/** The time in which running work may end when a world is abandoned. The time is short, because a receiver on the same machine responds sooner. */
const ABANDON_MS_MAX = 100;

interface WorkLoopOptions {
  readonly database: Database;
  readonly clock: Clock;
  /** Reads world time by the stored clock, for databases that other processes share; left out if no other process can set the clock. */
  readonly storedNowMs?: (reader: Reader) => Promise<number>;
  readonly realNowMs: () => number;
  /** Called when a turn failed; the loop tries again. */
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

  /** Takes over the work of ended processes, and begins to work. */
  start(): void {
    if (this.#state !== "idle") return;
    this.#state = "started";
    void this.#beat().then(() => {
      for (const runner of this.#runners) this.#wake(runner);
      this.#arm();
    });
  }

  /** Gives the source a turn, because new work is due or the clock was moved. If `source` is undefined, all sources of work get a turn. */
  wake(source?: WorkSource): void {
    for (const runner of this.#runners) if (source === undefined || runner.source === source) this.#wake(runner);
  }

  /** Wakes the source after `ms` of real time, for waits that do not follow the world's clock, such as rate limits. */
  wakeIn(source: WorkSource, ms: number): void {
    const runner = this.#runners.find((one) => one.source === source);
    const atMs = performance.now() + ms;
    if (runner === undefined || runner.wakeAtMs <= atMs) return;
    runner.wakeAtMs = atMs;
    this.#arm();
  }

  /**
   * Resolves with true when all work that is due on the world's clock has happened, including work that became due by it, and jobs that other
   * processes run if they end soon. Resolves with false if new work kept coming; the loop goes on with it. Rejects if the database cannot be reached.
   */
  async runDue(): Promise<boolean> {
    await this.session.takeOver((tx, fence) => this.#release(tx, fence));
    const endMs = performance.now() + RUN_DUE_MS_MAX;
    const others = new OthersWork(this.#runners.map(({ source }) => source));
    for (let pass = 0; pass < PASSES_MAX; pass++) {
      let didWork = false;
      // The lease is renewed here, because work claimed under an expired lease would be given back and claimed again without end.
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
      // A source may have been woken during its own turn.
      this.wake();
      return !(didWork && isLate);
    }
    throw new Error(`work keeps becoming due after ${PASSES_MAX} turns`);
  }

  /**
   * Moves the clock to `targetMs` and stops at each due time on the way, so that all work happens at its time, for example a retry and the retry
   * after it. `moveClock` sets the world's time. `isEnough` is asked at each stop, and ends the move if it returns true.
   */
  async runUntil(targetMs: number, moveClock: (worldMs: number) => Promise<void>, isEnough = () => false): Promise<void> {
    for (;;) {
      const isDone = await this.runDue();
      const nowMs = this.#options.clock.nowMs();
      if (isEnough() || (isDone && nowMs >= targetMs)) return;
      if (!isDone) continue;
      // Work that is due and cannot run yet, for example because of a rate limit, does not hold up the clock.
      const due = this.#runners.map(({ nextDueMs = targetMs }) => nextDueMs).filter((ms) => ms > nowMs);
      await moveClock(Math.min(targetMs, ...due));
    }
  }

  /** Starts no new work, waits some seconds for running work, and leaves the rest to the next process. */
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
      // A last turn stores the results.
      await Promise.all(this.#runners.map((runner) => runner.running ?? this.#turn(runner, "last")));
      await this.session.end((tx, fence) => this.#release(tx, fence));
    } catch (error) {
      // The lease expires by itself if the database cannot be reached.
      this.#options.onError(error);
    }
  }

  /** Ends the loop without storing anything more, because nobody will read it. Work that has nearly ended gets a moment. */
  async abandon(): Promise<void> {
    this.#state = "stopped";
    this.#isAbandoned = true;
    clearTimeout(this.#timer);
    const ended = Promise.all(this.#runners.map(({ running, source }) => running?.catch(() => {}) ?? source.settled()));
    await within(ended, ABANDON_MS_MAX);
  }

  /** While no work runs or is due: the world time at which the next work is due, if any is known. Undefined while work runs or is due. */
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
      // After a failed turn no other part may request the next turn, so the loop requests it.
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

  /** Sets the timer to the earliest of: the next due time, the next heartbeat, the next check of a shared database. */
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
    // The timer does not keep the program running.
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
    // Nothing was due, because the clock is frozen or was set back. A next turn at once would be a busy loop.
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

  /** Reports a failure. An abandoned loop reports nothing, because it has no database any more. */
  readonly #failed = (error: unknown): void => (this.#isAbandoned ? undefined : this.#options.onError(error));
}

/** A source of work and its state between turns. */
interface Runner {
  readonly source: WorkSource;
  running: Promise<TurnEnd> | undefined;
  /** Whether another turn was requested while a turn ran. */
  isWoken: boolean;
  nextDueMs: number | undefined;
  /** Monotonic time of the source's next turn. */
  wakeAtMs: number;
  /** Monotonic time before which the source has no turn, after a failure. */
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

/** The interval at which the loop looks for due work of other processes. */
const OTHERS_LOOK_MS = 5;
/** The longest time for which one call of `runDue` waits: most jobs take a few ms, and nobody waits for a job that fetches a file or hangs. */
const WAIT_MS_MAX = 2_000;

export class OthersWork {
  readonly #sources: readonly WorkSource[];
  readonly #endMs = performance.now() + WAIT_MS_MAX;

  constructor(sources: readonly WorkSource[]) {
    this.#sources = sources;
  }

  /**
   * Waits for a moment if work is due that other processes run or have not claimed yet. Returns whether there was such work. `nowMs` is world time.
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
