/** Checks the saved states of a world: which data a restore brings back, which data stays, and how other processes hear of the restore. */
import { expect, test } from "bun:test";
import { type FeatureMigrations, StateOutdated } from "#storage/database";
import { sql } from "#storage/sql";
import { openSqlite } from "#storage/sqlite/open";
import { becomesTrue, closedAfterwards, describeDrivers, notes } from "./stores.ts";

/** The table `lists` belongs to the world, as `notes` does, and the table `keys` belongs to the server. */
const lists: FeatureMigrations = {
  feature: "lists",
  migrations: [{ name: "lists", statements: ["CREATE TABLE lists (list TEXT NOT NULL PRIMARY KEY, id BIGINT)"] }],
};
const keys: FeatureMigrations = {
  feature: "keys",
  serverTables: ["keys"],
  migrations: [{ name: "keys", statements: ["CREATE TABLE keys (name TEXT NOT NULL PRIMARY KEY)"] }],
};
const migrations = [notes, lists, keys];
/** The migrations that a newer version of the program has. */
const newer = [
  ...[notes, keys],
  { ...lists, migrations: [...lists.migrations, { name: "more", statements: ["ALTER TABLE lists ADD COLUMN more TEXT NOT NULL DEFAULT 'm'"] }] },
];

const allNotes = sql`SELECT n.id, n.list, n.text, n.amount, n.flag, n.bytes FROM notes n ORDER BY n.id`;
const allLists = sql`SELECT l.list, l.id FROM lists l ORDER BY l.list`;
const allKeys = sql`SELECT k.name FROM keys k ORDER BY k.name`;

describeDrivers("saved states", (driver) => {
  const open = async () => {
    const store = await driver.newStore();
    const database = await store.open(migrations);
    return {
      ...{ store, database },
      add: (id: number, list = "a") =>
        database.write(async (tx) => {
          await tx.run(sql`INSERT INTO notes (id, list, text) VALUES (${id}, ${list}, ${`text of ${id}`})`);
          await tx.run(sql`INSERT INTO lists (list, id) VALUES (${`${list}${id}`}, ${id})`);
        }),
      addKey: (name: string) => database.write((tx) => tx.run(sql`INSERT INTO keys (name) VALUES (${name})`)),
      ids: async () => [
        (await database.reader.all<{ id: number }>(allNotes)).map(({ id }) => id),
        (await database.reader.all<{ id: number }>(allLists)).map(({ id }) => id),
      ],
      keys: async () => (await database.reader.all<{ name: string }>(allKeys)).map(({ name }) => name),
    };
  };

  test("every table is restored with every possible value; the server's own tables are unchanged", async () => {
    const { database, add, addKey, keys } = await open();
    const values = { text: "\u{1f600} 'quoted' \\ \"\n", amount: Number.MAX_SAFE_INTEGER, bytes: new Uint8Array([0, 1, 39, 92, 255]) };
    await database.write((tx) =>
      tx.run(
        sql`INSERT INTO notes (id, list, text, amount, flag, bytes) VALUES (${1}, ${"a"}, ${values.text}, ${values.amount}, ${1}, ${values.bytes})`,
      ),
    );
    await add(2);
    await addKey("before");
    const before = [await database.reader.all(allNotes), await database.reader.all(allLists)];
    await database.saveState("one");
    await add(3);
    await addKey("after");
    await database.write(async (tx) => {
      await tx.run(sql`UPDATE notes SET text = ${null}, bytes = ${null} WHERE id <= ${2}`);
      await tx.run(sql`DELETE FROM lists WHERE list = ${"a2"}`);
    });
    expect(await database.restoreState("one")).toBe(true);
    expect([await database.reader.all(allNotes), await database.reader.all(allLists)]).toEqual(before);
    expect(await keys()).toEqual(["after", "before"]);
  });

  test("each name has its own state, and keeps the last one that was saved under it", async () => {
    const { database, add, ids } = await open();
    await database.saveState("empty");
    await add(1);
    await database.saveState("one");
    await add(2);
    await database.saveState("two");
    expect([await database.restoreState("one"), await ids()]).toEqual([true, [[1], [1]]]);
    await add(3);
    await database.saveState("one");
    expect([await database.restoreState("two"), await ids()]).toEqual([
      true,
      [
        [1, 2],
        [1, 2],
      ],
    ]);
    expect([await database.restoreState("one"), await ids()]).toEqual([
      true,
      [
        [1, 3],
        [1, 3],
      ],
    ]);
    expect([await database.restoreState("empty"), await ids()]).toEqual([true, [[], []]]);
  });

  test("they are listed with the time of their saving; a deleted one is gone, and others are not", async () => {
    const { database, add, ids } = await open();
    const fromMs = Date.now();
    for (const name of ["b", "a", "Some-name_1.0"]) {
      await add(name.length);
      await database.saveState(name);
      if (name === "b") await database.write((tx) => tx.run(sql`DELETE FROM notes WHERE id = ${1}`));
      await database.write((tx) => tx.run(sql`DELETE FROM lists WHERE id > ${0}`));
    }
    const listed = await database.listStates();
    expect(listed.map(({ name }) => name)).toEqual(["Some-name_1.0", "a", "b"]);
    // The time of saving comes from the database's clock, or from the file system's clock, which is only as precise as its ticks.
    for (const { saved_ms } of listed) expect(saved_ms).toBeWithin(fromMs - 1_000, Date.now() + 1_000);
    expect([await database.deleteState("a"), await database.deleteState("a"), await database.deleteState("c")]).toEqual([true, false, false]);
    expect((await database.listStates()).map(({ name }) => name)).toEqual(["Some-name_1.0", "b"]);
    const before = await ids();
    expect([await database.restoreState("a"), await ids()]).toEqual([false, before]);
    expect([await database.restoreState("b"), await ids()]).toEqual([true, [[1], [1]]]);
  });

  test("without a state the world is empty, with its tables and its states, and accepts writes", async () => {
    const { database, add, addKey, ids, keys } = await open();
    await add(1);
    await addKey("k");
    for (const name of ["one", "undefined"]) await database.saveState(name);
    expect([await database.restoreState(undefined), await ids(), await keys()]).toEqual([true, [[], []], ["k"]]);
    await add(1);
    expect(await database.restoreState("one")).toBe(true);
  });

  test("all caches are emptied, also in other processes", async () => {
    const { store, database, add } = await open();
    await add(1);
    await database.saveState("one");
    const reported: string[] = [];
    database.onInvalidate((kind) => kind === undefined && reported.push("own"));
    // On SQLite, no other process has the world open.
    const others = driver.name === "postgres" ? [await store.open(migrations)] : [];
    for (const other of others) other.onInvalidate((kind) => kind === undefined && reported.push("other"));
    reported.length = 0;
    expect(await database.restoreState("one")).toBe(true);
    expect(await becomesTrue(() => new Set(reported).size === 1 + others.length, 20_000)).toBe(true);
    if (driver.name === "sqlite") {
      reported.length = 0;
      expect(await database.restoreState("none")).toBe(false);
      expect(reported).toEqual([]);
      return;
    }
    // A process also gets its own announcements, and late ones at any time, because the table stores them.
    const announced = () => database.reader.all(sql`SELECT g.slot, g.generation FROM fact_generations g ORDER BY g.slot`);
    const before = await announced();
    expect(before).not.toEqual([]);
    expect([await database.restoreState("none"), await announced()]).toEqual([false, before]);
  });

  test("a state of an older version of the program is converted, or refused with nothing changed", async () => {
    const { store, database, add } = await open();
    await add(1);
    await database.saveState("one");
    await add(2);
    await database.close();
    const later = closedAfterwards(await store.open(newer));
    const found = async () => await later.reader.all(sql`SELECT l.id, l.more FROM lists l ORDER BY l.id`);
    const [one, two] = [
      { id: 1, more: "m" },
      { id: 2, more: "m" },
    ];
    if (driver.name === "sqlite") {
      expect([await later.restoreState("one"), await found()]).toEqual([true, [one]]);
      return;
    }
    await expect(later.restoreState("one")).rejects.toBeInstanceOf(StateOutdated);
    expect(await found()).toEqual([one, two]);
    await later.saveState("one");
    expect([await later.restoreState("one"), await found()]).toEqual([true, [one, two]]);
  });

  if (driver.name === "sqlite") {
    test("in memory, too, they are listed by name", async () => {
      const memory = closedAfterwards(await openSqlite({ folder: ":memory:", migrations }));
      for (const name of ["b", "Some", "a"]) await memory.saveState(name);
      expect((await memory.listStates()).map(({ name }) => name)).toEqual(["Some", "a", "b"]);
    });
  }

  if (driver.name === "postgres") {
    test("a process that missed the notification notices the restore by a number that grows", async () => {
      const { database } = await open();
      await database.saveState("one");
      const sum = async () =>
        (await database.reader.get<{ sum: number }>(sql`SELECT CAST(SUM(g.generation) AS BIGINT) AS sum FROM fact_generations g`))?.sum ?? 0;
      const sums = [await sum()];
      for (let turn = 0; turn < 3; turn++) {
        await database.restoreState("one");
        sums.push(await sum());
      }
      expect(sums).toEqual([...new Set(sums)].sort((a, b) => a - b));
    });

    test("an invalid state name reaches no statement", async () => {
      const { database, add, ids } = await open();
      await add(1);
      for (const name of ["", "a'; DELETE FROM notes; SELECT '", "a b", "x".repeat(65), "é"]) {
        await expect(database.saveState(name)).rejects.toBeInstanceOf(RangeError);
        await expect(database.restoreState(name)).rejects.toBeInstanceOf(RangeError);
        await expect(database.deleteState(name)).rejects.toBeInstanceOf(RangeError);
      }
      await database.saveState("x".repeat(64));
      expect((await database.listStates()).map(({ name }) => name)).toEqual(["x".repeat(64)]);
      expect(await ids()).toEqual([[1], [1]]);
    });
  }
});
