import type { Static } from "typebox";
import type { OperationRequest } from "#graph/contract/operation";
import { notFoundNode } from "#graph/pipeline/route";
import { insertMinted } from "#graph/worlds/nodes.store";
import type { Transaction } from "#storage/database";
import type { createPersona } from "./personas.contract.ts";
import { personaTable } from "./personas.store.ts";

export async function handleCreatePersona(request: OperationRequest<Static<typeof createPersona.params>>, tx: Transaction) {
  const { node, params, world } = request;
  return { id: await insertMinted(world.ids, (id) => personaTable.insert(tx, { ...params, page: node.id, id })) };
}

export async function handleDeletePersona(request: OperationRequest, tx: Transaction) {
  if (!(await personaTable.remove(tx, request.node.owner, request.node.id))) throw notFoundNode(request);
  return { success: true };
}
