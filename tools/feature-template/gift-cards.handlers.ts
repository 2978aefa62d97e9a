import type { Static } from "typebox";
import type { OperationRequest } from "#graph/contract/operation";
import { notFoundNode } from "#graph/pipeline/route";
import { insertMinted } from "#graph/worlds/nodes.store";
import type { Transaction } from "#storage/database";
import type { createGiftCard } from "./gift-cards.contract.ts";
import { giftCardTable } from "./gift-cards.store.ts";

export async function handleCreateGiftCard(request: OperationRequest<Static<typeof createGiftCard.params>>, tx: Transaction) {
  const { node, params, world } = request;
  return { id: await insertMinted(world.ids, (id) => giftCardTable.insert(tx, { ...params, page: node.id, id })) };
}

export async function handleDeleteGiftCard(request: OperationRequest, tx: Transaction) {
  if (!(await giftCardTable.remove(tx, request.node.owner, request.node.id))) throw notFoundNode(request);
  return { success: true };
}
