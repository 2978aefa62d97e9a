import { nodeTable } from "#graph/worlds/nodes.store";
import type { World } from "#graph/worlds/world";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";
import type { UploadRow } from "./ingestion/upload.ts";

export interface FeedRow extends Row {
  id: string;
  catalog: string;
  name: string;
  /** The number of the generation whose items the feed shows. */
  generation: number;
  /** The number of the feed's next upload. */
  next_upload: number;
  /** The number of items that the feed shows. The number of items is stored with the feed, so that a summary costs one lookup (D-56). */
  item_count: number;
  /** The schedule whose files replace the feed's items, as JSON of a `Schedule`; null if the feed does not have this schedule. */
  schedule: string | null;
  update_schedule: string | null;
}

const table = nodeTable<FeedRow>({
  table: "product_feeds",
  nodeType: "product_feed",
  owner: "catalog",
  ids: ["catalog"],
  columns: ["name", "generation", "next_upload", "item_count", "schedule", "update_schedule"],
});

/** The caller of `deleteFeed` must schedule the feed's job, which deletes items and uploads in small writes. */
export const { find: findFeed, list: listAllFeeds, remove: deleteFeed } = table;

/** D-96: the feeds of a catalog are listed newest first. */
const newestFirst = ordered("descending", "t.id");

export const pageFeedsOfCatalog = (reader: Reader, catalog: NodeId, page: PageRequest): Promise<ListPage<FeedRow>> =>
  readPage<FeedRow>(reader, append(table.select, "WHERE t.catalog = ?", [catalog]), newestFirst, page);

/** The settings of a feed that a caller can change. */
export interface FeedSettings {
  readonly name: string;
  /** The schedule as JSON of a `Schedule`. */
  readonly schedule: string | null;
  readonly update_schedule: string | null;
}

/** Stores a new feed. Returns false, and stores nothing, if the feed's id is used already. */
export const insertFeed = (tx: Transaction, id: NodeId, catalog: NodeId, settings: FeedSettings): Promise<boolean> =>
  table.insert(tx, { id, catalog, generation: 0, next_upload: 1, item_count: 0, ...settings });

export async function saveSettings(tx: Transaction, id: string, { name, schedule, update_schedule }: FeedSettings): Promise<void> {
  await tx.runOne(sql`UPDATE product_feeds SET name = ${name}, schedule = ${schedule}, update_schedule = ${update_schedule} WHERE id = ${id}`);
}

export async function countFeedsOfCatalog(reader: Reader, catalog: NodeId): Promise<number> {
  const row = await reader.get<{ count: number }>(sql`SELECT COUNT(*) AS count FROM product_feeds f WHERE f.catalog = ${catalog}`);
  return Number(row?.count ?? 0);
}

/**
 * The number of counters that number the generations. With 64 counters, the ingestions of different feeds rarely wait for the same counter. A
 * generation's number modulo 64 identifies its counter.
 */
const GENERATION_SLOTS = 64;
/**
 * Returns the counter of a feed. The number of the counter depends on all digits of the feed's id, because the last digits of ids are often equal.
 */
const slotOf = (feed: string): number => [...feed].reduce((sum, digit) => (sum * 7 + Number(digit)) % GENERATION_SLOTS, 0);

/** Creates a generation of the feed and returns its number, which no other generation of the world has had. */
export async function beginGeneration(tx: Transaction, feed: string): Promise<number> {
  const slot = slotOf(feed);
  const row = await tx.get<{ generation: number }>(sql`
    INSERT INTO feed_generation_slots (slot, generation) VALUES (${slot}, ${GENERATION_SLOTS + slot})
    ON CONFLICT (slot) DO UPDATE SET generation = feed_generation_slots.generation + ${GENERATION_SLOTS} RETURNING generation`);
  if (row === undefined) throw new Error("a generation of a feed has no number");
  const { generation } = row;
  await tx.runOne(sql`INSERT INTO feed_generations (feed, generation) VALUES (${feed}, ${generation})`);
  return generation;
}

/** Returns the number of a generation that the feed does not show and that no run writes. The items of the returned generation can be deleted. */
export async function findSpareGeneration(reader: Reader, feed: string): Promise<number | undefined> {
  const row = await reader.get<{ generation: number }>(sql`
    SELECT g.generation FROM feed_generations g
    LEFT JOIN product_feeds f ON f.id = g.feed AND f.generation = g.generation
    LEFT JOIN feed_uploads u ON u.feed = g.feed AND u.generation = g.generation AND u.status = 'running'
    WHERE g.feed = ${feed} AND f.id IS NULL AND u.feed IS NULL ORDER BY g.generation LIMIT 1`);
  return row?.generation;
}

export async function deleteGeneration(tx: Transaction, feed: string, generation: number): Promise<void> {
  await tx.run(sql`DELETE FROM feed_generations WHERE feed = ${feed} AND generation = ${generation}`);
}

/** Switches the feed to another generation, whose items the feed shows from now on (D-140). */
export async function showGeneration(tx: Transaction, feed: string, generation: number, itemCount: number): Promise<void> {
  await tx.runOne(sql`UPDATE product_feeds SET generation = ${generation}, item_count = ${itemCount} WHERE id = ${feed}`);
}

export async function listFeedsOfCatalog(reader: Reader, catalog: NodeId): Promise<NodeId[]> {
  const rows = await reader.all<{ id: string }>(sql`SELECT CAST(f.id AS TEXT) AS id FROM product_feeds f WHERE f.catalog = ${catalog} ORDER BY f.id`);
  return rows.map(({ id }) => nodeId(id));
}

/** The port `product_feed_writes`, which the feature product-catalogs uses. */
interface FeedWritesPort {
  /** Deletes the feeds of a catalog. Jobs delete the feeds' items and uploads afterwards, because a feed may have millions of items. */
  deleteFeedsOfCatalog(tx: Transaction, catalog: NodeId, world: World): Promise<void>;
}

/** The port `product_feed`, which the feature's own contract uses, because a contract does not import the store. */
interface FeedPort {
  /** Returns the newest upload of each feed, in the order of `feeds`. */
  findLatestUploads(reader: Reader, feeds: readonly { readonly id: string }[]): Promise<readonly (UploadRow | undefined)[]>;
}

declare module "#kernel/ports" {
  interface Ports {
    product_feed: FeedPort;
    product_feed_writes: FeedWritesPort;
  }
}
