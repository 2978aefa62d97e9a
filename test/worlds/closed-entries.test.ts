/**
 * Checks that the entries of a world file may only have known keys, at every depth, because a key that nobody reads is a mistake of the file's
 * author.
 */
import { expect, test } from "bun:test";
import { entryReader } from "#graph/worlds/file/entry-reader";
import { sectionsOf } from "#graph/worlds/file/import-export";
import { buildRegistry } from "#main";
import { scrambled } from "./scrambled-world.ts";

const sections = sectionsOf(buildRegistry());

type Schema = Readonly<Record<string, unknown>>;

/** Every object in the schema that lists its keys, with its path in the entry. */
function* objectsIn(schema: Schema, place: string): Generator<{ readonly place: string; readonly schema: Schema }> {
  if (typeof schema.properties === "object" && schema.properties !== null) {
    yield { place, schema };
    for (const [key, of] of Object.entries(schema.properties)) yield* objectsIn(of as Schema, `${place}.${key}`);
  }
  if (typeof schema.items === "object" && schema.items !== null) yield* objectsIn(schema.items as Schema, `${place}[]`);
  // In a schema with `properties`, `anyOf` says which keys go together.
  if (schema.properties === undefined) for (const of of (schema.anyOf ?? []) as Schema[]) yield* objectsIn(of, place);
}

test("no object of an entry accepts an undeclared key", () => {
  const all = sections.flatMap(({ key, entry }) => [...objectsIn(entry as unknown as Schema, key)]);
  expect(all.length).toBeGreaterThan(sections.length);
  expect(all.filter(({ schema }) => schema.additionalProperties !== false).map(({ place }) => place)).toEqual([]);
});

test.each(sections.map(({ key, entry }) => ({ key, entry })))(
  "an entry of $key is refused with an additional key, and accepted without",
  ({ key, entry }) => {
    const [given] = scrambled[key] ?? [];
    const read = entryReader(entry);
    expect(read(given)).toMatchObject({});
    expect(() => read({ ...given, surplus: 1 })).toThrow("surplus");
  },
);
