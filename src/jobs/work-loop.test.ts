/** Checks the work loop without jobs: the times at which the loop asks a source for work, and what it knows about the next due time. */
import { expect, test } from "bun:test";
import { afterThisTest } from "#harness/cleanup";
import { movedClock, newWorkStore } from "#harness/work-database";
import { jobMigrations } from "./jobs.migrations.ts";
import { WorkLoop } from "./work-loop.ts";
import type { Turn, TurnEnd, WorkSource } from "./work-source.ts";

/** A source of work that records the turns that it gets, and does nothing else unless the test gives it work. */
class Noting implements WorkSource {
  readonly turns: Pick<Turn, "nowMs" | "isHurried" | "isLast">[] = [];
  nextDueMs: number | undefined;
  isWorking = false;
  ask: (turn: Turn) => Promise<void> = async () => {};
  didWork = (): boolean => false;
  wait = async (): Promise<boolean> => false;
  readonly released: number[] = [];

  async turn(turn: Turn): Promise<TurnEnd> {
    const { nowMs, isHurried, isLast } = turn;
    this.turns.push({ nowMs, isHurried, isLast });
    await this.ask(turn);
    return { didWork: this.didWork(), nextDueMs: this.nextDueMs };
  }

  settled(): Promise<boolean> {
    return this.wait();
  }

  isBusy(): boolean {
    return this.isWorking;
  }

  async release(_tx: unknown, fence: number): Promise<void> {
    this.released.push(fence);
  }
}

async function newLoop(count = 1) {
  const database = await (await newWorkStore("sqlite", [jobMigrations])).open();
  const clock = movedClock(1_000_000);
  const errors: unknown[] = [];
  const loop = new WorkLoop({ database, clock, realNowMs: () => 0, onError: (error) => errors.push(error) });
  const sources = Array.from({ length: count }, () => new Noting());
  for (const source of sources) loop.add(source);
  afterThisTest(() => loop.stop());
  const [source] = sources as [Noting];
  return { loop, clock, errors, sources, source, database };
}

/** Waits until the source has had this number of turns. */
const untilTurns = async (source: Noting, count: number): Promise<void> => {
  while (source.turns.length < count) await Bun.sleep(1);
};

test("when idle, the loop knows the earliest time of all sources, in any order", async () => {
  for (const dueInMs of [
    [undefined, 5, 3],
    [3, 5, undefined],
    [5, undefined, 3],
    [5, 3, undefined],
    [3, 3],
  ]) {
    const { loop, clock, sources } = await newLoop(dueInMs.length);
    for (const [at, ms] of dueInMs.entries()) if (sources[at] !== undefined) sources[at].nextDueMs = ms === undefined ? undefined : clock.ms + ms;
    await loop.runDue();
    expect(loop.idle).toEqual({ nextDueMs: clock.ms + 3 });
    clock.ms += 2;
    expect(loop.idle).toEqual({ nextDueMs: clock.ms + 1 });
    // If work is due, the work loop is not idle.
    clock.ms++;
    expect(loop.idle).toBeUndefined();
  }
});

test("without future work the loop is idle without a time; while something runs or waits, it is not idle", async () => {
  const { loop, sources, source } = await newLoop(2);
  await loop.runDue();
  expect(loop.idle).toEqual({ nextDueMs: undefined });
  expect(sources).toHaveLength(2);
  for (const each of sources) {
    each.isWorking = true;
    expect(loop.idle).toBeUndefined();
    each.isWorking = false;
  }
  const gate = Promise.withResolvers<void>();
  source.ask = () => gate.promise;
  const run = loop.runDue();
  await untilTurns(source, 2);
  expect(loop.idle).toBeUndefined();
  gate.resolve();
  await run;
  expect(loop.idle).toEqual({ nextDueMs: undefined });
});

test("no source is asked before the start, and each once at the start", async () => {
  const { loop, sources } = await newLoop(2);
  loop.wake();
  await Bun.sleep(5);
  expect({ turns: sources.map(({ turns }) => turns.length), isStarted: loop.isStarted }).toEqual({ turns: [0, 0], isStarted: false });
  loop.start();
  loop.start();
  expect(loop.isStarted).toBe(true);
  for (const source of sources) await untilTurns(source, 1);
  await Bun.sleep(5);
  expect(sources.map(({ turns }) => turns)).toEqual([0, 1].map(() => [{ nowMs: 1_000_000, isHurried: false, isLast: false }]));
});

test("a source is asked again while it did work, and when it was woken during its turn", async () => {
  const { loop, source, sources } = await newLoop(2);
  source.didWork = () => source.turns.length < 3;
  loop.start();
  await untilTurns(source, 3);
  for (const each of sources) await untilTurns(each, 1);
  await Bun.sleep(5);
  expect(sources.map(({ turns }) => turns.length)).toEqual([3, 1]);
  const gate = Promise.withResolvers<void>();
  source.ask = () => (source.turns.length === 4 ? gate.promise : Promise.resolve());
  loop.wake(source);
  loop.wake(source);
  expect(loop.idle).toBeUndefined();
  // The turns of one source never overlap, so the source's fourth turn is still its last turn.
  expect(source.turns).toHaveLength(4);
  gate.resolve();
  await untilTurns(source, 5);
  await Bun.sleep(5);
  expect(sources.map(({ turns }) => turns.length)).toEqual([5, 1]);
});

test("a wait in real time ends with a turn of only its source; a later one does not postpone it", async () => {
  const { loop, source, sources } = await newLoop(2);
  loop.start();
  for (const each of sources) await untilTurns(each, 1);
  for (const [first, second] of [
    [60_000, 10],
    [10, 60_000],
  ] as const) {
    const before = source.turns.length;
    loop.wakeIn(source, first);
    loop.wakeIn(source, second);
    await untilTurns(source, before + 1);
  }
  expect(sources[1]?.turns).toHaveLength(1);
});

test("due work is requested for a waiting caller while there is any: done in the turn, or ended after it", async () => {
  const { loop, source, sources } = await newLoop(3);
  source.didWork = () => source.turns.length < 3;
  source.wait = async () => source.turns.length === 3;
  await loop.runDue();
  expect(source.turns).toEqual(Array.from({ length: 4 }, () => ({ nowMs: 1_000_000, isHurried: true, isLast: false })));
  // The other sources get their turns although only the first source had work.
  expect(sources.map(({ turns }) => turns.length)).toEqual([4, 4, 4]);
});

test("a caller who waits for due work also waits for the running turn and its work", async () => {
  const { loop, source } = await newLoop();
  const gates = { turn: Promise.withResolvers<void>(), work: Promise.withResolvers<void>() };
  source.ask = () => (source.turns.length === 1 ? gates.turn.promise : Promise.resolve());
  source.wait = async () => {
    await gates.work.promise;
    return false;
  };
  loop.start();
  await untilTurns(source, 1);
  let hasEnded = false;
  const run = loop.runDue().then(() => {
    hasEnded = true;
  });
  await Bun.sleep(5);
  expect(source.turns).toHaveLength(1);
  gates.turn.resolve();
  await untilTurns(source, 2);
  await Bun.sleep(5);
  expect(hasEnded).toBe(false);
  gates.work.resolve();
  await run;
});

test("endless work is a mistake, and named after ten thousand turns", async () => {
  const { loop, source } = await newLoop();
  source.didWork = () => true;
  await expect(loop.runDue()).rejects.toThrow("work keeps becoming due after 10000 turns");
  expect(source.turns).toHaveLength(10_000);
});

test("a failed turn is reported, and repeated by itself after a pause", async () => {
  const { loop, source, errors } = await newLoop();
  source.ask = async () => {
    if (source.turns.length === 1) throw new Error("no database");
  };
  loop.start();
  while (errors.length === 0) await Bun.sleep(1);
  loop.wake();
  loop.wake(source);
  expect(source.turns).toHaveLength(1);
  await untilTurns(source, 2);
  expect(errors.map(String)).toEqual(["Error: no database"]);
});

test("a move of the clock stops at each due time, however far it goes, and at its target", async () => {
  const { loop, clock, source } = await newLoop();
  const startMs = clock.ms;
  const moves: number[] = [];
  const day = 86_400_000;
  source.ask = async ({ nowMs }) => {
    // From this line on the work is due but cannot run, and this must not stop the clock from moving on.
    source.nextDueMs = nowMs >= startMs + 900 * day ? nowMs - 1 : nowMs + day;
  };
  const move = async (ms: number) => {
    moves.push((ms - startMs) / day);
    clock.ms = ms;
  };
  await loop.runUntil(startMs + 1_000 * day, move);
  expect(moves).toEqual([...Array.from({ length: 900 }, (_, at) => at + 1), 1_000]);
  // Work that is due exactly at the target time gets its turn.
  expect(source.turns.at(-1)?.nowMs).toBe(startMs + 1_000 * day);
});

test("a move that reaches its limit ends at a stop, after the work that is due there", async () => {
  const { loop, clock, source } = await newLoop();
  const startMs = clock.ms;
  source.ask = async ({ nowMs }) => {
    source.nextDueMs = nowMs + 10;
  };
  const move = async (ms: number) => {
    clock.ms = ms;
  };
  await loop.runUntil(startMs + 100, move, () => clock.ms >= startMs + 30);
  expect(clock.ms).toBe(startMs + 30);
  expect(source.turns.at(-1)?.nowMs).toBe(startMs + 30);
});

test("a clock that is already at the target is not moved, but its due work is done", async () => {
  const { loop, clock, source } = await newLoop();
  const moves: number[] = [];
  await loop.runUntil(clock.ms, async (ms) => void moves.push(ms));
  expect(moves).toEqual([]);
  expect(source.turns).toHaveLength(1);
});

test("at the end, running work is awaited, a last turn stores its results, and held work is given back, once", async () => {
  const { loop, source, database } = await newLoop();
  const fence = await database.write((tx) => loop.session.fenceFor(tx));
  const givenBack: number[] = [];
  source.ask = async () => void givenBack.push(source.released.length);
  const gate = Promise.withResolvers<void>();
  source.wait = async () => {
    await gate.promise;
    return true;
  };
  loop.start();
  await untilTurns(source, 1);
  const stopping = loop.stop();
  expect({ isStarted: loop.isStarted, isStopped: loop.isStopped }).toEqual({ isStarted: false, isStopped: true });
  await loop.stop();
  await Bun.sleep(5);
  expect(source.turns).toHaveLength(1);
  gate.resolve();
  await stopping;
  expect(source.turns.at(-1)).toEqual({ nowMs: 1_000_000, isHurried: false, isLast: true });
  expect(source.released).toEqual([fence]);
  // If the loop gave work back before the work's result is stored, the work would be done a second time.
  expect(givenBack).toEqual([0, 0]);
  loop.wake();
  loop.start();
  await Bun.sleep(5);
  expect(source.turns).toHaveLength(2);
});

test("a last turn that fails is reported, and the loop still ends", async () => {
  const { loop, source, errors } = await newLoop();
  source.ask = async () => {
    throw new Error("no database");
  };
  await loop.stop();
  expect(errors.map(String)).toEqual(["Error: no database"]);
});

test("an abandoned loop has no last turn, and gives nothing back", async () => {
  const { loop, source, database } = await newLoop();
  await database.write((tx) => loop.session.fenceFor(tx));
  loop.start();
  await untilTurns(source, 1);
  await loop.abandon();
  expect(loop.isStopped).toBe(true);
  loop.wake();
  await loop.stop();
  expect({ turns: source.turns.length, released: source.released }).toEqual({ turns: 1, released: [] });
});

test("failures of an abandoned loop are not reported: its database is closed, and nothing is repeated", async () => {
  const { loop, source, errors } = await newLoop();
  const gate = Promise.withResolvers<void>();
  source.ask = () => gate.promise;
  loop.start();
  await untilTurns(source, 1);
  const abandoned = loop.abandon();
  gate.reject(new Error("the database is closed"));
  await abandoned;
  await Bun.sleep(1);
  expect(errors).toEqual([]);
});

test("every source gives back the work of ended processes before it is asked for work", async () => {
  const { loop, sources, database } = await newLoop(2);
  const dead = new WorkLoop({ database, clock: movedClock(), realNowMs: () => 0, onError: () => {} });
  const fence = await database.write((tx) => dead.session.fenceFor(tx));
  const seen: number[] = [];
  for (const source of sources) source.ask = async () => void seen.push(source.released.length);
  await loop.runDue();
  expect(sources.map(({ released }) => released)).toEqual([[fence], [fence]]);
  expect(seen).toEqual([1, 1]);
});
