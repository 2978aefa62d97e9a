import { expect, test } from "bun:test";
import fc from "fast-check";
import { allWithIds, allWithKeys } from "#storage/id-lists";
import { sql } from "#storage/sql";
import { describeDrivers, openNew } from "./stores.ts";

/** Ids that differ only in digits that a double would lose. */
const idOf = (index: number): string => String(9_007_199_254_740_000n + BigInt(index) * 3n);

const STORED = 600;
/** Random lists of stored and other ids. Some ids are in a list twice, and some lists have more ids than one statement takes. */
const indexes = fc.oneof(
  fc.array(fc.nat({ max: 2 * STORED }), { maxLength: 20 }),
  fc.array(fc.nat({ max: 2 * STORED }), { minLength: 1_000, maxLength: 1_500, size: "max" }),
);

describeDrivers("lists of ids", (driver) => {
  test("each named row is read once, however many are named", async () => {
    const database = await openNew(driver);
    await database.write(async (tx) => {
      for (let index = 0; index < STORED; index++) {
        await tx.runOne(sql`INSERT INTO notes (list, id, text) VALUES (${"a"}, ${idOf(index)}, ${`note ${index} 𝄞`})`);
      }
    });
    const { reader } = database;
    await fc.assert(
      fc.asyncProperty(indexes, async (named) => {
        const expected = [...new Set(named)].filter((index) => index < STORED).sort((a, b) => a - b);
        const ids = named.map(idOf);
        const base = sql`SELECT CAST(notes.id AS TEXT) AS id FROM notes WHERE notes.list = ${"a"}`;
        const byId = await allWithIds<{ id: string }>(reader, base, "notes.id", ids);
        expect(byId.map(({ id }) => id).sort()).toEqual(expected.map(idOf));
        const join = "SELECT n.text FROM wanted w JOIN notes n ON n.id = w.one AND n.id = w.other WHERE n.list = ?";
        const keys = ids.flatMap((id) => [[id, id] as const, [id, "7"] as const]);
        const byKey = await allWithKeys<{ text: string }>(reader, keys, join, ["a"]);
        // order: the statement asks for no order.
        expect(byKey.map(({ text }) => text).sort()).toEqual(expected.map((index) => `note ${index} 𝄞`).sort());
      }),
      { numRuns: 25 },
    );
  }, 60_000);
});
