import { expect, test } from "bun:test";
import { sql } from "#storage/sql";
import { closedAfterwards, describeDrivers, openNew } from "./stores.ts";

describeDrivers("locks", (driver) => {
  test("one of fifty check-then-writes under one lock wins", async () => {
    const store = await driver.newStore();
    const databases = [await store.open()];
    // Only on PostgreSQL can a second process take part in this test.
    if (driver.name === "postgres") databases.push(closedAfterwards(await store.open()));
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, id) =>
        (databases[id % databases.length] as (typeof databases)[0]).write(async (tx) => {
          await tx.lock("notes", "list a");
          const taken = await tx.get(sql`SELECT 1 AS one FROM notes WHERE list = ${"a"} AND text = ${"same name"}`);
          if (taken !== undefined) return "taken";
          await tx.run(sql`INSERT INTO notes (id, list, text) VALUES (${id}, ${"a"}, ${"same name"})`);
          return "written";
        }),
      ),
    );
    expect(responses.filter((response) => response === "written")).toHaveLength(1);
    expect(await databases[0]?.reader.get(sql`SELECT COUNT(*) AS count FROM notes`)).toEqual({ count: 1 });
  });

  test("counting under one lock loses no step", async () => {
    const database = await openNew(driver);
    await database.write((tx) => tx.run(sql`INSERT INTO notes (id, list, amount) VALUES (${1}, ${"a"}, ${0})`));
    await Promise.all(
      Array.from({ length: 50 }, () =>
        database.write(async (tx) => {
          await tx.lock("notes", "1");
          const row = await tx.get<{ amount: number }>(sql`SELECT amount FROM notes WHERE id = ${1}`);
          await tx.run(sql`UPDATE notes SET amount = ${(row?.amount ?? 0) + 1} WHERE id = ${1}`);
        }),
      ),
    );
    expect(await database.reader.get(sql`SELECT amount FROM notes`)).toEqual({ amount: 50 });
  });

  test("locks in opposite orders do not end in an error", async () => {
    const database = await openNew(driver);
    let runs = 0;
    const both = (first: string, second: string, id: number) =>
      database.write(async (tx) => {
        runs++;
        await tx.lock("notes", first);
        // The wait is so long that the other transaction can take its first lock too.
        if (driver.name === "postgres") await tx.get(sql`SELECT CAST(pg_sleep(0.2) AS TEXT) AS slept`);
        await tx.lock("notes", second);
        return tx.run(sql`INSERT INTO notes (id, list) VALUES (${id}, ${"a"})`);
      });
    expect(await Promise.all([both("a", "b", 1), both("b", "a", 2)])).toEqual([1, 1]);
    // PostgreSQL ends one of the two deadlocked transactions. If the ended transaction takes its locks again before the other one wakes up, the two
    // deadlock once more.
    expect(runs)[driver.name === "postgres" ? "toBeGreaterThanOrEqual" : "toBe"](driver.name === "postgres" ? 3 : 2);
    expect(await database.reader.get(sql`SELECT COUNT(*) AS count FROM notes`)).toEqual({ count: 2 });
  });
});
