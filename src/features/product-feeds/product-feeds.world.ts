import { type Static, Type } from "typebox";
import { closedMap, described, idOf, TakenProblem, WorldProblem, worldId } from "#graph/worlds/file/schema-words";
import { section } from "#graph/worlds/file/section";
import { findNode } from "#graph/worlds/nodes.store";
import type { World } from "#graph/worlds/world";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { scheduleIngestion } from "./ingestion/jobs.ts";
import { findItems, insertItems, isItemOfOtherFeed, listAllItems, type NewItem } from "./items.store.ts";
import { removeFeed } from "./product-feeds.handlers.ts";
import { BadItem, type ItemField, isRequired, itemFields, meaningOf, type RawItem, readItem, textOfItem } from "./product-feeds.items.ts";
import { FEED_NAME_CHARACTERS_MAX } from "./product-feeds.limits.ts";
import {
  beginGeneration,
  type FeedRow,
  type FeedSettings,
  findFeed,
  insertFeed,
  listAllFeeds,
  saveSettings,
  showGeneration,
} from "./product-feeds.store.ts";
import { planFetches } from "./schedules/fetches.ts";
import { readSchedule, type ScheduleKind, scheduleWords, storedSchedule } from "./schedules/schedule.ts";

/**
 * Returns the schema of an item's field in a world file. A number may also be a JSON number; in all other respects, Plaza validates a value as in a
 * feed file.
 */
const schemaOfField = (field: ItemField) => {
  const description = meaningOf(field);
  return isRequired(field) ? Type.String({ description }) : Type.Optional(Type.Union([Type.String(), Type.Number()], { description }));
};
const itemEntry = closedMap({
  id: Type.Optional(described("the item's id (default: a new id)", worldId)),
  ...Object.fromEntries(itemFields.map((field) => [field, schemaOfField(field)])),
});

const entry = closedMap(
  {
    id: described("the feed's id", worldId),
    catalog: described("the catalog that the feed fills", idOf("product_catalog")),
    name: Type.String({ maxLength: FEED_NAME_CHARACTERS_MAX, default: "", description: "the feed's name" }),
    schedule: Type.Optional(closedMap(scheduleWords, "the times at which Plaza fetches a file that replaces the items")),
    update_schedule: Type.Optional(closedMap(scheduleWords, "the times at which Plaza fetches a file that adds and changes items")),
    items: Type.Array(itemEntry, { default: [], description: "the articles and publications of the feed, in their order" }),
  },
  "a feed of items in a catalog",
);
type Entry = Static<typeof entry>;

const entryOf = async ({ id, catalog, name, schedule, update_schedule, generation }: FeedRow, reader: Reader) => ({
  ...{ id, catalog, name, schedule: readSchedule(schedule), update_schedule: readSchedule(update_schedule) },
  items: await listAllItems(reader, generation),
});

/** Returns the settings of a feed from an entry of a world file. Throws `WorldProblem` if a schedule is wrong. */
function settingsOf(entry: Entry, world: World): FeedSettings {
  const stored = (kind: ScheduleKind) => storedSchedule(entry[kind] ?? null, world, (key, problem) => new WorldProblem(`${kind}.${key}`, problem));
  return { name: entry.name, schedule: stored("schedule"), update_schedule: stored("update_schedule") };
}

/** Replaces the feed's items by the items of the entry. An item keeps its id if the feed had an item with the same retailer_id (D-140). */
async function saveItems(tx: Transaction, { id: feed, items }: Entry, world: World): Promise<void> {
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
  for (const [index, { ownId, retailer_id, text }] of read.entries()) {
    if (seen.has(retailer_id)) throw new WorldProblem(`items[${index}].retailer_id`, `repeats ${retailer_id}`);
    seen.add(retailer_id);
    if (ownId !== undefined && ((await findNode(tx, ownId)) !== undefined || (await isItemOfOtherFeed(tx, feed, ownId))))
      throw new TakenProblem(`items[${index}].id`, `${ownId} is already in use`);
    rows.push({ id: ownId ?? ids.get(retailer_id) ?? world.ids.mint(), retailer_id, position: index + 1, item: text });
  }
  const inserted = await insertItems(tx, generation, rows);
  if (inserted < rows.length) throw new WorldProblem("items", "contains two items with the same id");
  await showGeneration(tx, feed, generation, rows.length);
  // The feed's job deletes the items of the previous generation.
  if (shown.generation !== 0) await scheduleIngestion(tx, world, feed);
}

type ItemEntry = { readonly id?: NodeId } & { readonly [field in ItemField]?: string | number };

function readEntry({ id: ownId, ...fields }: ItemEntry, index: number): { ownId: NodeId | undefined; retailer_id: string; text: string } {
  const raw: RawItem = Object.fromEntries(Object.entries(fields).map(([field, content]) => [field, String(content)]));
  const item = readItem(raw);
  const text = item instanceof BadItem ? item : textOfItem(item);
  if (!(item instanceof BadItem) && !(text instanceof BadItem)) return { ownId, retailer_id: item.retailer_id, text };
  const { field, reason } = (item instanceof BadItem ? item : text) as BadItem;
  throw new WorldProblem(`items[${index}]${field === undefined ? "" : `.${field}`}`, reason);
}

export const feedSection = section({
  key: "product_feeds",
  nodeType: "product_feed",
  entry,
  async insert(tx, given, world) {
    const { id, catalog } = given;
    const settings = settingsOf(given, world);
    if (!(await insertFeed(tx, id, catalog, settings))) return false;
    await planFetches(tx, world, id, settings);
    await saveItems(tx, given, world);
    return true;
  },
  find: findFeed,
  list: listAllFeeds,
  entryOf,
  async replace(tx, given, world) {
    const { id, catalog } = given;
    const settings = settingsOf(given, world);
    const stored = await findFeed(tx, id);
    if (stored?.catalog !== catalog) throw new WorldProblem("catalog", "cannot change");
    await saveSettings(tx, id, settings);
    await planFetches(tx, world, id, changedOf(stored, settings));
    await saveItems(tx, given, world);
  },
  remove: (tx, id, world) => removeFeed(tx, world, id),
});

/**
 * Returns the schedules that the entry changes. In the result, an unchanged schedule is undefined, so that the time of its next fetch does not
 * change.
 */
const changedOf = (before: Pick<FeedRow, ScheduleKind>, after: FeedSettings) => ({
  schedule: before.schedule === after.schedule ? undefined : after.schedule,
  update_schedule: before.update_schedule === after.update_schedule ? undefined : after.update_schedule,
});
