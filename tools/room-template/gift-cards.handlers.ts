import type { Static } from "typebox";
import type { Call, ListCall } from "#graph/contract";
import { notFoundNode } from "#graph/matching";
import type { Reader, Transaction } from "#storage/database";
import type { createGiftCard } from "./gift-cards.contract.ts";
import { deleteGiftCard, insertGiftCard, listGiftCardsOfPage } from "./gift-cards.store.ts";

export const handleListGiftCards = (call: ListCall, reader: Reader) => listGiftCardsOfPage(reader, call.node.id, call.page);

export async function handleCreateGiftCard(call: Call<Static<typeof createGiftCard.params>>, tx: Transaction) {
  const { node, params, world } = call;
  const id = world.ids.mint();
  await insertGiftCard(tx, node.id, id, params.name);
  return { id };
}

export async function handleDeleteGiftCard(call: Call, tx: Transaction) {
  if (!(await deleteGiftCard(tx, call.node.owner, call.node.id))) throw notFoundNode(call);
  return { success: true };
}
