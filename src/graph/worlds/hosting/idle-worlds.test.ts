/** Checks that idle worlds are closed and opened by two timers, whose time the test controls. */
import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { IdleWorlds } from "./idle-worlds.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Makes idle worlds. `open` has the result of each search for open worlds in turn: whether a world is open, or an error. */
function made(...open: (boolean | Error)[]) {
  const real = { ms: 1_795_000_000_000 };
  const [woken, failures]: [string[], unknown[]] = [[], []];
  const seen = { looks: 0 };
  const idleWorlds = new IdleWorlds({
    realNowMs: () => real.ms,
    async look() {
      seen.looks++;
      const found = open.shift() ?? false;
      if (found instanceof Error) throw found;
      return found;
    },
    wake: (name) => woken.push(name),
    onError: (error) => failures.push(error),
  });
  /** Moves the test's machine clock and its timers together. */
  const pass = async (ms: number): Promise<void> => {
    real.ms += ms;
    jest.advanceTimersByTime(ms);
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  };
  return { real, idleWorlds, woken, failures, seen, pass };
}

test("open worlds are checked once a minute, while at least one is open", async () => {
  const { idleWorlds, seen, pass } = made(true, false);
  await pass(MINUTE_MS);
  expect(seen.looks).toBe(0);
  idleWorlds.opened("a");
  await pass(30_000);
  idleWorlds.opened("b");
  await pass(29_999);
  expect(seen.looks).toBe(0);
  await pass(1);
  expect(seen.looks).toBe(1);
  await pass(MINUTE_MS - 1);
  expect(seen.looks).toBe(1);
  await pass(1);
  expect(seen.looks).toBe(2);
  await pass(10 * MINUTE_MS);
  expect(seen.looks).toBe(2);
  idleWorlds.opened("a");
  await pass(MINUTE_MS);
  expect(seen.looks).toBe(3);
});

test("a failed check is reported, and the next one runs a minute later", async () => {
  const { idleWorlds, seen, failures, pass } = made(new Error("no database"), false);
  idleWorlds.opened("a");
  await pass(MINUTE_MS);
  expect(failures).toMatchObject([{ message: "no database" }]);
  await pass(MINUTE_MS);
  expect({ ...seen, failures: failures.length }).toEqual({ looks: 2, failures: 1 });
});

test("each idle world is opened at its time, to the millisecond and once", async () => {
  const { real, idleWorlds, woken, pass } = made();
  const { ms } = real;
  idleWorlds.idleUntil("late", ms + 5_000);
  idleWorlds.idleUntil("early", ms + 1_000);
  idleWorlds.idleUntil("later", ms + 9_000);
  await pass(999);
  expect(woken).toEqual([]);
  await pass(1);
  expect(woken).toEqual(["early"]);
  await pass(3_999);
  expect(woken).toEqual(["early"]);
  await pass(1);
  expect(woken).toEqual(["early", "late"]);
  await pass(HOUR_MS);
  expect(woken).toEqual(["early", "late", "later"]);
});

test("a world that is already due is opened at once", async () => {
  const { real, idleWorlds, woken, pass } = made();
  idleWorlds.idleUntil("a", real.ms - 5_000);
  expect(woken).toEqual([]);
  await pass(1);
  expect(woken).toEqual(["a"]);
});

test("a world that is idle for months is opened at its time, and within an hour after the machine's clock was put forward", async () => {
  const { real, idleWorlds, woken, pass } = made();
  const DAY_MS = 24 * HOUR_MS;
  idleWorlds.idleUntil("a", real.ms + 60 * DAY_MS);
  for (let hour = 1; hour < 60 * 24; hour++) await pass(HOUR_MS);
  expect(woken).toEqual([]);
  await pass(HOUR_MS);
  expect(woken).toEqual(["a"]);
  idleWorlds.idleUntil("b", real.ms + 60 * DAY_MS);
  real.ms += 60 * DAY_MS;
  await pass(HOUR_MS);
  expect(woken).toEqual(["a", "b"]);
});

test("a world that was opened or deleted meanwhile is not opened, and after the end none is, and nothing is checked", async () => {
  const { real, idleWorlds, woken, seen, pass } = made();
  for (const name of ["opened", "deleted", "other"]) idleWorlds.idleUntil(name, real.ms + 1_000);
  idleWorlds.opened("opened");
  idleWorlds.forget("deleted");
  await pass(1_000);
  expect(woken).toEqual(["other"]);
  idleWorlds.idleUntil("at the end", real.ms + 1_000);
  idleWorlds.stop();
  idleWorlds.idleUntil("after the end", real.ms + 1_000);
  idleWorlds.opened("after the end");
  await pass(HOUR_MS);
  expect({ woken, ...seen }).toEqual({ woken: ["other"], looks: 0 });
});

test("there is one timer, for any number of idle worlds", async () => {
  const { real, idleWorlds } = made();
  for (let at = 0; at < 20; at++) idleWorlds.idleUntil(`w${at}`, real.ms + 1_000 + at);
  expect(jest.getTimerCount()).toBe(1);
  idleWorlds.stop();
  expect(jest.getTimerCount()).toBe(0);
});

test("neither timer keeps the program running", async () => {
  jest.useRealTimers();
  const script = `
    const { IdleWorlds } = await import(${JSON.stringify(new URL("idle-worlds.ts", import.meta.url).pathname)});
    const idleWorlds = new IdleWorlds({ realNowMs: () => 0, look: async () => false, wake() {}, onError() {} });
    idleWorlds.opened("a");
    idleWorlds.idleUntil("b", 3_000_000);`;
  expect(await Bun.spawn([process.execPath, "-e", script]).exited).toBe(0);
});
