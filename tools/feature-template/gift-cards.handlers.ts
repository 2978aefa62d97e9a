import type { Static } from "typebox";
import type { ListRequest, OperationRequest } from "#graph/contract/operation";
import { notFoundNode } from "#graph/pipeline/route";
import { insertMinted } from "#graph/worlds/nodes.store";
import type { Reader, Transaction } from "#storage/database";
import type { createGiftCard } from "./gift-cards.contract.ts";
import { giftCardTable } from "./gift-cards.store.ts";

export const handleListGiftCards = (request: ListRequest, reader: Reader) => giftCardTable.listOf(reader, request.node.id, request.page);

export async function handleCreateGiftCard(request: OperationRequest<Static<typeof createGiftCard.params>>, tx: Transaction) {
  const { node, params, world } = request;
  return { id: await insertMinted(world.ids, (id) => giftCardTable.insert(tx, { ...params, page: node.id, id })) };
}

export async function handleDeleteGiftCard(request: OperationRequest, tx: Transaction) {
  if (!(await giftCardTable.remove(tx, request.node.owner, request.node.id))) throw notFoundNode(request);
  return { success: true };
}
