import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";

export interface GiftCardRow extends Row {
  id: string;
  page: string;
  name: string;
}

const select = sql`SELECT CAST(t.id AS TEXT) AS id, CAST(t.page AS TEXT) AS page, t.name FROM gift_cards t`;

export const findGiftCard = (reader: Reader, page: NodeId, id: string): Promise<GiftCardRow | undefined> =>
  reader.get<GiftCardRow>(append(select, "WHERE t.page = ? AND t.id = ?", [page, id]));

const newestFirst = ordered("descending", "t.id");

export const listGiftCardsOfPage = (reader: Reader, page: NodeId, request: PageRequest): Promise<ListPage<GiftCardRow>> =>
  readPage<GiftCardRow>(reader, append(select, "WHERE t.page = ?", [page]), newestFirst, request);

const oldestFirst = ordered("ascending", "t.page", "t.id");

/** Reads all gift cards of the world, for the control API. */
export const listAllGiftCards = (reader: Reader, request: PageRequest): Promise<ListPage<GiftCardRow>> =>
  readPage<GiftCardRow>(reader, append(select, "WHERE t.page > 0"), oldestFirst, request);

/** Inserts a gift card. Returns whether the id was free. */
export async function insertGiftCard(tx: Transaction, page: NodeId, id: NodeId, name: string): Promise<boolean> {
  if (!(await insertNode(tx, { id, type: "gift_card", owner: page }))) return false;
  await tx.runOne(sql`INSERT INTO gift_cards (page, id, name) VALUES (${page}, ${id}, ${name})`);
  return true;
}

export async function updateGiftCard(tx: Transaction, page: NodeId, id: string, name: string): Promise<void> {
  await tx.runOne(sql`UPDATE gift_cards SET name = ${name} WHERE page = ${page} AND id = ${id}`);
}

/** Deletes a gift card. Returns whether the gift card existed. */
export async function deleteGiftCard(tx: Transaction, page: NodeId, id: string): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM gift_cards WHERE page = ${page} AND id = ${id}`)) === 0) return false;
  await deleteNode(tx, nodeId(id));
  return true;
}

export async function deleteGiftCardsOfPage(tx: Transaction, page: NodeId): Promise<void> {
  const found = await tx.all<{ id: string }>(sql`SELECT CAST(t.id AS TEXT) AS id FROM gift_cards t WHERE t.page = ${page}`);
  for (const { id } of found) await deleteGiftCard(tx, page, id);
}
