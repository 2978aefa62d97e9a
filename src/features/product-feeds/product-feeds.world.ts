import { type Static, Type } from "typebox";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { TakenProblem, WorldProblem, worldId } from "#graph/worlds/file/schema-words";
import { findNode } from "#graph/worlds/nodes.store";
import type { World } from "#graph/worlds/world";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { scheduleIngestion } from "./ingestion/jobs.ts";
import { findItems, insertItems, isItemOfOtherFeed, listAllItems, type NewItem } from "./items.store.ts";
import { removeFeed } from "./product-feeds.handlers.ts";
import { BadItem, type ItemField, isRequired, itemFields, type RawItem, readItem, textOfItem } from "./product-feeds.items.ts";
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

const closed = { additionalProperties: false };

/** Numbers may be JSON numbers. Otherwise a value is validated as in a feed file. */
const value = Type.Union([Type.String(), Type.Number()]);
const itemEntry = Type.Object(
  { id: Type.Optional(worldId), ...Object.fromEntries(itemFields.map((field) => [field, isRequired(field) ? Type.String() : Type.Optional(value)])) },
  closed,
);

const entry = Type.Object(
  {
    id: worldId,
    catalog: worldId,
    name: Type.String({ maxLength: FEED_NAME_CHARACTERS_MAX, default: "" }),
    schedule: Type.Optional(Type.Object(scheduleWords, closed)),
    update_schedule: Type.Optional(Type.Object(scheduleWords, closed)),
    items: Type.Array(itemEntry, { default: [] }),
  },
  closed,
);
type Entry = Static<typeof entry>;

async function entryOf(reader: Reader, { id, catalog, name, schedule, update_schedule, generation }: FeedRow): Promise<WorldEntry> {
  const schedules = {
    ...(schedule === null ? {} : { schedule: readSchedule(schedule) }),
    ...(update_schedule === null ? {} : { update_schedule: readSchedule(update_schedule) }),
  };
  return { id, catalog, name, ...schedules, items: await listAllItems(reader, generation) };
}

/** Throws `WorldProblem`. */
function settingsOf(entry: Entry, world: World): FeedSettings {
  const stored = (kind: ScheduleKind) =>
    storedSchedule(entry[kind] ?? null, world, (place, problem) => new WorldProblem(`${kind}.${place}`, problem));
  return { name: entry.name, schedule: stored("schedule"), update_schedule: stored("update_schedule") };
}

/** Replaces the feed's items by those of the entry. An item whose retailer_id stays keeps its id (D-140). */
async function saveItems(tx: Transaction, input: WorldEntry, world: World): Promise<void> {
  const { id: feed, items } = input as Entry;
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
      throw new TakenProblem(`items[${index}].id`, `${ownId} is taken`);
    rows.push({ id: ownId ?? ids.get(retailer_id) ?? world.ids.mint(), retailer_id, position: index + 1, item: text });
  }
  const inserted = await insertItems(tx, generation, rows);
  if (inserted < rows.length) throw new WorldProblem("items", "contains an id twice");
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

export const feedSection: WorldSection = {
  key: "product_feeds",
  entry,
  references: (input) => [{ path: "catalog", types: ["product_catalog"], id: (input as Entry).catalog }],
  async insert(tx, input, world) {
    const { id, catalog } = input as Entry;
    const settings = settingsOf(input as Entry, world);
    if (!(await insertFeed(tx, id, catalog, settings))) return false;
    await planFetches(tx, world, id, settings);
    await saveItems(tx, input, world);
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
  async replace(tx, input, world) {
    const { id, catalog } = input as Entry;
    const settings = settingsOf(input as Entry, world);
    const stored = await findFeed(tx, id);
    if (stored?.catalog !== catalog) throw new WorldProblem("catalog", "of a feed cannot be changed");
    await saveSettings(tx, id, settings);
    await planFetches(tx, world, id, changedOf(stored, settings));
    await saveItems(tx, input, world);
  },
  remove: (tx, id, world) => removeFeed(tx, world, nodeId(id)),
};

/** A schedule that stays goes on as it was planned. */
const changedOf = (before: Pick<FeedRow, ScheduleKind>, after: FeedSettings) => ({
  schedule: before.schedule === after.schedule ? undefined : after.schedule,
  update_schedule: before.update_schedule === after.update_schedule ? undefined : after.update_schedule,
});
