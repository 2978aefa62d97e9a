import { deleteNode, insertNode } from "#graph/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, type PageRequest, readPage } from "#storage/keyset";
import { type Row, type Sql, sql } from "#storage/sql";

export interface FeedRow extends Row {
  id: string;
  catalog: string;
  name: string;
  /** The generation of items that is shown. */
  generation: number;
  /** Kept, so that a summary costs one look-up (D-56). */
  item_count: number;
}

const LARGEST_ID = "9223372036854775807";

function selectFeeds(least: string, most: string): Sql {
  return sql`
    SELECT CAST(f.id AS TEXT) AS id, CAST(f.catalog AS TEXT) AS catalog, f.name, f.generation, f.item_count
    FROM product_feeds f WHERE f.id BETWEEN ${least} AND ${most}`;
}

export const findFeed = (reader: Reader, id: string): Promise<FeedRow | undefined> => reader.get<FeedRow>(selectFeeds(id, id));

const byId = { columns: ["f.id"], direction: "ascending", keyOf: (row: FeedRow) => [row.id] } as const;

/** Every feed of the world, for the control API. */
export const listAllFeeds = (reader: Reader, page: PageRequest): Promise<ListPage<FeedRow>> =>
  readPage<FeedRow>(reader, selectFeeds("1", LARGEST_ID), byId, page);

/** Answers whether the id was free. */
export async function insertFeed(tx: Transaction, id: NodeId, catalog: NodeId, name: string): Promise<boolean> {
  if (!(await insertNode(tx, { id, type: "product_feed", owner: catalog }))) return false;
  await tx.run(sql`
    INSERT INTO product_feeds (id, catalog, name, generation, next_generation, next_upload, item_count)
    VALUES (${id}, ${catalog}, ${name}, 1, 2, 1, 0)`);
  return true;
}

export async function renameFeed(tx: Transaction, id: string, name: string): Promise<void> {
  await tx.run(sql`UPDATE product_feeds SET name = ${name} WHERE id = ${id}`);
}

/** A number that no generation of the feed has; undefined: the feed is gone. */
export async function nextGeneration(tx: Transaction, feed: string): Promise<number | undefined> {
  const row = await tx.get<{ next_generation: number }>(
    sql`UPDATE product_feeds SET next_generation = next_generation + 1 WHERE id = ${feed} RETURNING next_generation`,
  );
  return row === undefined ? undefined : row.next_generation - 1;
}

/** From one moment to the next the feed's items are those of another generation. */
export async function showGeneration(tx: Transaction, feed: string, generation: number, itemCount: number): Promise<void> {
  await tx.run(sql`UPDATE product_feeds SET generation = ${generation}, item_count = ${itemCount} WHERE id = ${feed}`);
}

/** Its items and uploads are deleted step by step afterwards: there may be a million of them. */
export async function deleteFeed(tx: Transaction, id: NodeId): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM product_feeds WHERE id = ${id}`)) === 0) return false;
  await deleteNode(tx, id);
  return true;
}

export async function listFeedsOfCatalog(reader: Reader, catalog: NodeId): Promise<NodeId[]> {
  const rows = await reader.all<{ id: string }>(sql`SELECT CAST(f.id AS TEXT) AS id FROM product_feeds f WHERE f.catalog = ${catalog} ORDER BY f.id`);
  return rows.map(({ id }) => nodeId(id));
}
