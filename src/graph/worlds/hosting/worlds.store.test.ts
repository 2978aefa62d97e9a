/** Tests of the list of worlds, and of the record which process has which world open. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { newWorkStore } from "#harness/work-database";
import { sql } from "#storage/sql";
import { graphMigrations } from "../graph.migrations.ts";
import {
  deleteEndedOpenings,
  deleteOpening,
  deleteWorldRow,
  endOpenings,
  findDueWorlds,
  findEndedOpenings,
  findWakeTimes,
  hasWorld,
  insertWorld,
  listWorldRows,
  renewOpenings,
  saveOpening,
  setWakeTime,
} from "./worlds.store.ts";

onEachDatabase("the list of worlds", (kind) => {
  async function withWorlds(...names: readonly string[]) {
    const database = await (await newWorkStore(kind, [graphMigrations])).open();
    for (const name of names) await database.write((tx) => insertWorld(tx, name, 1));
    const openings = async (): Promise<string[]> => {
      const rows = await database.reader.all<{ name: string; process: string; until_ms: number }>(
        sql`SELECT o.name, o.process, o.until_ms FROM open_worlds o ORDER BY o.name, o.process`,
      );
      return rows.map(({ name, process, until_ms }) => `${name} ${process} ${until_ms}`);
    };
    const open = (name: string, process: string, untilMs: number) => database.write((tx) => saveOpening(tx, name, process, untilMs));
    const setWake = (name: string, wakeMs: number | null) => database.write((tx) => setWakeTime(tx, name, wakeMs));
    return { database, openings, open, setWake };
  }

  test("has each name once, in order, and says whether it was free", async () => {
    const { database } = await withWorlds("b");
    expect(await database.write((tx) => insertWorld(tx, "b", 2))).toBe(false);
    expect(await database.write((tx) => insertWorld(tx, "a", 2))).toBe(true);
    expect((await listWorldRows(database.reader, { limit: 5 })).rows).toEqual([
      { name: "a", made_ms: 2, database: null },
      { name: "b", made_ms: 1, database: null },
    ]);
    expect(await database.write((tx) => deleteWorldRow(tx, "b"))).toBe(true);
    expect(await database.write((tx) => deleteWorldRow(tx, "b"))).toBe(false);
    expect([await hasWorld(database.reader, "a"), await hasWorld(database.reader, "b")]).toEqual([true, false]);
  });

  test("knows when each idle world is due, the first one first, and which are due at a time", async () => {
    const { database, setWake } = await withWorlds("late", "early", "never", "awake");
    await setWake("late", 300);
    await setWake("early", 100);
    await setWake("awake", 200);
    await setWake("awake", null);
    const wakes = (rows: readonly { name: string; wake_ms: number }[]) => rows.map(({ name, wake_ms }) => `${name} ${wake_ms}`);
    expect(wakes(await findWakeTimes(database.reader))).toEqual(["early 100", "late 300"]);
    expect(wakes(await findDueWorlds(database.reader, 99))).toEqual([]);
    expect(wakes(await findDueWorlds(database.reader, 100))).toEqual(["early 100"]);
    expect(wakes(await findDueWorlds(database.reader, 300))).toEqual(["early 100", "late 300"]);
    await setWake("early", 400);
    expect(wakes(await findWakeTimes(database.reader))).toEqual(["late 300", "early 400"]);
  });

  test("a process holds a world once, until the time it reported last; an unlisted world has no row", async () => {
    const { openings, open } = await withWorlds("a", "b");
    await open("a", "p1", 10);
    await open("a", "p2", 10);
    await open("a", "p1", 20);
    await open("nothing", "p1", 10);
    expect(await openings()).toEqual(["a p1 20", "a p2 10"]);
  });

  test("a process renews and ends all of its own, and closes one", async () => {
    const { database, openings, open } = await withWorlds("a", "b", "c");
    for (const name of ["a", "b"]) for (const process of ["p1", "p2"]) await open(name, process, 10);
    expect(await database.write((tx) => renewOpenings(tx, "p1", 20))).toBe(2);
    expect(await database.write((tx) => renewOpenings(tx, "p3", 20))).toBe(0);
    expect(await openings()).toEqual(["a p1 20", "a p2 10", "b p1 20", "b p2 10"]);
    await database.write((tx) => endOpenings(tx, "p2"));
    expect(await openings()).toEqual(["a p1 20", "a p2 0", "b p1 20", "b p2 0"]);
    await database.write((tx) => deleteOpening(tx, "a", "p1"));
    expect(await openings()).toEqual(["a p2 0", "b p1 20", "b p2 0"]);
  });

  test("worlds of other processes are found by their time, each once, and are taken one by one", async () => {
    const { database, openings, open } = await withWorlds("a", "b", "c");
    await open("b", "ended", 9);
    await open("b", "ended too", 8);
    await open("a", "ended", 9);
    await open("a", "lives", 10);
    await open("c", "lives", 10);
    await open("c", "own", 1);
    const left = async (process: string, beforeMs: number) => (await findEndedOpenings(database.reader, process, beforeMs)).map(({ name }) => name);
    expect(await left("own", 10)).toEqual(["a", "b"]);
    expect(await left("own", 9)).toEqual(["b"]);
    expect(await left("own", 11)).toEqual(["a", "b", "c"]);
    await database.write((tx) => deleteEndedOpenings(tx, "b", "ended too", 9));
    expect(await openings()).toContain("b ended 9");
    await database.write((tx) => deleteEndedOpenings(tx, "b", "ended too", 10));
    await database.write((tx) => deleteEndedOpenings(tx, "c", "own", 10));
    expect(await openings()).toEqual(["a ended 9", "a lives 10", "b ended too 8", "c lives 10", "c own 1"]);
  });

  test("deleting a world deletes its own rows only", async () => {
    const { database, openings, open } = await withWorlds("a", "b");
    for (const name of ["a", "b"]) await open(name, "p1", 10);
    await database.write((tx) => deleteWorldRow(tx, "a"));
    expect(await openings()).toEqual(["b p1 10"]);
  });
});
