import { type Static, Type } from "typebox";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { WorldProblem, worldId } from "#graph/worlds/file/schema-words";
import { findNode } from "#graph/worlds/nodes.store";
import type { World } from "#graph/worlds/world";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { scheduleIngestion } from "./ingestion/jobs.ts";
import { findItems, insertItems, listAllItems, type NewItem } from "./items.store.ts";
import { BadItem, type ItemField, isNeeded, itemFields, type RawItem, readItem, textOfItem } from "./product-feeds.items.ts";
import { beginGeneration, deleteFeed, type FeedRow, findFeed, insertFeed, listAllFeeds, renameFeed, showGeneration } from "./product-feeds.store.ts";

const closed = { additionalProperties: false };

/** Figures may be written as figures; what a field takes beyond that is the same as in a feed file. */
const value = Type.Union([Type.String(), Type.Number()]);
const itemEntry = Type.Object(
  { id: Type.Optional(worldId), ...Object.fromEntries(itemFields.map((field) => [field, isNeeded(field) ? Type.String() : Type.Optional(value)])) },
  closed,
);

const entry = Type.Object(
  { id: worldId, catalog: worldId, name: Type.String({ maxLength: 200, default: "" }), items: Type.Array(itemEntry, { default: [] }) },
  closed,
);
type Entry = Static<typeof entry>;

async function entryOf(reader: Reader, { id, catalog, name, generation }: FeedRow): Promise<WorldEntry> {
  return { id, catalog, name, items: await listAllItems(reader, generation) };
}

/** Brings the feed's items to those of the entry; a retailer_id that stays keeps its id. */
async function saveItems(tx: Transaction, given: WorldEntry, world: World): Promise<void> {
  const { id: feed, items } = given as Entry;
  const shown = await findFeed(tx, feed);
  if (shown === undefined) return;
  const generation = await beginGeneration(tx, feed);
  const read = items.map((item, index) => readEntry(item as ItemEntry, index));
  const known = await findItems(
    tx,
    shown.generation,
    read.map(({ retailer_id }) => retailer_id),
  );
  const ids = new Map(known.map(({ retailer_id, id }) => [retailer_id, nodeId(id)]));
  const seen = new Set<string>();
  const rows: NewItem[] = [];
  for (const [index, { given: id, retailer_id, text }] of read.entries()) {
    if (seen.has(retailer_id)) throw new WorldProblem(`items[${index}].retailer_id`, `repeats ${retailer_id}`);
    seen.add(retailer_id);
    if (id !== undefined && (await findNode(tx, id)) !== undefined) throw new WorldProblem(`items[${index}].id`, `${id} is taken`);
    rows.push({ id: id ?? ids.get(retailer_id) ?? world.ids.mint(), retailer_id, position: index + 1, item: text });
  }
  const inserted = await insertItems(tx, generation, rows);
  if (inserted < rows.length) throw new WorldProblem("items", "has an id twice");
  await showGeneration(tx, feed, generation, rows.length);
  // The items before are cleared away by the feed's job.
  if (shown.generation !== 0) await scheduleIngestion(tx, world, feed);
}

type ItemEntry = { readonly id?: NodeId } & { readonly [field in ItemField]?: string | number };

function readEntry({ id: given, ...fields }: ItemEntry, index: number): { given: NodeId | undefined; retailer_id: string; text: string } {
  const raw: RawItem = Object.fromEntries(Object.entries(fields).map(([field, content]) => [field, String(content)]));
  const item = readItem(raw);
  const text = item instanceof BadItem ? item : textOfItem(item);
  if (!(item instanceof BadItem) && !(text instanceof BadItem)) return { given, retailer_id: item.retailer_id, text };
  const { field, reason } = (item instanceof BadItem ? item : text) as BadItem;
  throw new WorldProblem(`items[${index}]${field === undefined ? "" : `.${field}`}`, reason);
}

export const feedSection: WorldSection = {
  key: "product_feeds",
  entry,
  references: (given) => [{ path: "catalog", types: ["product_catalog"], id: (given as Entry).catalog }],
  async insert(tx, given, world) {
    const { id, catalog, name } = given as Entry;
    if (!(await insertFeed(tx, id, catalog, name))) return false;
    await saveItems(tx, given, world);
    return true;
  },
  async find(reader, id) {
    const row = await findFeed(reader, id);
    return row === undefined ? undefined : entryOf(reader, row);
  },
  async list(reader, page) {
    const found = await listAllFeeds(reader, page);
    return { ...found, rows: await Promise.all(found.rows.map((row) => entryOf(reader, row))) };
  },
  async replace(tx, given, world) {
    const { id, catalog, name } = given as Entry;
    const stored = await findFeed(tx, id);
    if (stored?.catalog !== catalog) throw new WorldProblem("catalog", "of a feed cannot be changed");
    await renameFeed(tx, id, name);
    await saveItems(tx, given, world);
  },
  async remove(tx, id, world) {
    if (!(await deleteFeed(tx, nodeId(id)))) return false;
    await scheduleIngestion(tx, world, id);
    return true;
  },
};
