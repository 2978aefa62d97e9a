/** Checks that the smallest id, 1, works like any other id: a node with this id, and nodes that belong to it, are in every list. */
import { expect, test } from "bun:test";
import { exportWorld, importWorld, sectionsOf } from "#graph/worlds/file/import-export";
import { openPlaza } from "#harness/plaza";
import { appTable } from "../../src/features/apps/apps.store.ts";
import { pageTable } from "../../src/features/pages/pages.store.ts";
import { findUsernames } from "../../src/features/social-accounts/social-accounts.store.ts";
import { scrambled } from "./scrambled-world.ts";

/** The value with every list sorted, because a node with a smaller id comes earlier in lists. */
function inOneOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => JSON.stringify(inOneOrder(one))).sort();
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inOneOrder(one)]));
}

const { world, registry } = await openPlaza({ world: scrambled });
const exported = (await exportWorld(world, registry)) as Record<string, readonly { readonly id?: string }[]>;
const text = JSON.stringify(exported);
/** The second entry of each type, to which most other entries belong. */
const ids = sectionsOf(registry).flatMap(({ key }) => exported[key]?.find(({ id }) => id?.endsWith("02"))?.id ?? []);

test("the world below has nearly every kind of node", () => {
  expect(ids.length).toBeGreaterThan(15);
});

for (const id of ids)
  test(`a world is exported and imported completely with 1 instead of ${id}`, async () => {
    const given = text.replaceAll(`"${id}"`, '"1"');
    expect(given).not.toBe(text);
    const other = await openPlaza();
    await importWorld(other.world, other.registry, given, { isMerge: false });
    expect(inOneOrder(await exportWorld(other.world, other.registry))).toEqual(inOneOrder(JSON.parse(given)));
  });

test.each([
  ["apps", { name: "First" }, appTable.findNames],
  ["pages", { name: "First" }, pageTable.findNames],
  ["social_accounts", { username: "First" }, findUsernames],
])("its name is found among %s", async (key, named, find) => {
  const { world: own } = await openPlaza({ world: { [key]: [{ id: "1", ...named }] } });
  expect(await find(own.database.reader, ["1", "2"])).toEqual(new Map([["1", "First"]]));
});
