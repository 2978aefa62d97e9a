/**
 * Checks when the work loop's one timer fires, for each of its intervals, and what the loop does when the timer fires. The tests move a fake clock of
 * real time.
 */
import { expect, test } from "bun:test";
import { type CaughtTimer, catchTimers, stopMonotonicClock } from "#harness/time/stopped-time";
import { movedClock } from "#harness/work-database";
import { nextTurn } from "#kernel/turns";
import type { Database, Transaction } from "#storage/database";
import { OthersWork, WorkLoop } from "./work-loop.ts";
import type { WorkSource } from "./work-source.ts";

/** A database that stores nothing; the test defines which sessions belong to ended processes. */
function namedDatabase(dialect: Database["dialect"]) {
  const state = { ended: [] as number[], writes: 0, beforeWrite: async (): Promise<void> => {} };
  const database = {
    dialect,
    reader: { all: async () => state.ended.splice(0).map((fence) => ({ fence })) },
    async write(body: (tx: Transaction) => Promise<unknown>) {
      state.writes++;
      await state.beforeWrite();
      const actions: (() => void)[] = [];
      const tx = {
        runOne: async () => {},
        run: async () => 1,
        afterCommit: (action: () => void) => actions.push(action),
      };
      const result = await body(tx as unknown as Transaction);
      for (const action of actions) action();
      return result;
    },
  };
  return { state, database: database as unknown as Database };
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 4; turn++) await nextTurn();
};

function newLoop(dialect: Database["dialect"] = "sqlite") {
  const { timeouts } = catchTimers();
  const monotonic = stopMonotonicClock(1_000_000);
  const { state, database } = namedDatabase(dialect);
  const [clock, real] = [movedClock(5_000_000), movedClock()];
  const errors: string[] = [];
  const loop = new WorkLoop({ database, clock, realNowMs: () => real.ms, onError: (error) => errors.push(String(error)) });
  const asked = { turns: 0, nextDueMs: undefined as number | undefined, didWork: false };
  const source: WorkSource & { ask: () => void; settle: () => Promise<boolean>; released: number[] } = {
    ask: () => {},
    settle: async () => false,
    released: [],
    async turn() {
      asked.turns++;
      source.ask();
      return { didWork: asked.didWork, nextDueMs: asked.nextDueMs };
    },
    settled: () => source.settle(),
    isBusy: () => false,
    release: async (_tx, fence) => void source.released.push(fence),
  };
  loop.add(source);
  const armed = (): CaughtTimer => timeouts.findLast(({ isCleared }) => !isCleared) as CaughtTimer;
  /** Moves real time until the timer fires, and the world's clock as well unless it is frozen. */
  const untilTimer = async (isFrozen = false): Promise<void> => {
    const timer = armed();
    timer.isCleared = true;
    monotonic.ms += timer.ms;
    if (!isFrozen) clock.ms += timer.ms;
    timer.fire();
    await settle();
  };
  const start = async (): Promise<void> => {
    loop.start();
    await settle();
  };
  return { loop, clock, real, monotonic, errors, asked, source, armed, untilTimer, start, state, database, timeouts };
}

test("without future work the loop checks once a minute, and its timer does not keep the program running", async () => {
  const { start, armed, asked, untilTimer } = newLoop();
  await start();
  expect({ ms: armed().ms, isUnreffed: armed().isUnreffed, turns: asked.turns }).toEqual({ ms: 60_000, isUnreffed: true, turns: 1 });
  await untilTimer();
  // No work was due, so the loop gave no source a turn.
  expect(asked.turns).toBe(1);
});

test("the timer fires at the next due time or the requested wait, whichever is first, once, and never sooner than a millisecond", async () => {
  const { loop, source, start, armed, asked, untilTimer, timeouts, clock } = newLoop();
  asked.nextDueMs = clock.ms + 5_000;
  await start();
  expect(armed().ms).toBe(5_000);
  const before = armed();
  loop.wakeIn(source, 3_000.5);
  expect({ ms: armed().ms, isCleared: before.isCleared }).toEqual({ ms: 3_001, isCleared: true });
  loop.wakeIn(source, 4_000);
  expect(armed().ms).toBe(3_001);
  expect(timeouts.filter(({ isCleared }) => !isCleared)).toHaveLength(1);
  await untilTimer();
  expect([asked.turns, armed().ms]).toEqual([2, 1_999]);
  asked.nextDueMs = undefined;
  await untilTimer();
  expect([asked.turns, armed().ms]).toEqual([3, 60_000]);
  loop.wakeIn(source, 0);
  expect(armed().ms).toBe(1);
});

test("work that is due at the exact millisecond is requested; while the world's clock is stopped, the loop checks each second and asks nobody", async () => {
  const { start, armed, asked, untilTimer, clock } = newLoop();
  asked.nextDueMs = clock.ms + 500;
  await start();
  for (let look = 0; look < 3; look++) {
    await untilTimer(true);
    expect([asked.turns, armed().ms]).toEqual([1, 1_000]);
  }
  clock.ms += 500;
  await untilTimer(true);
  expect(asked.turns).toBe(2);
});

test("after a failed turn the source has its next one in a second, even if others ask before, and the failure is reported", async () => {
  const { loop, source, start, armed, asked, untilTimer, monotonic, errors } = newLoop();
  source.ask = () => {
    if (asked.turns < 3) throw new Error(`failure ${asked.turns}`);
  };
  await start();
  expect({ errors, ms: armed().ms }).toEqual({ errors: ["Error: failure 1"], ms: 1_000 });
  monotonic.ms += 999;
  loop.wake(source);
  await settle();
  expect(asked.turns).toBe(1);
  monotonic.ms += 1;
  loop.wake(source);
  await settle();
  expect([asked.turns, errors.length]).toEqual([2, 2]);
  await untilTimer();
  expect([asked.turns, errors.length]).toEqual([3, 2]);
});

test("on a shared database every source is asked each second for what others have made, and the lease is renewed as often", async () => {
  const { loop, start, asked, untilTimer, armed, state, database, monotonic } = newLoop("postgres");
  await start();
  await database.write((tx) => loop.session.fenceFor(tx));
  const [turns, writes, startedMs] = [asked.turns, state.writes, monotonic.ms];
  const seen: number[][] = [];
  while (monotonic.ms + armed().ms <= startedMs + 6_000) {
    await untilTimer();
    seen.push([monotonic.ms - startedMs, asked.turns - turns, state.writes - writes]);
  }
  // The loop first checks the database at once; its second heartbeat and a later check happen at the same time.
  expect(seen).toEqual([
    [1, 1, 0],
    [1_000, 1, 1],
    [2_000, 2, 2],
    [3_000, 3, 3],
    [4_000, 4, 4],
    [5_000, 5, 5],
    [6_000, 6, 6],
  ]);
});

test("there is one heartbeat at a time, and work that it takes over from ended processes wakes the sources", async () => {
  const { loop, start, asked, untilTimer, state, database, source } = newLoop("postgres");
  await start();
  await database.write((tx) => loop.session.fenceFor(tx));
  const gate = Promise.withResolvers<void>();
  state.beforeWrite = () => gate.promise;
  const writes = state.writes;
  for (let timer = 0; timer < 4; timer++) await untilTimer();
  expect(state.writes).toBe(writes + 1);
  const turns = asked.turns;
  state.ended = [77];
  gate.resolve();
  await settle();
  expect(source.released).toEqual([77]);
  expect(asked.turns).toBe(turns + 1);
});

test("a caller who waits for due work is served within a minute, even if more keeps arriving", async () => {
  const { loop, asked, source, monotonic } = newLoop();
  asked.didWork = true;
  source.ask = () => {
    monotonic.ms += 10_000;
  };
  await loop.runDue();
  expect(asked.turns).toBe(6);
});

test("a lease that was not renewed for a second is renewed before work is claimed for a waiting caller", async () => {
  const { loop, asked, source, database, real, state } = newLoop("postgres");
  await database.write((tx) => loop.session.fenceFor(tx));
  const seen: number[] = [];
  source.ask = () => void seen.push(state.writes);
  const before = state.writes;
  await loop.runDue();
  real.ms += 1_000;
  await loop.runDue();
  expect([seen, asked.turns]).toEqual([[before, before + 1], 2]);
});

test("the end waits eight seconds for hanging work, and a tenth of a second if it is abandoned", async () => {
  for (const [end, ms, lastTurns] of [
    ["stop", 8_000, 1],
    ["abandon", 100, 0],
  ] as const) {
    const { loop, asked, source, timeouts } = newLoop();
    source.settle = () => new Promise(() => {});
    let hasEnded = false;
    const ending = loop[end]().then(() => {
      hasEnded = true;
    });
    await settle();
    const [giveUp] = timeouts as [CaughtTimer];
    expect({ ms: giveUp.ms, hasEnded }).toEqual({ ms, hasEnded: false });
    giveUp.fire();
    await ending;
    expect(asked.turns).toBe(lastTurns);
    const quick = newLoop();
    await quick.loop[end]();
    expect(quick.timeouts.map(({ isCleared }) => isCleared)).toEqual([true]);
  }
});

test("work of other processes is awaited for two seconds in total, while it is due", async () => {
  const { timeouts } = catchTimers();
  const monotonic = stopMonotonicClock(1_000);
  let isDue = true;
  const source = { hasDueAnywhere: async (nowMs: number) => isDue && nowMs === 7 } as unknown as WorkSource;
  const wait = async (others: OthersWork): Promise<boolean> => {
    const waiting = others.wait(7);
    await settle();
    timeouts.pop()?.fire();
    return waiting;
  };
  const others = new OthersWork([{} as WorkSource, source]);
  expect(await wait(others)).toBe(true);
  monotonic.ms += 1_999;
  expect(await wait(others)).toBe(true);
  isDue = false;
  expect(await wait(others)).toBe(false);
  isDue = true;
  monotonic.ms += 1;
  expect(await wait(others)).toBe(false);
  expect(await wait(new OthersWork([{} as WorkSource]))).toBe(false);
});
