/** Stops the real time until a test moves it: the machine's monotonic clock and its timers. */
import { spyOn } from "bun:test";
import { afterThisTest } from "#harness/cleanup";

export interface CaughtTimer {
  readonly ms: number;
  readonly fire: () => void;
  isUnreffed: boolean;
  isCleared: boolean;
  unref(): void;
}

export interface CaughtTimers {
  readonly intervals: CaughtTimer[];
  readonly timeouts: CaughtTimer[];
}

/**
 * The driver of PostgreSQL, whose timers keep running. The driver has timers because it limits the time of each statement, and its connections
 * outlast a test.
 */
const DRIVER = "/node_modules/pg/";
/** The real functions of time, before any test replaces them. */
const { setTimeout, clearTimeout, setInterval } = globalThis;

/**
 * Until the end of the test, no timer runs by itself, except those of PostgreSQL's driver. If `source` is given, only the timers that this source
 * file sets are stopped, because a server of an earlier test may set timers meanwhile.
 */
export function catchTimers(source = ""): CaughtTimers {
  const caught: CaughtTimers = { intervals: [], timeouts: [] };
  const into = (timers: CaughtTimer[], run: typeof setTimeout | typeof setInterval) => (fire: () => void, ms: number) => {
    const stack = new Error().stack ?? "";
    if (stack.includes(DRIVER) || !stack.includes(source)) return run(fire, ms);
    const timer: CaughtTimer = {
      ...{ ms, fire, isUnreffed: false, isCleared: false },
      unref() {
        timer.isUnreffed = true;
      },
    };
    timers.push(timer);
    return timer;
  };
  const clear = (timer: CaughtTimer | ReturnType<typeof setTimeout> | undefined): void => {
    if (timer !== undefined && "isCleared" in timer) timer.isCleared = true;
    else clearTimeout(timer);
  };
  const spies = [
    spyOn(globalThis, "setInterval").mockImplementation(into(caught.intervals, setInterval) as never),
    spyOn(globalThis, "setTimeout").mockImplementation(into(caught.timeouts, setTimeout) as never),
    spyOn(globalThis, "clearInterval").mockImplementation(clear as never),
    spyOn(globalThis, "clearTimeout").mockImplementation(clear as never),
  ];
  afterThisTest(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return caught;
}

/** Until the end of the test, `performance.now()` returns the time that the test sets. */
export function stopMonotonicClock(ms: number): { ms: number } {
  const clock = { ms };
  const spy = spyOn(performance, "now").mockImplementation(() => clock.ms);
  afterThisTest(() => spy.mockRestore());
  return clock;
}
