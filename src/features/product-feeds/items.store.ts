import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, type SqlValue, sql } from "#storage/sql";
import { fieldsOfText } from "./product-feeds.items.ts";

/**
 * An item with its fields as properties, as the list of items (G2) returns it. D-143: items are not in the directory of nodes, because a caller
 * cannot request a single item by its id.
 */
export interface ItemRow extends Row {
  id: string;
  retailer_id: string;
}

/** An item that a run or a world file adds to a generation. */
export interface NewItem {
  readonly id: NodeId;
  readonly retailer_id: string;
  /**
   * The position of the item in its file, which is different for each item: the line of the row, or the number of the row in formats with several
   * rows on a line.
   */
  readonly position: number;
  /** The item as it is stored, written by `textOfItem`. */
  readonly item: string;
}

interface StoredRow extends Row {
  id: string;
  retailer_id: string;
  item: string;
}

const itemOf = ({ id, retailer_id, item }: StoredRow): ItemRow => ({ ...fieldsOfText(item), id, retailer_id });

const newestFirst = ordered("descending", "i.id");

/**
 * Lists the items of the generation that the feed shows. The list is read with one SQL statement, so that no page mixes the items of two generations.
 * The statement uses a subquery, because with a join PostgreSQL would not use the order of the index and would sort the whole generation for each
 * page.
 */
export async function listItems(reader: Reader, feed: string, page: PageRequest): Promise<ListPage<ItemRow>> {
  const found = await readPage<StoredRow>(
    reader,
    sql`
    SELECT CAST(i.id AS TEXT) AS id, i.retailer_id, i.item
    FROM feed_items i WHERE i.generation = (SELECT f.generation FROM product_feeds f WHERE f.id = ${feed})`,
    newestFirst,
    page,
  );
  return { ...found, rows: found.rows.map(itemOf) };
}

/** Lists all items of a generation, oldest first, for the control API. */
export async function listAllItems(reader: Reader, generation: number): Promise<ItemRow[]> {
  const rows = await reader.all<StoredRow>(sql`
    SELECT CAST(i.id AS TEXT) AS id, i.retailer_id, i.item FROM feed_items i WHERE i.generation = ${generation} ORDER BY i.id`);
  return rows.map(itemOf);
}

/**
 * The numbers of rows that one SQL statement can have. A statement has one of only three numbers of rows, so that the database keeps all statements
 * prepared.
 */
const GROUP_SIZES = [100, 10, 1] as const;

function* groupsOf<T>(rows: readonly T[]): Generator<readonly T[]> {
  let at = 0;
  for (const size of GROUP_SIZES) {
    for (; at + size <= rows.length; at += size) yield rows.slice(at, at + size);
  }
}

const tails = new Map<number, string>(
  GROUP_SIZES.map((rows) => [rows, `VALUES ${new Array(rows).fill("(?, ?, ?, ?, ?)").join(", ")} ON CONFLICT DO NOTHING`]),
);

/** Inserts items. Of several items with the same retailer_id only the first one is inserted. Returns the number of inserted items. */
export async function insertItems(tx: Transaction, generation: number, items: readonly NewItem[]): Promise<number> {
  let inserted = 0;
  for (const group of groupsOf(items)) {
    const values: SqlValue[] = [];
    for (const { id, retailer_id, position, item } of group) values.push(generation, id, retailer_id, position, item);
    const insert = sql`INSERT INTO feed_items (generation, id, retailer_id, position, item)`;
    inserted += await tx.run(append(insert, tails.get(group.length) as string, values));
  }
  return inserted;
}

export interface KnownItem {
  id: string;
  retailer_id: string;
  position: number;
}

/**
 * The SQL statements that look up items, by the number of their retailer_ids. A subquery looks up each retailer_id, because both databases always use
 * the index for a subquery. If the statement used `IN`, SQLite would read the whole generation. If the statement used a join, PostgreSQL would read
 * the whole generation, because PostgreSQL's statistics lag behind a growing table.
 */
const lookUps = new Map<number, string>(
  GROUP_SIZES.map((ids) => [
    ids,
    `(VALUES ${new Array(ids).fill("(?)").join(", ")})
    SELECT w.retailer_id, (
      SELECT CAST(i.position AS TEXT) || ' ' || CAST(i.id AS TEXT) FROM feed_items i
      WHERE i.generation = ? AND i.retailer_id = w.retailer_id) AS found
    FROM wanted w`,
  ]),
);

/** Returns the items of a generation that have one of the given retailer_ids. */
export async function findItems(reader: Reader, generation: number, retailerIds: readonly string[]): Promise<KnownItem[]> {
  const known: KnownItem[] = [];
  for (const group of groupsOf(retailerIds)) {
    const statement = append(sql`WITH wanted (retailer_id) AS`, lookUps.get(group.length) as string, [...group, generation]);
    for (const { retailer_id, found } of await reader.all<{ retailer_id: string; found: string | null }>(statement)) {
      if (found === null) continue;
      const space = found.indexOf(" ");
      known.push({ retailer_id, position: Number(found.slice(0, space)), id: found.slice(space + 1) });
    }
  }
  return known;
}

/** Returns whether a feed other than `feed` shows an item with the given id. The SQL statement looks up the id once in each feed. */
export async function isItemOfOtherFeed(reader: Reader, feed: string, id: string): Promise<boolean> {
  const found = await reader.get(sql`
    SELECT 1 AS one FROM product_feeds f
    WHERE f.id <> ${feed} AND (SELECT i.id FROM feed_items i WHERE i.generation = f.generation AND i.id = ${id}) IS NOT NULL LIMIT 1`);
  return found !== undefined;
}

/** Replaces a stored item by the item of a later row with the same retailer_id (D-141). */
export async function overwriteItem(tx: Transaction, generation: number, { retailer_id, position, item }: NewItem): Promise<void> {
  await tx.runOne(sql`
    UPDATE feed_items SET position = ${position}, item = ${item} WHERE generation = ${generation} AND retailer_id = ${retailer_id}`);
}

export interface CopiedItems {
  readonly count: number;
  /** The id of the last item that was examined; undefined if the generation has no more items. */
  readonly lastId: string | undefined;
}

/**
 * Examines the next `limit` items of the generation `from` whose ids follow `after`. Copies each item whose retailer_id the generation `to` does not
 * have. A subquery looks up each item, for the reason that the comment of `lookUps` gives.
 */
export async function copyMissingItems(tx: Transaction, from: number, to: number, after: string, limit: number): Promise<CopiedItems> {
  const last = await tx.get<{ id: string | null }>(sql`
    SELECT CAST(MAX(g.id) AS TEXT) AS id FROM (
      SELECT i.id FROM feed_items i WHERE i.generation = ${from} AND i.id > ${after} ORDER BY i.id LIMIT ${limit}) g`);
  const lastId = last?.id ?? undefined;
  if (lastId === undefined) return { count: 0, lastId };
  const count = await tx.run(sql`
    INSERT INTO feed_items (generation, id, retailer_id, position, item)
    SELECT CAST(${to} AS BIGINT), i.id, i.retailer_id, i.position, i.item FROM feed_items i
    WHERE i.generation = ${from} AND i.id > ${after} AND i.id <= ${lastId} AND (
      SELECT o.id FROM feed_items o WHERE o.generation = ${to} AND o.retailer_id = i.retailer_id) IS NULL`);
  return { count, lastId };
}

/** Deletes at most `limit` items of a generation. Returns the number of deleted items. */
export function deleteItems(tx: Transaction, generation: number, limit: number): Promise<number> {
  return tx.run(sql`
    DELETE FROM feed_items WHERE generation = ${generation} AND id <= COALESCE((
      SELECT i.id FROM feed_items i WHERE i.generation = ${generation} ORDER BY i.id LIMIT 1 OFFSET ${limit - 1}), 9223372036854775807)`);
}
