/** Checks how writers take turns and share commits, which only SQLite does. */
import { afterEach, describe, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { nextTurn } from "#kernel/turns";
import type { Database, Transaction } from "#storage/database";
import { sql } from "#storage/sql";
import { openSqlite } from "#storage/sqlite/open";
import { cleanUp, closedAfterwards, notes, openNew, sqlite, temporaryFolder } from "./stores.ts";

const insert = (id: number) => sql`INSERT INTO notes (id, list) VALUES (${id}, ${"a"})`;
const count = sql`SELECT COUNT(*) AS count FROM notes`;

async function openCounting(): Promise<{ database: Database; groups: number[] }> {
  const groups: number[] = [];
  const database = closedAfterwards(await openSqlite({ folder: ":memory:", migrations: [notes], onCommit: (writes) => groups.push(writes) }));
  return { database, groups };
}

describe("group commit", () => {
  afterEach(cleanUp);

  test("writes of one turn of the event loop share a commit", async () => {
    const { database, groups } = await openCounting();
    await Promise.all(Array.from({ length: 64 }, (_, id) => database.write((tx) => tx.run(insert(id)))));
    expect(groups).toEqual([64]);
  });

  test("continuous writes share commits, and a single one is not delayed", async () => {
    const { database, groups } = await openCounting();
    const writer = async (first: number) => {
      for (let id = first; id < first + 20; id++) await database.write((tx) => tx.run(insert(id)));
    };
    await Promise.all(Array.from({ length: 32 }, (_, index) => writer(index * 20)));
    expect(groups.reduce((sum, writes) => sum + writes, 0)).toBe(640);
    expect(groups.length).toBeLessThan(60);
    groups.length = 0;
    await writer(10_000);
    expect(groups).toEqual(new Array(20).fill(1));
  });

  test("a group has at most 1,000 writes, and fewer if they have many statements", async () => {
    const { database, groups } = await openCounting();
    await Promise.all(Array.from({ length: 2_500 }, (_, id) => database.write((tx) => tx.run(insert(id)))));
    expect(groups).toEqual([1_000, 1_000, 500]);
    groups.length = 0;
    const many = async (tx: Transaction, first: number) => {
      for (let id = first; id < first + 2_000; id++) await tx.run(insert(id));
    };
    await Promise.all([10_000, 20_000, 30_000, 40_000].map((first) => database.write((tx) => many(tx, first))));
    expect(groups).toEqual([3, 1]);
    expect(await database.reader.get(count)).toEqual({ count: 10_500 });
    groups.length = 0;
    // The number of statements is exactly the number that fits into a group.
    const half = async (tx: Transaction) => {
      for (let statement = 0; statement < 2_500; statement++) await tx.run(sql`UPDATE notes SET amount = 1 WHERE id = ${1}`);
    };
    await Promise.all([1, 2, 3].map(() => database.write(half)));
    expect(groups).toEqual([2, 1]);
  });

  test("no write is acknowledged before the commit: the reader sees all acknowledged ones", async () => {
    const database = await openNew(sqlite);
    await Promise.all(
      Array.from({ length: 200 }, async (_, id) => {
        const response = database.write(async (tx) => {
          await tx.run(insert(id));
          if (id % 2 === 1) throw new Error("refused");
        });
        const isRefused = await response.then(
          () => false,
          () => true,
        );
        const found = await database.reader.get(sql`SELECT 1 AS one FROM notes WHERE id = ${id}`);
        expect(found !== undefined).toBe(!isRefused);
        // Refused writes of the group also end only now, because a write of an earlier one may be the reason of the refusal.
        expect(await database.reader.get(count)).toEqual({ count: 100 });
      }),
    );
  });

  test("any mix of bodies has the same effect as one after another", async () => {
    const { database } = await openCounting();
    const step = fc.record({ id: fc.integer({ min: 0, max: 5 }), kind: fc.constantFrom("insert", "delete", "take", "throw", "duplicate") });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 12 }), async (bodies) => {
        await database.write((tx) => tx.run(sql`DELETE FROM notes`));
        const responses = await Promise.allSettled(
          bodies.map((steps) =>
            database.write(async (tx) => {
              for (const { id, kind } of steps) {
                if (kind === "throw") throw new Error("refused");
                if (kind === "delete") await tx.run(sql`DELETE FROM notes WHERE id = ${id}`);
                else if (kind === "take") await tx.get(sql`DELETE FROM notes WHERE id = ${id} RETURNING id`);
                else if (kind === "duplicate") await tx.run(insert(id));
                else await tx.run(sql`INSERT INTO notes (id, list) VALUES (${id}, ${"a"}) ON CONFLICT (id) DO NOTHING`);
              }
            }),
          ),
        );
        let model = new Set<number>();
        for (const [index, steps] of bodies.entries()) {
          const after = new Set(model);
          const isRefused = steps.some(({ id, kind }) => {
            if (kind === "delete" || kind === "take") after.delete(id);
            else if (kind === "throw" || (kind === "duplicate" && after.has(id))) return true;
            else after.add(id);
            return false;
          });
          expect(responses[index]?.status).toBe(isRefused ? "rejected" : "fulfilled");
          if (!isRefused) model = after;
        }
        const stored = await database.reader.all<{ id: number }>(sql`SELECT id FROM notes ORDER BY id`);
        expect(stored.map(({ id }) => id)).toEqual([...model].sort((a, b) => a - b));
      }),
      { numRuns: 200 },
    );
  });

  test("a body that awaits anything else is refused, and delays nobody", async () => {
    const { database } = await openCounting();
    const elsewhere = Promise.withResolvers<void>();
    const late = database.write(async (tx) => {
      await tx.run(insert(1));
      await elsewhere.promise;
      await tx.run(insert(2));
    });
    const nested = database.write(async (tx) => {
      await tx.run(insert(3));
      await database.write((inner) => inner.run(insert(4)));
    });
    const others = Array.from({ length: 10 }, (_, index) => database.write((tx) => tx.run(insert(10 + index))));
    for (const response of await Promise.allSettled([late, nested])) {
      expect(response).toMatchObject({ status: "rejected", reason: { message: "the body of a write awaited something other than its transaction" } });
    }
    await Promise.all(others);
    // The transaction function that waited too long continues, but writes nothing.
    elsewhere.resolve();
    await nextTurn();
    const stored = await database.reader.all<{ id: number }>(sql`SELECT id FROM notes WHERE id < ${10} ORDER BY id`);
    expect(stored.map(({ id }) => id)).toEqual([4]);
  });

  test("a body that only reads writes nothing to the file", async () => {
    const folder = temporaryFolder();
    const database = closedAfterwards(await openSqlite({ folder, migrations: [notes] }));
    await database.write((tx) => tx.run(insert(1)));
    const logBytes = () => statSync(join(folder, "default.sqlite-wal")).size;
    const before = logBytes();
    expect(await database.write((tx) => tx.get(count))).toEqual({ count: 1 });
    expect(logBytes()).toBe(before);
    await database.write((tx) => tx.run(insert(2)));
    expect(logBytes()).toBeGreaterThan(before);
  });
});
