import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, type SqlValue, sql } from "#storage/sql";
import { fieldsOfText } from "./product-feeds.items.ts";

/** An item as G2 reads it: its fields side by side. D-143: it is in no directory, because nothing else leads to it. */
export interface ItemRow extends Row {
  id: string;
  retailer_id: string;
}

/** An item of a file, to be stored. */
export interface NewItem {
  readonly id: NodeId;
  readonly retailer_id: string;
  /** No two rows of a file have one: its line, where rows have lines of their own, else its number. */
  readonly position: number;
  /** Of `textOfItem`. */
  readonly item: string;
}

interface StoredRow extends Row {
  id: string;
  retailer_id: string;
  item: string;
}

const itemOf = ({ id, retailer_id, item }: StoredRow): ItemRow => ({ ...fieldsOfText(item), id, retailer_id });

const newestFirst = { columns: ["i.id"], direction: "descending", keyOf: (row: StoredRow) => [row.id] } as const;

/**
 * Of the generation that is shown at that moment, in one statement, so that no page mixes two. As a subquery it is one value, by
 * which the index gives the order; behind a join PostgreSQL would sort the whole generation for each page.
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

/** All of them, for the control API; the oldest first. */
export async function listAllItems(reader: Reader, generation: number): Promise<ItemRow[]> {
  const rows = await reader.all<StoredRow>(sql`
    SELECT CAST(i.id AS TEXT) AS id, i.retailer_id, i.item FROM feed_items i WHERE i.generation = ${generation} ORDER BY i.id`);
  return rows.map(itemOf);
}

/** Sizes of statements: few texts, so that all of them stay prepared. */
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

/** Returns how many of them were new to the generation; of those with one retailer_id the first. */
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
 * A look-up for each id, in one statement, as a subquery, which has one plan alone. With `IN` SQLite, and with a join PostgreSQL,
 * whose figures are behind while a table grows, would read the whole generation.
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

/** Those of a generation that have one of these ids. */
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

/** The later of two rows with one retailer_id. */
export async function overwriteItem(tx: Transaction, generation: number, { retailer_id, position, item }: NewItem): Promise<void> {
  await tx.run(sql`
    UPDATE feed_items SET position = ${position}, item = ${item} WHERE generation = ${generation} AND retailer_id = ${retailer_id}`);
}

/** Returns how many were deleted: `limit`, as long as there are more. */
export function deleteItems(tx: Transaction, generation: number, limit: number): Promise<number> {
  return tx.run(sql`
    DELETE FROM feed_items WHERE generation = ${generation} AND id <= COALESCE((
      SELECT i.id FROM feed_items i WHERE i.generation = ${generation} ORDER BY i.id LIMIT 1 OFFSET ${limit - 1}), 9223372036854775807)`);
}
