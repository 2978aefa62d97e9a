/** Checks that changing or removing an entry touches only rows of this entry, and no rows of other entries of the same or of another owner. */
import { expect, test } from "bun:test";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { hasIdentity, identityOf, sectionsOf } from "#graph/worlds/file/import-export";
import { migrationsOf, removeNode } from "#graph/worlds/open-world";
import { onEachDatabase } from "#harness/databases";
import { openPlaza, type TestPlaza } from "#harness/plaza";
import { buildRegistry } from "#main";
import type { Reader, Transaction } from "#storage/database";
import { scrambled } from "./scrambled-world.ts";

const registry = buildRegistry();

const statements = migrationsOf(registry).flatMap(({ migrations }) => migrations.flatMap((one) => one.statements));
const namedBy = (pattern: RegExp): string[] => statements.flatMap((statement) => pattern.exec(statement)?.[1] ?? []);
const gone = namedBy(/^\s*(?:DROP TABLE|ALTER TABLE(?=.*RENAME TO)) (\w+)/);
const tables = [...namedBy(/^\s*CREATE TABLE (\w+)/), ...namedBy(/RENAME TO (\w+)/)].filter((name) => !gone.includes(name));

/** Every row of every table, as text: `table {"column":"value"}`. */
async function allRows(reader: Reader): Promise<string[]> {
  const rows = await Promise.all(tables.map((table) => reader.all({ query: { text: `SELECT * FROM ${table}` }, values: [] })));
  return rows.flatMap((of, at) => of.map((row) => `${tables[at]} ${JSON.stringify(row)}`));
}

/** Returns the values that are in only one of the two lists. */
function differences(before: readonly string[], after: readonly string[]): string[] {
  const [was, is] = [new Set(before), new Set(after)];
  return [...before.filter((row) => !is.has(row)), ...after.filter((row) => !was.has(row))];
}

const numbersIn = (row: string): string[] => row.match(/\d+/g) ?? [];

const nodesIn = (rows: readonly string[]): string[] =>
  rows.filter((row) => row.startsWith("nodes ")).map((row) => String(JSON.parse(row.slice("nodes ".length)).id));

class Undone extends Error {}

/** Returns the rows as they are after `change`, and then undoes the change. */
async function rowsAfter({ world }: TestPlaza, change: (tx: Transaction) => Promise<void>): Promise<string[]> {
  let rows: string[] = [];
  const written = world.database.write(async (tx) => {
    await change(tx);
    rows = await allRows(tx);
    throw new Undone();
  });
  await written.catch((error: unknown) => {
    if (!(error instanceof Undone)) throw error;
  });
  return rows;
}

interface Found {
  readonly section: WorldSection;
  readonly id: string;
  readonly entry: WorldEntry;
}

/** Every entry that can be found by its id. */
async function entriesOf({ world }: TestPlaza): Promise<Found[]> {
  const found: Found[] = [];
  for (const section of sectionsOf(registry).filter(hasIdentity)) {
    const { rows } = await section.list(world.database.reader, { limit: 100 }, world);
    for (const entry of rows) found.push({ section, id: identityOf(section, entry), entry });
  }
  return found;
}

/** The keys of an entry that name its owners, with which the entry is deleted. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  labels: ["page"],
  personas: ["page"],
  required_actions: ["app"],
  live_videos: ["page"],
  live_comments: ["live_video", "from"],
  media: ["owner"],
  microblog_media: ["owner"],
  catalogs: ["page"],
  product_feeds: ["catalog"],
  phone_numbers: ["account"],
  solutions: ["owner_app"],
  migration_intents: ["waba"],
  ads: ["app"],
};

/** The given node and all nodes that belong to it, at any depth. */
function familyOf(all: readonly Found[], id: string): Set<string> {
  const family = new Set([id]);
  for (const { section, entry } of all) {
    const owners = (OWNERS[section.key] ?? []).map((key) => String(entry[key]));
    if (owners.some((owner) => family.has(owner))) for (const below of familyOf(all, String(entry.id))) family.add(below);
    if (entry.id === id) for (const { psid } of (entry.people ?? []) as { psid?: string }[]) if (psid !== undefined) family.add(psid);
  }
  return family;
}

/** The rows without secrets, because secrets are sealed anew each time and random bytes may contain the digits of an id. */
const withoutSecrets = (rows: readonly string[]): string[] => rows.map((row) => row.replace(/"(?:sealed_\w+|\w*hash)":"[^"]*"/g, ""));

onEachDatabase("the rows of an entry", (database) => {
  test("do not change when it is replaced by itself, and neither do those of others", async () => {
    const plaza = await openPlaza({ database, world: scrambled });
    const before = withoutSecrets(await allRows(plaza.world.database.reader));
    // The test leaves out product feeds, because a changed feed gets a new generation of its items.
    const all = (await entriesOf(plaza)).filter(({ section }) => section.key !== "product_feeds");
    expect(all.length).toBeGreaterThan(70);
    for (const { section, id, entry } of all) {
      const after = withoutSecrets(await rowsAfter(plaza, (tx) => section.replace(tx, entry, plaza.world)));
      const own = [id, ...section.references(entry).map((reference) => reference.id)];
      // Replacing an entry schedules jobs that check the waiting deliveries of its apps, so the rows of these jobs may change.
      const isOwnJob = (row: string): boolean => row.startsWith("jobs ") && own.includes(/"key":"(\d+)"/.exec(row)?.[1] ?? "");
      const changed = differences(before, after).filter((row) => !isOwnJob(row));
      expect({ [`${section.key} ${id}`]: changed }).toEqual({ [`${section.key} ${id}`]: [] });
    }
  }, 120_000);

  test("are deleted when it is removed, with the rows below it, and no others", async () => {
    const plaza = await openPlaza({ database, world: scrambled });
    const before = withoutSecrets(await allRows(plaza.world.database.reader));
    const all = await entriesOf(plaza);
    expect(all.length).toBeGreaterThan(70);
    for (const { section, id, entry } of all) {
      const removal = rowsAfter(plaza, async (tx) => {
        expect(await removeNode(tx, registry, plaza.world, section, id)).toBe(true);
      });
      const after = withoutSecrets(await removal);
      const left = new Set(nodesIn(after));
      const gone = nodesIn(before).filter((node) => !left.has(node));
      // A reaction is not a node.
      const isNode = section.identity === undefined;
      expect({ [`${section.key} ${id}`]: new Set(gone) }).toEqual({ [`${section.key} ${id}`]: isNode ? familyOf(all, id) : new Set() });
      // A background job deletes the rest of a feed in steps. An account's connections keep the ids of deleted apps, and reads leave these apps out.
      const kept = after.map((row) => row.replace(/"app_connections":"[^\]]*\]"/, ""));
      const own = kept.filter((row) => !/^(jobs|feed_generations) /.test(row) && numbersIn(row).some((number) => gone.includes(number)));
      expect({ [`${section.key} ${id}`]: own }).toEqual({ [`${section.key} ${id}`]: [] });
      const concerned = new Set([...gone, ...section.references(entry).map((reference) => reference.id), ...(isNode ? [] : id.split(" "))]);
      const others = differences(before, after).filter((row) => {
        const isConcerned = numbersIn(row).some((number) => concerned.has(number));
        // The old values of this row contained the node's id, and the new values do not.
        if (isConcerned) for (const number of numbersIn(row)) if (left.has(number)) concerned.add(number);
        return !isConcerned;
      });
      expect({ [`${section.key} ${id}`]: others }).toEqual({ [`${section.key} ${id}`]: [] });
    }
  }, 120_000);
});
