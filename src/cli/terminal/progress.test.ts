/** Tests the progress line that a terminal shows during long work. */
import { beforeEach, expect, spyOn, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { written } from "#harness/cli/printed";
import { Progress } from "./progress.ts";

const CLEARED = "\r\u001b[K";

let nowMs = 0;
/** The function of the last timer, and its interval. */
let ticking: { tick: () => void; everyMs: number | undefined } | undefined;

/** Makes stderr a terminal with the given number of columns; the test itself moves the time. */
function terminal(columns = 120, isTTY = true) {
  for (const [name, value] of Object.entries({ isTTY, columns })) {
    const before = Object.getOwnPropertyDescriptor(process.stderr, name);
    Object.defineProperty(process.stderr, name, { value, configurable: true, writable: true });
    afterThisTest(() => {
      if (before === undefined) delete (process.stderr as unknown as Record<string, unknown>)[name];
      else Object.defineProperty(process.stderr, name, before);
    });
  }
  const clock = spyOn(performance, "now").mockImplementation(() => nowMs);
  const timers = spyOn(globalThis, "setInterval").mockImplementation(((tick: () => void, everyMs?: number) => {
    ticking = { tick, everyMs };
    return 1;
  }) as unknown as typeof setInterval);
  const cleared = spyOn(globalThis, "clearInterval").mockImplementation((() => {
    ticking = undefined;
  }) as unknown as typeof clearInterval);
  for (const spy of [clock, timers, cleared]) afterThisTest(() => spy.mockRestore());
  const streams = written();
  return {
    /** The progress lines that were written since the last call; on a terminal each line replaces the line before. */
    shown: (): string[] => {
      const lines = streams.err.split(CLEARED).slice(1);
      streams.err = "";
      return lines;
    },
  };
}

beforeEach(() => {
  nowMs = 5_000;
  ticking = undefined;
});

test("a bar has 24 characters, filled in proportion to the work; the numbers follow it", () => {
  const { shown } = terminal();
  const lineOf = (done: number, total: number, unit?: string) => {
    nowMs += 1_000;
    new Progress("file").show(done, total, unit);
    return shown();
  };
  const bar = (full: number) => "█".repeat(full) + "░".repeat(24 - full);
  expect(lineOf(0, 10)).toEqual([`file ${bar(0)} 0 %  0 of 10`]);
  expect(lineOf(1_000, 3_000, "entries")).toEqual([`file ${bar(8)} 33 %  1,000 of 3,000 entries`]);
  expect(lineOf(0.25, 1.5, "MB")).toEqual([`file ${bar(4)} 16 %  0.3 of 1.5 MB`]);
  expect(lineOf(299, 300)).toEqual([`file ${bar(23)} 99 %  299 of 300`]);
  expect(lineOf(3, 3)).toEqual([`file ${bar(24)} 100 %  3 of 3`]);
  // The bar is also full if more was done than announced, or if there was nothing to do.
  expect(lineOf(4, 3)).toEqual([`file ${bar(24)} 100 %  4 of 3`]);
  expect(lineOf(0, 0)).toEqual([`file ${bar(24)} 100 %  0 of 0`]);
});

test("a line is shown at once, then ten times a second, and always at the end", () => {
  const { shown } = terminal();
  const progress = new Progress("file");
  progress.say("first");
  nowMs += 99;
  progress.say("too early");
  expect(shown()).toEqual(["file first"]);
  nowMs += 1;
  progress.say("second");
  nowMs += 1;
  progress.show(1, 2);
  expect(shown()).toEqual(["file second"]);
  progress.show(2, 2);
  progress.say("the last", true);
  expect(shown()).toEqual([expect.stringContaining("100 %"), "file the last"]);
});

test("while the duration is unknown, the seconds count up, until something else is shown", () => {
  const { shown } = terminal();
  const progress = new Progress("import");
  nowMs += 1_999;
  progress.wait("of 0.1 MB");
  expect(shown()).toEqual(["import of 0.1 MB, 1 s"]);
  expect(ticking?.everyMs).toBe(1_000);
  nowMs += 1_001;
  ticking?.tick();
  expect(shown()).toEqual(["import of 0.1 MB, 3 s"]);
  progress.say("read");
  expect(ticking).toBeUndefined();
  progress.wait("again");
  progress.end();
  expect(ticking).toBeUndefined();
});

test("the line is removed once when the work ends, if it was shown", () => {
  const { shown } = terminal();
  const progress = new Progress("file");
  progress.end();
  expect(shown()).toEqual([]);
  progress.say("one");
  expect(shown()).toEqual(["file one"]);
  progress.end();
  expect(shown()).toEqual([""]);
  progress.end();
  expect(shown()).toEqual([]);
});

test("a line is shorter than the terminal's width, and than 80 columns if that is unknown", () => {
  for (const [columns, length] of [
    [40, 39],
    [0, 79],
  ] as const) {
    const { shown } = terminal(columns);
    nowMs += 1_000;
    new Progress("x".repeat(100)).say("more");
    expect(shown()).toEqual(["x".repeat(length)]);
  }
});

test("nothing is written if stderr is not a terminal", () => {
  const { shown } = terminal(80, false);
  const progress = new Progress("file");
  progress.show(1, 2);
  progress.say("more", true);
  progress.wait("long");
  progress.end();
  expect(shown()).toEqual([]);
  expect(ticking).toBeUndefined();
});
