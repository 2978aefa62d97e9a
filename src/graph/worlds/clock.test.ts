/** The clock of a world can be moved and frozen. The clock is stored with the world, and all processes see the same clock. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { movedClock, newWorkStore } from "#harness/work-database";
import type { Database } from "#storage/database";
import { WorldClock } from "./clock.ts";
import { graphMigrations } from "./graph.migrations.ts";
import { findSetting } from "./settings.store.ts";

onEachDatabase("the clock of a world", (kind) => {
  async function newClock() {
    const store = await newWorkStore(kind, [graphMigrations]);
    const database = await store.open();
    const real = movedClock(1_000_000);
    const open = (of = database) => WorldClock.open(of, () => real.ms);
    return { store, database, real, open, clock: await open() };
  }

  test("is real time until it is set; then it runs on from there, or stands still", async () => {
    const { real, clock, open } = await newClock();
    real.ms += 5;
    expect([clock.nowMs(), clock.isFrozen]).toEqual([1_000_005, false]);
    await clock.set(50, false);
    real.ms += 7;
    expect([clock.nowMs(), clock.isFrozen]).toEqual([57, false]);
    expect((await open()).nowMs()).toBe(57);
    await clock.set(90, true);
    real.ms += 7;
    expect([clock.nowMs(), clock.isFrozen]).toEqual([90, true]);
    const again = await open();
    expect([again.nowMs(), again.isFrozen]).toEqual([90, true]);
  });

  test("continues from its saved time when a state is restored; real time and a frozen clock are unchanged", async () => {
    const { database, real, clock } = await newClock();
    const stored = () => findSetting(database.reader, "clock");
    await clock.note();
    await clock.resume();
    expect(await stored()).toBeUndefined();
    await clock.set(50, false);
    real.ms += 10;
    await clock.note();
    real.ms += 1_000;
    expect(clock.nowMs()).toBe(1_060);
    await clock.resume();
    expect([clock.nowMs(), clock.isFrozen]).toEqual([60, false]);
    await clock.set(70, true);
    const frozen = await stored();
    real.ms += 10;
    await clock.note();
    await clock.resume();
    expect([await stored(), clock.nowMs()]).toEqual([frozen, 70]);
  });

  test("is set together with the work at that time, or not at all", async () => {
    const { database, real, clock, open } = await newClock();
    await clock.set(50, true);
    const done = await clock.setWith(80, false, async (tx) => {
      expect([clock.nowMs(), clock.isFrozen]).toEqual([80, false]);
      expect(await findSetting(tx, "clock")).toBe(JSON.stringify({ worldMs: 80, realMs: real.ms, isFrozen: false }));
      return "done";
    });
    expect([done, clock.nowMs(), (await open()).nowMs()]).toEqual(["done", 80, 80]);
    const undone = clock.setWith(90, true, async () => {
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    expect([clock.nowMs(), clock.isFrozen, (await open()).nowMs()]).toEqual([80, false, 80]);
    expect(JSON.parse((await findSetting(database.reader, "clock")) ?? "")).toMatchObject({ worldMs: 80 });
  });

  test("is moved in every process of the world", async () => {
    if (kind === "sqlite") return;
    const { store, clock, open } = await newClock();
    const other = await open(await store.open());
    await clock.set(50, true);
    while (other.nowMs() !== 50) await Bun.sleep(5);
    expect(other.isFrozen).toBe(true);
  });
});

/**
 * A test clock whose readings end when the test says so. Calling `changed` in this test means that another process has set the clock. `changed`
 * returns a function that ends the clock's reading with a frozen time.
 */
async function clockOfOthers() {
  const readings: ((worldMs: number) => void)[] = [];
  let onChange = (): void => {};
  const database = {
    onInvalidate(listener: (kind: undefined, key: undefined) => void) {
      onChange = () => listener(undefined, undefined);
      return () => {};
    },
    reader: {
      get: () => new Promise((resolve) => readings.push((worldMs) => resolve({ value: JSON.stringify({ worldMs, realMs: 0, isFrozen: true }) }))),
    },
  };
  const opening = WorldClock.open(database as unknown as Database, () => 0);
  readings[0]?.(10);
  const clock = await opening;
  const changed = () => {
    onChange();
    return { read: clock.rereading, end: readings.at(-1) as (worldMs: number) => void };
  };
  return { clock, changed };
}

test("a caller who waits for a read sees its result, even if another read has begun", async () => {
  const { clock, changed } = await clockOfOthers();
  const [first, second] = [changed(), changed()];
  first.end(20);
  await first.read;
  expect(clock.nowMs()).toBe(20);
  second.end(30);
  await second.read;
  expect([clock.nowMs(), clock.rereading]).toEqual([30, undefined]);
});

test("a read that ends late does not undo a later one", async () => {
  const { clock, changed } = await clockOfOthers();
  const [first, second] = [changed(), changed()];
  second.end(30);
  await second.read;
  first.end(20);
  await first.read;
  expect(clock.nowMs()).toBe(30);
});
