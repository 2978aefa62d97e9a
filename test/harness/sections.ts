/** Checks all functions of a section of a world file (insert, find, list, change, remove) with one entry of the section. */
import { expect } from "bun:test";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { entryReader } from "#graph/worlds/file/entry-reader";
import { exportWorld, importWorld, sectionsOf } from "#graph/worlds/file/import-export";
import { openPlaza, type TestPlaza } from "./plaza.ts";

function sectionOf(plaza: TestPlaza, key: string): WorldSection {
  const section = sectionsOf(plaza.registry).find((one) => one.key === key);
  if (section === undefined) throw new Error(`no feature has the key ${key}`);
  return section;
}

export const insertEntry = (plaza: TestPlaza, key: string, entry: object): Promise<boolean> => {
  const section = sectionOf(plaza, key);
  return plaza.world.database.write((tx) => section.insert(tx, entryReader(section.entry)(entry) as WorldEntry, plaza.world));
};

/** Inserts entries of a section, all in one transaction. */
export const insertEntries = (plaza: TestPlaza, key: string, entries: readonly object[]): Promise<void> => {
  const section = sectionOf(plaza, key);
  const read = entryReader(section.entry);
  return plaza.world.database.write(async (tx) => {
    for (const entry of entries) {
      if (!(await section.insert(tx, read(entry) as WorldEntry, plaza.world))) throw new Error(`the id of ${JSON.stringify(entry)} is taken`);
    }
  });
};

/** Changes the stored entry by `changes`, as the control API does. */
export const changeEntry = (plaza: TestPlaza, key: string, id: string, changes: object): Promise<void> => {
  const section = sectionOf(plaza, key);
  return plaza.world.database.write(async (tx) => {
    const stored = await section.find(tx, id, plaza.world);
    await section.replace(tx, entryReader(section.entry)({ ...stored, ...changes }) as WorldEntry, plaza.world);
  });
};

export const removeEntry = (plaza: TestPlaza, key: string, id: string): Promise<boolean> =>
  plaza.world.database.write((tx) => sectionOf(plaza, key).remove(tx, id, plaza.world));

export const findEntry = (plaza: TestPlaza, key: string, id: string): Promise<WorldEntry | undefined> =>
  sectionOf(plaza, key).find(plaza.world.database.reader, id, plaza.world);

/**
 * Expects that an entry can be inserted, found, listed, changed and removed, that its id is taken until then, and that afterwards its id is free and
 * no changed value is left.
 */
export async function expectLifeOfEntry(
  plaza: TestPlaza,
  key: string,
  entry: { id: string; [key: string]: unknown },
  changes: object,
): Promise<void> {
  const { id } = entry;
  expect(await insertEntry(plaza, key, entry)).toBe(true);
  expect(await insertEntry(plaza, key, entry)).toBe(false);
  const stored = await findEntry(plaza, key, id);
  expect(stored).toMatchObject(entry);
  const { rows } = await sectionOf(plaza, key).list(plaza.world.database.reader, { limit: 100 }, plaza.world);
  expect(rows.find((row) => row.id === id)).toEqual(stored);
  await changeEntry(plaza, key, id, changes);
  expect(await findEntry(plaza, key, id)).toMatchObject({ ...entry, ...changes });
  expect(await removeEntry(plaza, key, id)).toBe(true);
  expect(await removeEntry(plaza, key, id)).toBe(false);
  expect(await findEntry(plaza, key, id)).toBeUndefined();
  expect(await insertEntry(plaza, key, entry)).toBe(true);
  expect(await findEntry(plaza, key, id)).toEqual(stored);
}

/** Expects that an exported world stays the same when it is loaded into an empty world. */
export async function expectRoundTrip(plaza: TestPlaza): Promise<void> {
  const file = await exportWorld(plaza.world, plaza.registry, { secrets: true });
  const again = await openPlaza({ database: plaza.world.database.dialect, profile: plaza.world.profile });
  await importWorld(again.world, again.registry, JSON.stringify(file), { isMerge: false });
  const { clock: _, ...loaded } = await exportWorld(again.world, again.registry, { secrets: true });
  const { clock: __, ...saved } = file;
  expect(inOrder(loaded)).toEqual(inOrder(saved));
}

/** A world file with sorted entries, because the order of entries has no meaning: tokens are listed newest first. */
const inOrder = (file: object): unknown =>
  Object.fromEntries(
    Object.entries(file).map(([key, entries]) => [key, Array.isArray(entries) ? entries.map((entry) => JSON.stringify(entry)).sort() : entries]),
  );
