/** Checks the list of worlds that each process has open, and the opening of worlds that another process has left. */
import { afterAll, afterEach, expect, spyOn, test } from "bun:test";
import { movedClock, newWorkStore } from "#harness/work-database";
import type { Database } from "#storage/database";
import { sql } from "#storage/sql";
import { graphMigrations } from "../graph.migrations.ts";
import { OpenWorlds } from "./open-worlds.ts";
import { findWakeTimes, insertWorld, saveOpening, setWakeTime } from "./worlds.store.ts";

const START_MS = 100_000;

/** The test uses the real `setInterval`, because the database has a timer, too. */
const realSetInterval = setInterval;
const setTimer = spyOn(globalThis, "setInterval");
const clearTimer = spyOn(globalThis, "clearInterval");
afterEach(() => void setTimer.mockReset().mockImplementation(realSetInterval as never));
afterAll(() => {
  setTimer.mockRestore();
  clearTimer.mockRestore();
});

/**
 * The database that several processes share in the test, which may say that it is of the other dialect. Each process of the test has its own name,
 * and the test calls the function that the runtime would repeat.
 */
async function databaseOf(dialect: "sqlite" | "postgres", ...worlds: readonly string[]) {
  const stored = await (await newWorkStore("sqlite", [graphMigrations])).open();
  for (const name of worlds) await stored.write((tx) => insertWorld(tx, name, 1));
  const broken: { by?: Error | undefined } = {};
  let writes = 0;
  const write: Database["write"] = async (body) => {
    if (broken.by !== undefined) throw broken.by;
    writes++;
    return stored.write(body);
  };
  const database = { dialect, reader: stored.reader, write } as unknown as Database;
  const real = movedClock(START_MS);
  const openings = async (): Promise<string[]> => {
    const rows = await stored.reader.all<{ text: string }>(
      sql`SELECT o.name || ' ' || o.process || ' ' || CAST(o.until_ms AS TEXT) AS text FROM open_worlds o ORDER BY o.name, o.process`,
    );
    return rows.map(({ text }) => text);
  };
  const wakeTimes = async (): Promise<string[]> => (await findWakeTimes(stored.reader)).map(({ name, wake_ms }) => `${name} ${wake_ms}`);

  function process(name: string, names: readonly string[] = []) {
    const [held, left, idle, failures]: [string[], string[], string[], unknown[]] = [[], [], [], []];
    const holding: { of: (world: string) => Promise<void> } = { of: async () => {} };
    const open = [...names];
    const openWorlds = new OpenWorlds({
      database: () => database,
      process: name,
      realNowMs: () => real.ms,
      names: () => open,
      async hold(world) {
        held.push(world);
        await holding.of(world);
        return { leave: () => left.push(world) } as never;
      },
      closeMoving: async () => {},
      resumeMove: async () => {},
      idleUntil: (world, wakeMs) => idle.push(`${world} ${wakeMs}`),
      onError: (error) => failures.push(error),
    });
    return { openWorlds, held, left, idle, failures, holding, open };
  }
  return { stored, broken, writesUntilNow: () => writes, real, openings, wakeTimes, process };
}

/** Starts the worlds of one process of the test. Returns the function that the runtime would call repeatedly, and the time between two calls. */
async function started({ openWorlds }: { openWorlds: OpenWorlds }, wakesOthers: boolean) {
  const timer = {
    keepsRunning: true,
    unref() {
      this.keepsRunning = false;
    },
  };
  let repeated = (): void => {};
  let everyMs: number | undefined;
  setTimer.mockImplementation(((callback: () => void, ms: number) => {
    [repeated, everyMs] = [callback, ms];
    return timer;
  }) as never);
  await openWorlds.start(wakesOthers);
  return { beat: () => repeated(), everyMs, timer };
}

const until = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await Bun.sleep(1);
};

test("a process holds a world for ten seconds after its last report, and reports five times as often", async () => {
  const { real, openings, process } = await databaseOf("postgres", "a");
  const one = process("p1", ["a"]);
  await one.openWorlds.opened("a");
  expect(await openings()).toEqual([`a p1 ${START_MS + 10_000}`]);
  const { beat, everyMs, timer } = await started(one, false);
  expect({ timesInLease: 10_000 / (everyMs ?? 0), keepsRunning: timer.keepsRunning }).toEqual({ timesInLease: 5, keepsRunning: false });
  real.ms += 4_000;
  beat();
  await until(async () => (await openings()).join() === `a p1 ${START_MS + 14_000}`);
  await one.openWorlds.stop();
  expect(one.failures).toEqual([]);
});

test("a process that stalled for longer, so that another took over, reports each of its worlds again", async () => {
  const { stored, openings, process } = await databaseOf("postgres", "a", "b");
  const one = process("p1", ["a", "b"]);
  for (const name of ["a", "b"]) await one.openWorlds.opened(name);
  await stored.write((tx) => tx.run(sql`DELETE FROM open_worlds WHERE name = 'b'`));
  const { beat } = await started(one, false);
  beat();
  await until(async () => (await openings()).length === 2);
  await one.openWorlds.stop();
  expect(await openings()).toEqual([`a p1 ${START_MS + 10_000}`, `b p1 ${START_MS + 10_000}`]);
});

test("a process without open worlds writes nothing, and one whose worlds are all noted writes once", async () => {
  const { writesUntilNow, process } = await databaseOf("postgres", "a");
  for (const [names, count] of [
    [[], 0],
    [["a"], 1],
  ] as const) {
    const one = process("p1", names);
    for (const name of names) await one.openWorlds.opened(name);
    const { beat } = await started(one, false);
    const before = writesUntilNow();
    beat();
    await one.openWorlds.stop();
    expect({ names, writes: writesUntilNow() - before }).toEqual({ names, writes: count });
  }
});

test("a process that opens a world takes it over from expired ones; one that closes it notes when it is due", async () => {
  const { stored, openings, wakeTimes, process } = await databaseOf("postgres", "a");
  await stored.write(async (tx) => {
    await setWakeTime(tx, "a", 5);
    await saveOpening(tx, "a", "ended", START_MS - 1);
    await saveOpening(tx, "a", "lives", START_MS);
  });
  const { openWorlds } = process("p1");
  await openWorlds.opened("a");
  expect([await openings(), await wakeTimes()]).toEqual([["a lives 100000", "a p1 110000"], []]);
  await openWorlds.closed("a", 7);
  expect([await openings(), await wakeTimes()]).toEqual([["a lives 100000"], ["a 7"]]);
});

test("the only process of a data folder takes over everything, whatever its time", async () => {
  const { stored, openings, process } = await databaseOf("sqlite", "a", "b");
  await stored.write(async (tx) => {
    await saveOpening(tx, "a", "ended", START_MS * 2);
    await setWakeTime(tx, "b", START_MS + 1);
  });
  const one = process("p1");
  const { everyMs } = await started(one, true);
  await one.openWorlds.stop();
  expect(everyMs).toBeUndefined();
  expect({ held: one.held, left: one.left, idle: one.idle }).toEqual({ held: ["a"], left: ["a"], idle: [`b ${START_MS + 1}`] });
  expect(await openings()).toEqual([`a p1 ${START_MS + 10_000}`]);
  const other = process("p2");
  await started(other, false);
  await other.openWorlds.stop();
  expect([other.held, other.idle]).toEqual([[], []]);
});

test("one of several processes opens abandoned and due worlds, at its start and repeatedly", async () => {
  const { stored, real, process } = await databaseOf("postgres", "left", "due", "later", "lives");
  await stored.write(async (tx) => {
    await saveOpening(tx, "left", "ended", START_MS - 1);
    await saveOpening(tx, "lives", "other", START_MS + 60_000);
    await setWakeTime(tx, "due", START_MS);
    await setWakeTime(tx, "later", START_MS + 1_000);
  });
  const [one, other] = [process("p1"), process("p2")];
  const { beat: beatOfOther } = await started(other, false);
  const { beat } = await started(one, true);
  await until(() => one.left.length === 2);
  expect(one.held).toEqual(["left", "due"]);
  real.ms += 1_000;
  beatOfOther();
  beat();
  await until(() => one.left.length === 3);
  expect(one.held).toEqual(["left", "due", "later"]);
  await one.openWorlds.stop();
  await other.openWorlds.stop();
  expect([one.idle, other.held]).toEqual([[], []]);
});

test("a world is opened once at a time, one after another, and one that cannot be opened delays none", async () => {
  const { process, openings } = await databaseOf("postgres", "a", "b");
  const one = process("p1");
  const { promise: opens, resolve: open } = Promise.withResolvers<void>();
  one.holding.of = async (world) => {
    if (world !== "a") return;
    await opens;
    throw new Error("cannot be opened");
  };
  for (const name of ["a", "a", "b"]) one.openWorlds.wake(name);
  await until(() => one.held.length > 0);
  expect(one.held).toEqual(["a"]);
  open();
  await one.openWorlds.stop();
  expect({ held: one.held, left: one.left, failures: one.failures }).toMatchObject({
    ...{ held: ["a", "b"], left: ["b"], failures: [{ message: "cannot be opened" }] },
  });
  expect(await openings()).toEqual(["b p1 110000"]);
  one.holding.of = async () => {};
  one.openWorlds.wake("a");
  await one.openWorlds.stop();
  expect(one.left).toEqual(["b", "a"]);
});

test("after its end a process opens no worlds, and its own are free at once", async () => {
  const { stored, openings, process } = await databaseOf("postgres", "a", "b");
  const one = process("p1", ["a"]);
  await one.openWorlds.opened("a");
  const { beat, timer } = await started(one, true);
  await one.openWorlds.stop();
  expect(clearTimer).toHaveBeenCalledWith(timer as never);
  await stored.write((tx) => saveOpening(tx, "b", "ended", 1));
  beat();
  await one.openWorlds.stop();
  expect(one.held).toEqual([]);
  await one.openWorlds.leave();
  expect(await openings()).toEqual(["a p1 0", "b ended 1"]);
});

test("if nobody shares the database, open worlds stay noted, so that the next start opens them", async () => {
  const { openings, process } = await databaseOf("sqlite", "a");
  const { openWorlds } = process("p1", ["a"]);
  await openWorlds.opened("a");
  await openWorlds.leave();
  expect(await openings()).toEqual(["a p1 110000"]);
});

test("a failing database is reported, and asked again in the next turn", async () => {
  const { broken, real, openings, process } = await databaseOf("postgres", "a");
  const one = process("p1", ["a"]);
  await one.openWorlds.opened("a");
  const { beat } = await started(one, false);
  broken.by = new Error("gone");
  beat();
  await until(() => one.failures.length === 1);
  await one.openWorlds.leave();
  expect(one.failures).toEqual([broken.by, broken.by]);
  broken.by = undefined;
  real.ms += 2_000;
  await one.openWorlds.stop();
  beat();
  await one.openWorlds.stop();
  expect(await openings()).toEqual(["a p1 112000"]);
});
