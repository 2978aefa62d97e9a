/** What a body may take for granted is looked at all the same, and its body runs once where it was so. */
import { expect, test } from "bun:test";
import { type Sql, sql } from "#storage/sql";
import { describeDrivers, openNew } from "./stores.ts";

const insert = (id: number, list: string | null = "a") => sql`INSERT INTO notes (id, list) VALUES (${id}, ${list})`;

describeDrivers("what nearly always is so", (driver) => {
  test("a usual read that found nothing finds what has come since, one row or several, and runs once while there is none", async () => {
    const database = await openNew(driver);
    let runs = 0;
    const found = (query: Sql) =>
      database.write(async (tx) => {
        runs++;
        return (await tx.usual.all<{ id: number }>(query)).map(({ id }) => id);
      });
    for (const count of [1, 2]) {
      const query = sql`SELECT n.id FROM notes n WHERE n.list = ${`list ${count}`} ORDER BY n.id`;
      runs = 0;
      for (let turn = 0; turn < 3; turn++) expect(await found(query)).toEqual([]);
      expect(runs).toBe(3);
      const ids = Array.from({ length: count }, (_, at) => 10 * count + at);
      for (const id of ids) await database.write((tx) => tx.runOne(insert(id, `list ${count}`)));
      for (let turn = 0; turn < 2; turn++) expect(await found(query)).toEqual(ids);
    }
  });

  test("an insertNew that fails for another reason than its key is refused for that reason, at once", async () => {
    const database = await openNew(driver);
    let runs = 0;
    const response = database.write(async (tx) => {
      runs++;
      await tx.insertNew(insert(1, null));
    });
    await expect(response).rejects.toThrow(/null/i);
    expect(runs).toBe(1);
  });
});
