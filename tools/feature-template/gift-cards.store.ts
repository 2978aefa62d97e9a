import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, type PageRequest, readPage } from "#storage/keyset";
import { type Row, sql } from "#storage/sql";

export interface GiftCardRow extends Row {
  id: string;
  page: string;
  name: string;
}

export function findGiftCard(reader: Reader, page: NodeId, id: string): Promise<GiftCardRow | undefined> {
  return reader.get<GiftCardRow>(sql`
    SELECT CAST(t.id AS TEXT) AS id, CAST(t.page AS TEXT) AS page, t.name FROM gift_cards t WHERE t.page = ${page} AND t.id = ${id}`);
}

const newestFirst = { columns: ["t.id"], direction: "descending", keyOf: (row: GiftCardRow) => [row.id] } as const;

export function listGiftCardsOfPage(reader: Reader, page: NodeId, request: PageRequest): Promise<ListPage<GiftCardRow>> {
  return readPage<GiftCardRow>(
    reader,
    sql`SELECT CAST(t.id AS TEXT) AS id, CAST(t.page AS TEXT) AS page, t.name FROM gift_cards t WHERE t.page = ${page}`,
    newestFirst,
    request,
  );
}

/** Returns whether the id was free. */
export async function insertGiftCard(tx: Transaction, page: NodeId, id: NodeId, name: string): Promise<boolean> {
  if (!(await insertNode(tx, { id, type: "gift_card", owner: page }))) return false;
  await tx.runOne(sql`INSERT INTO gift_cards (page, id, name) VALUES (${page}, ${id}, ${name})`);
  return true;
}

export async function updateGiftCard(tx: Transaction, page: NodeId, id: string, name: string): Promise<void> {
  await tx.runOne(sql`UPDATE gift_cards SET name = ${name} WHERE page = ${page} AND id = ${id}`);
}

/** Returns whether it was there. */
export async function deleteGiftCard(tx: Transaction, page: NodeId, id: string): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM gift_cards WHERE page = ${page} AND id = ${id}`)) === 0) return false;
  await deleteNode(tx, nodeId(id));
  return true;
}

const oldestFirst = { columns: ["t.page", "t.id"], direction: "ascending", keyOf: (row: GiftCardRow) => [row.page, row.id] } as const;

/** Every one of the world, for the control API. */
export function listAllGiftCards(reader: Reader, request: PageRequest): Promise<ListPage<GiftCardRow>> {
  return readPage<GiftCardRow>(
    reader,
    sql`SELECT CAST(t.id AS TEXT) AS id, CAST(t.page AS TEXT) AS page, t.name FROM gift_cards t WHERE t.page > 0`,
    oldestFirst,
    request,
  );
}

export async function deleteGiftCardsOfPage(tx: Transaction, page: NodeId): Promise<void> {
  const found = await tx.all<{ id: string }>(sql`SELECT CAST(t.id AS TEXT) AS id FROM gift_cards t WHERE t.page = ${page}`);
  for (const { id } of found) await deleteGiftCard(tx, page, id);
}
