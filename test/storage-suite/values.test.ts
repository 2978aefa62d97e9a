import { expect, test } from "bun:test";
import fc from "fast-check";
import { isStorableText } from "#kernel/text";
import type { Database } from "#storage/database";
import { type SqlValue, sql } from "#storage/sql";
import { describeDrivers, openNew } from "./stores.ts";

/** Texts of all Unicode characters that can reach a store, and of forms that cause errors in databases. */
const text = fc
  .oneof(
    fc.string({ unit: "binary" }),
    fc.string({ unit: "grapheme" }),
    fc.constantFrom("", " ", "\ufeff", "\uffff", "\u{10ffff}", "'", "\\", '"', "?", "$1", "123", "1e3", "0x1f", "\n", "NULL"),
  )
  .filter(isStorableText);

const id63 = fc.bigInt({ min: 1n, max: 9_223_372_036_854_775_807n }).map(String);

async function roundTrip(database: Database, id: string, values: readonly SqlValue[]) {
  const [body = null, amount = null, flag = null, bytes = null] = values;
  return database.write(async (tx) => {
    await tx.run(sql`DELETE FROM notes`);
    await tx.run(sql`INSERT INTO notes (id, list, text, amount, flag, bytes) VALUES (${id}, ${"list"}, ${body}, ${amount}, ${flag}, ${bytes})`);
    return tx.get<{ id: string; text: string; amount: number; flag: number; bytes: Uint8Array }>(
      sql`SELECT CAST(notes.id AS TEXT) AS id, text, amount, flag, bytes FROM notes WHERE notes.id = ${id}`,
    );
  });
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

describeDrivers("values", (driver) => {
  test("text, ids, numbers, bytes and NULL are read as they were written", async () => {
    const database = await openNew(driver);
    const safe = fc.maxSafeInteger();
    const flag = fc.integer({ min: 0, max: 1 });
    const values = fc.tuple(fc.option(text), fc.option(safe), fc.option(flag), fc.option(fc.uint8Array({ maxLength: 300 })));
    await fc.assert(
      fc.asyncProperty(id63, values, async (id, given) => {
        const found = await roundTrip(database, id, given);
        expect({ ...found }).toEqual({ id, text: given[0], amount: given[1], flag: given[2], bytes: given[3] } as never);
        if (found?.bytes) expect(Object.getPrototypeOf(found.bytes)).toBe(Uint8Array.prototype);
      }),
      { numRuns: 150 },
    );
  });

  test("text is ordered and compared by its UTF-8 bytes", async () => {
    const database = await openNew(driver);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(text, { minLength: 2, maxLength: 12 }), text, async (texts, bound) => {
        const { ordered, above } = await database.write(async (tx) => {
          await tx.run(sql`DELETE FROM notes`);
          for (const [id, each] of texts.entries()) await tx.run(sql`INSERT INTO notes (id, list, text) VALUES (${id}, ${"l"}, ${each})`);
          return {
            ordered: await tx.all<{ text: string }>(sql`SELECT text FROM notes WHERE list = ${"l"} ORDER BY text`),
            above: await tx.all<{ text: string }>(sql`SELECT text FROM notes WHERE text > ${bound} ORDER BY text`),
          };
        });
        const expected = [...texts].sort(compareBytes);
        expect(ordered.map((row) => row.text)).toEqual(expected);
        expect(above.map((row) => row.text)).toEqual(expected.filter((each) => compareBytes(each, bound) > 0));
      }),
      { numRuns: 60 },
    );
  });

  test("an id is found by its decimal text, alone, in a list, in a row value, and compared as a number", async () => {
    const database = await openNew(driver);
    const ids = ["9", "10", "9007199254740993", "9223372036854775806", "9223372036854775807"];
    await database.write(async (tx) => {
      for (const id of ids) await tx.run(sql`INSERT INTO notes (id, list, text) VALUES (${id}, ${"l"}, ${"t"})`);
    });
    const find = async (statement: ReturnType<typeof sql>) => (await database.reader.all<{ id: string }>(statement)).map(({ id }) => id);
    for (const id of ids) expect(await find(sql`SELECT CAST(n.id AS TEXT) AS id FROM notes AS n WHERE n.id = ${id}`)).toEqual([id]);
    const [nine = "", , odd = "", high = ""] = ids;
    expect(await find(sql`SELECT CAST(n.id AS TEXT) AS id FROM notes AS n WHERE n.id IN (${high}, ${nine}) ORDER BY n.id`)).toEqual([nine, high]);
    expect(await find(sql`SELECT CAST(n.id AS TEXT) AS id FROM notes AS n WHERE n.id > ${"9"} ORDER BY n.id`)).toEqual(ids.slice(1));
    expect(await find(sql`SELECT CAST(n.id AS TEXT) AS id FROM notes AS n WHERE (n.text, n.id) < (${"t"}, ${odd}) ORDER BY n.text, n.id`)).toEqual([
      "9",
      "10",
    ]);
  });

  test("a number beyond 2^53 is refused, never rounded", async () => {
    const database = await openNew(driver);
    await database.write((tx) => tx.run(sql`INSERT INTO notes (id, list, amount) VALUES (${1}, ${"l"}, ${"9007199254740993"})`));
    await expect(database.reader.get(sql`SELECT amount FROM notes`)).rejects.toThrow("2^53");
    await expect(database.reader.all(sql`SELECT amount FROM notes`)).rejects.toThrow("2^53");
    expect(await database.reader.get(sql`SELECT CAST(amount AS TEXT) AS amount FROM notes`)).toEqual({ amount: "9007199254740993" });
    await database.write((tx) => tx.run(sql`UPDATE notes SET amount = amount + ${"9000000000000000000"}`));
    expect(await database.reader.get(sql`SELECT CAST(amount AS TEXT) AS amount FROM notes`)).toEqual({ amount: "9009007199254740993" });
  });

  test("the largest and the smallest exact numbers are read, and the next ones are not", async () => {
    const database = await openNew(driver);
    await database.write((tx) => tx.run(sql`INSERT INTO notes (id, list) VALUES (${1}, ${"l"})`));
    const store = (amount: string) => database.write((tx) => tx.run(sql`UPDATE notes SET amount = ${amount} WHERE id = ${1}`));
    for (const sign of ["", "-"]) {
      await store(`${sign}9007199254740991`);
      expect(await database.reader.get(sql`SELECT amount FROM notes`)).toEqual({ amount: Number(`${sign}9007199254740991`) });
      await store(`${sign}9007199254740992`);
      await expect(database.reader.get(sql`SELECT amount FROM notes`)).rejects.toThrow("2^53");
    }
  });

  test("comparisons, counts and sums read as numbers or text", async () => {
    const database = await openNew(driver);
    await database.write(async (tx) => {
      for (const id of [1, 2, 3]) await tx.run(sql`INSERT INTO notes (id, list, amount) VALUES (${id}, ${"l"}, ${id * 10})`);
    });
    const found = await database.reader.get(
      sql`SELECT COUNT(*) AS count, CAST(SUM(amount) AS TEXT) AS sum, COUNT(*) > ${2} AS more, MAX(amount) AS highest FROM notes`,
    );
    expect({ ...found } as unknown).toEqual({ count: 3, sum: "60", more: 1, highest: 30 });
  });

  test("a question mark in a literal or comment is not a value", async () => {
    const database = await openNew(driver);
    const found = await database.reader.get(sql`SELECT '? it''s ?' AS "why?", CAST(${"x"} AS TEXT) AS given /* ? */ -- ?`);
    expect({ ...found } as unknown).toEqual({ "why?": "? it's ?", given: "x" });
  });
});
