import { expect, test } from "bun:test";
import fc from "fast-check";
import { isStorableText } from "#kernel/text";
import type { Database } from "#storage/database";
import { type KeysetOrder, type ListPage, readPage } from "#storage/keyset";
import { sql } from "#storage/sql";
import { describeDrivers, openNew } from "./stores.ts";

type Note = { id: string; text: string };

const newestFirst: KeysetOrder<Note> = { columns: ["notes.id"], direction: "descending", keyOf: ({ id }) => [id] };
const byText: KeysetOrder<Note> = { columns: ["notes.text", "notes.id"], direction: "ascending", keyOf: ({ text, id }) => [text, id] };

const read = (database: Database, order: KeysetOrder<Note>, page: Parameters<typeof readPage>[3]): Promise<ListPage<Note>> =>
  readPage<Note>(database.reader, sql`SELECT CAST(notes.id AS TEXT) AS id, notes.text FROM notes WHERE notes.list = ${"a"}`, order, page);

function compare(order: KeysetOrder<Note>, a: Note, b: Note): number {
  if (order === newestFirst) return Number(BigInt(b.id) - BigInt(a.id));
  return Buffer.compare(Buffer.from(a.text), Buffer.from(b.text)) || Number(BigInt(a.id) - BigInt(b.id));
}

/** Ids that differ only in digits that a double would lose. */
const idOf = (index: number): string => String(9_007_199_254_740_000n + BigInt(index) * 3n);

const index = fc.nat({ max: 30 });

const change = fc.record({ put: fc.array(index, { maxLength: 4 }), drop: fc.array(index, { maxLength: 12 }) });

const scenario = fc.record({
  order: fc.constantFrom(newestFirst, byText),
  isBackward: fc.boolean(),
  limit: fc.integer({ min: 1, max: 6 }),
  texts: fc.array(fc.string({ unit: "binary", maxLength: 3 }).filter(isStorableText), { minLength: 1, maxLength: 4 }),
  first: fc.uniqueArray(index, { maxLength: 25 }),
  changes: fc.array(change, { maxLength: 8 }),
});

describeDrivers("keyset paging", (driver) => {
  test("rows that stay are seen once, in order, in both directions, while others are added and deleted", async () => {
    const database = await openNew(driver);
    await fc.assert(
      fc.asyncProperty(scenario, async ({ order, isBackward, limit, texts, first, changes }) => {
        const noteOf = (index: number): Note => ({ id: idOf(index), text: texts[index % texts.length] as string });
        const present = new Map<string, Note>();
        const stayed = new Set<string>();
        await database.write(async (tx) => {
          await tx.run(sql`DELETE FROM notes`);
          await tx.run(sql`INSERT INTO notes (id, list, text) VALUES (${"1"}, ${"of another list"}, ${""})`);
          for (const note of first.map(noteOf)) {
            await tx.run(sql`INSERT INTO notes (id, list, text) VALUES (${note.id}, ${"a"}, ${note.text})`);
            present.set(note.id, note);
            stayed.add(note.id);
          }
        });
        const apply = (index: number) =>
          database.write(async (tx) => {
            for (const note of (changes[index]?.put ?? []).map(noteOf)) {
              await tx.run(sql`INSERT INTO notes (id, list, text) VALUES (${note.id}, ${"a"}, ${note.text}) ON CONFLICT (id) DO NOTHING`);
              present.set(note.id, note);
            }
            for (const note of (changes[index]?.drop ?? []).map(noteOf)) {
              await tx.run(sql`DELETE FROM notes WHERE id = ${note.id}`);
              present.delete(note.id);
              stayed.delete(note.id);
            }
          });
        // A cursor behind the last row, which is above every text and below every id.
        const end = order === newestFirst ? ["0"] : ["\u{10ffff}".repeat(4), "0"];
        let seen: Note[] = [];
        let page = await read(database, order, isBackward ? { limit, before: end } : { limit });
        for (let turn = 0; ; turn++) {
          expect(page.rows.length).toBeLessThanOrEqual(limit);
          const sorted = [...present.values()].sort((a, b) => compare(order, a, b));
          const { firstKey, lastKey } = page;
          if (firstKey !== undefined && lastKey !== undefined) {
            const at = (key: readonly string[]) => sorted.findIndex((note) => order.keyOf(note).join() === key.join());
            expect(page.hasPrevious).toBe(at(firstKey) > 0);
            expect(page.hasNext).toBe(at(lastKey) < sorted.length - 1);
            expect(page.rows.map(({ id }) => id)).toEqual(sorted.slice(at(firstKey), at(lastKey) + 1).map(({ id }) => id));
          }
          seen = isBackward ? [...page.rows, ...seen] : [...seen, ...page.rows];
          const key = isBackward ? firstKey : lastKey;
          if (key === undefined || !(isBackward ? page.hasPrevious : page.hasNext)) break;
          await apply(turn);
          page = await read(database, order, isBackward ? { limit, before: key } : { limit, after: key });
        }
        const ids = seen.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        for (const id of stayed) expect(ids).toContain(id);
        expect(seen).toEqual([...seen].sort((a, b) => compare(order, a, b)));
      }),
      { numRuns: 80 },
    );
  }, 30_000);

  test("a link does not point to a deleted neighbour", async () => {
    const database = await openNew(driver);
    const put = (...ids: number[]) =>
      database.write(async (tx) => {
        await tx.run(sql`DELETE FROM notes`);
        for (const id of ids) await tx.run(sql`INSERT INTO notes (id, list, text) VALUES (${id}, ${"a"}, ${"t"})`);
      });
    await put(2, 3, 4);
    expect(await read(database, newestFirst, { limit: 2, after: ["5"] })).toMatchObject({ hasPrevious: false, hasNext: true });
    expect(await read(database, newestFirst, { limit: 2, before: ["1"] })).toMatchObject({ hasPrevious: true, hasNext: false });
    await put(1, 2, 3, 4, 5);
    expect(await read(database, newestFirst, { limit: 2, after: ["5"] })).toMatchObject({ hasPrevious: true, hasNext: true });
    expect(await read(database, newestFirst, { limit: 2, before: ["1"] })).toMatchObject({ hasPrevious: true, hasNext: true });
  });

  test("beyond an end there is an empty page with a link back, inclusive if requested", async () => {
    const database = await openNew(driver);
    await database.write(async (tx) => {
      for (const id of [2, 3, 4]) await tx.run(sql`INSERT INTO notes (id, list, text) VALUES (${id}, ${"a"}, ${"t"})`);
    });
    for (const id of [2, 1])
      expect(await read(database, newestFirst, { limit: 2, after: [String(id)] })).toEqual({ rows: [], hasPrevious: true, hasNext: false });
    for (const id of [4, 5])
      expect(await read(database, newestFirst, { limit: 2, before: [String(id)] })).toEqual({ rows: [], hasPrevious: false, hasNext: true });
    const ids = async (page: Parameters<typeof readPage>[3]) => {
      const { rows, hasPrevious, hasNext } = await read(database, newestFirst, page);
      return [...rows.map(({ id }) => Number(id)), hasPrevious, hasNext];
    };
    expect(await ids({ limit: 2, before: ["2"], isInclusive: true })).toEqual([3, 2, true, false]);
    expect(await ids({ limit: 2, after: ["4"], isInclusive: true })).toEqual([4, 3, false, true]);
    expect(await ids({ limit: 3, after: ["4"], isInclusive: true })).toEqual([4, 3, 2, false, false]);
    expect(await ids({ limit: 2, after: ["4"] })).toEqual([3, 2, true, false]);
    expect(await ids({ limit: 1, after: ["4"] })).toEqual([3, true, true]);
    expect(await ids({ limit: 2, before: ["2"] })).toEqual([4, 3, false, true]);
    // The row of the cursor is also a row to which the caller can go back, even if it is the only row.
    await database.write((tx) => tx.run(sql`DELETE FROM notes WHERE id <> ${3}`));
    expect([await ids({ limit: 2, after: ["3"] }), await ids({ limit: 2, before: ["3"] })]).toEqual([
      [true, false],
      [false, true],
    ]);
    await database.write((tx) => tx.run(sql`DELETE FROM notes`));
    expect([await ids({ limit: 2, after: ["3"] }), await ids({ limit: 2, before: ["3"] })]).toEqual([
      [false, false],
      [false, false],
    ]);
  });

  test("an empty list is an empty page", async () => {
    const database = await openNew(driver);
    expect(await read(database, newestFirst, { limit: 5 })).toEqual({ rows: [], hasPrevious: false, hasNext: false });
    expect(await read(database, newestFirst, { limit: 5, after: ["7"] })).toEqual({ rows: [], hasPrevious: false, hasNext: false });
  });
});
