/** Tests which items an SQL statement selects: each test also stores items of another generation. */
import { expect, test } from "bun:test";
import { onEachDatabase } from "#harness/databases";
import { feedWorld } from "#harness/feeds";
import { openPlaza } from "#harness/plaza";
import { nodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import {
  copyMissingItems,
  deleteItems,
  findItems,
  insertItems,
  isItemOfOtherFeed,
  listAllItems,
  listItems,
  type NewItem,
  overwriteItem,
} from "../items.store.ts";
import { showGeneration } from "../product-feeds.store.ts";

const [FEED, OTHER] = ["8101", "8102"];

/** Returns an item without fields. The item's retailer_id is `r` followed by its id, unless a retailer_id is given. */
const item = (id: number, retailer_id = `r${id}`): NewItem => ({ id: nodeId(String(id)), retailer_id, position: id, item: "[]" });
const items = (from: number, to: number): NewItem[] => Array.from({ length: to - from + 1 }, (_, at) => item(from + at));

onEachDatabase("stored items", (database) => {
  const open = async (generations: Readonly<Record<number, readonly NewItem[]>>) => {
    const { world } = await openPlaza({ database, world: feedWorld });
    const { reader } = world.database;
    const write = <T>(body: (tx: Transaction) => Promise<T>): Promise<T> => world.database.write(body);
    for (const [generation, all] of Object.entries(generations)) await write((tx) => insertItems(tx, Number(generation), all));
    const idsOf = async (generation: number) => (await listAllItems(reader, generation)).map(({ id }) => Number(id));
    return { reader, write, idsOf };
  };

  test("any number of items is inserted and found, the first one for each retailer_id", async () => {
    const { reader, write, idsOf } = await open({ 1: items(1, 5) });
    const many = [...items(11, 127), item(128, "r11"), item(129, "r1")];
    expect(await write((tx) => insertItems(tx, 2, many))).toBe(118);
    expect(await write((tx) => insertItems(tx, 2, many))).toBe(0);
    expect(await idsOf(2)).toEqual([...items(11, 127), item(129)].map(({ id }) => Number(id)));
    const found = await findItems(reader, 2, [...many.map(({ retailer_id }) => retailer_id), "r5", "unknown"]);
    expect(new Set(found.map(({ retailer_id }) => retailer_id)).size).toBe(118);
    expect(await findItems(reader, 2, ["r1", "r5", "r12"])).toEqual([
      { retailer_id: "r1", position: 129, id: "129" },
      { retailer_id: "r12", position: 12, id: "12" },
    ]);
    expect(await findItems(reader, 2, [])).toEqual([]);
  });

  test("a feed lists its visible generation, the newest first", async () => {
    const { reader, write } = await open({ 1: items(1, 3), 2: items(11, 12) });
    await write((tx) => showGeneration(tx, FEED as string, 1, 3));
    const page = await listItems(reader, FEED as string, { limit: 2 });
    expect({ ids: page.rows.map(({ id }) => id), hasNext: page.hasNext }).toEqual({ ids: ["3", "2"], hasNext: true });
    expect((await listItems(reader, OTHER as string, { limit: 2 })).rows).toEqual([]);
  });

  test("an item of another feed is one of that feed's visible generation", async () => {
    const { reader, write } = await open({ 1: items(1, 1), 2: items(2, 2), 3: items(3, 3) });
    await write((tx) => showGeneration(tx, FEED as string, 1, 1));
    await write((tx) => showGeneration(tx, OTHER as string, 2, 1));
    const isOther = (feed: string | undefined, id: string) => isItemOfOtherFeed(reader, feed as string, id);
    expect([await isOther(FEED, "1"), await isOther(FEED, "2"), await isOther(OTHER, "1"), await isOther(FEED, "3")]).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  test("a later row replaces an item in its own generation", async () => {
    const { reader, write } = await open({ 1: items(1, 2), 2: items(1, 2) });
    await write((tx) => overwriteItem(tx, 1, { ...item(9, "r1"), item: '["new"]' }));
    expect(await findItems(reader, 1, ["r1", "r2"])).toEqual([
      { retailer_id: "r1", position: 9, id: "1" },
      { retailer_id: "r2", position: 2, id: "2" },
    ]);
    expect((await findItems(reader, 2, ["r1"]))[0]?.position).toBe(1);
    expect((await listAllItems(reader, 1)).map(({ name }) => name)).toEqual(["new", undefined]);
  });

  test("D-148: items that another generation lacks are copied in batches", async () => {
    const { write, idsOf } = await open({ 1: items(1, 5), 2: [item(90, "r2")], 3: items(50, 51) });
    const copy = (after: string, limit: number) => write((tx) => copyMissingItems(tx, 1, 2, after, limit));
    expect(await copy("0", 3)).toEqual({ count: 2, lastId: "3" });
    expect(await idsOf(2)).toEqual([1, 3, 90]);
    expect(await copy("3", 3)).toEqual({ count: 2, lastId: "5" });
    expect(await copy("5", 3)).toEqual({ count: 0, lastId: undefined });
    expect({ to: await idsOf(2), from: await idsOf(1) }).toEqual({ to: [1, 3, 4, 5, 90], from: [1, 2, 3, 4, 5] });
  });

  test("items of one generation are deleted in batches", async () => {
    const { write, idsOf } = await open({ 1: items(1, 5), 2: items(1, 5) });
    const remove = (limit: number) => write((tx) => deleteItems(tx, 1, limit));
    expect(await remove(2)).toBe(2);
    expect(await idsOf(1)).toEqual([3, 4, 5]);
    expect([await remove(3), await remove(3)]).toEqual([3, 0]);
    expect(await idsOf(2)).toEqual([1, 2, 3, 4, 5]);
  });
});
