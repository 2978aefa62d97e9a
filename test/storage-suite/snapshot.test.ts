import { expect, test } from "bun:test";
import type { Database } from "#storage/database";
import { sql } from "#storage/sql";
import { describeDrivers, openNew } from "./stores.ts";

async function fill(database: Database): Promise<void> {
  await database.write(async (tx) => {
    for (const id of [1, 2]) await tx.run(sql`INSERT INTO notes (id, list, amount) VALUES (${id}, ${"a"}, ${100})`);
  });
}

const move = (database: Database, amount: number): Promise<void> =>
  database.write(async (tx) => {
    await tx.run(sql`UPDATE notes SET amount = amount - ${amount} WHERE id = ${1}`);
    await tx.run(sql`UPDATE notes SET amount = amount + ${amount} WHERE id = ${2}`);
  });

const amountOf = (id: number) => sql`SELECT amount FROM notes WHERE id = ${id}`;

describeDrivers("snapshots", (driver) => {
  test("the reads of a snapshot show one moment, while the world continues", async () => {
    const database = await openNew(driver);
    await fill(database);
    const moved = new Set<number>();
    const sums = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        database.snapshot(async (reader) => {
          const first = await reader.get<{ amount: number }>(amountOf(1));
          // The body may run a second time.
          if (!moved.has(index)) await move(database, 10 + index);
          moved.add(index);
          expect((await database.reader.get<{ amount: number }>(amountOf(1)))?.amount).toBeLessThanOrEqual(first?.amount ?? 0);
          const [second] = await reader.all<{ amount: number }>(amountOf(2));
          return (first?.amount ?? 0) + (second?.amount ?? 0);
        }),
      ),
    );
    expect(sums).toEqual([200, 200, 200, 200, 200]);
    expect(await database.snapshot((reader) => reader.get(amountOf(2)))).toEqual({ amount: 100 + 10 + 11 + 12 + 13 + 14 });
  });

  test("a snapshot that throws ends, and cannot write", async () => {
    const database = await openNew(driver);
    await expect(
      database.snapshot(async () => {
        throw new Error("refused");
      }),
    ).rejects.toThrow("refused");
    await expect(database.snapshot((reader) => reader.all(sql`DELETE FROM notes`))).rejects.toThrow(/read-?only/i);
    await fill(database);
    expect(await database.snapshot((reader) => reader.get(amountOf(1)))).toEqual({ amount: 100 });
  });

  test("the reader of a snapshot that ended cannot be used", async () => {
    const database = await openNew(driver);
    const kept = await database.snapshot(async (reader) => reader);
    await expect(kept.get(amountOf(1))).rejects.toThrow("after its body had ended");
    await expect(kept.all(amountOf(1))).rejects.toThrow("after its body had ended");
  });

  test("close waits for a running snapshot", async () => {
    const database = await openNew(driver);
    await fill(database);
    const running = database.snapshot(async (reader) => {
      await Bun.sleep(20);
      return reader.get(amountOf(1));
    });
    await database.close();
    expect(await running).toEqual({ amount: 100 });
    await expect(database.snapshot(async () => 1)).rejects.toThrow("closed");
  });
});
