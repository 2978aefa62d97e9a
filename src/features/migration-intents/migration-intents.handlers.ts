import type { Static } from "typebox";
import type { OperationRequest } from "#graph/contract/operation";
import { findNode, insertMinted } from "#graph/worlds/nodes.store";
import { invalidParameter } from "#kernel/errors";
import type { Transaction } from "#storage/database";
import { NO_OTHER_ACCOUNT, NO_SOLUTION, type setSolutionMigrationIntent } from "./migration-intents.contract.ts";
import { findSolution, insertIntent } from "./migration-intents.store.ts";

export async function handleSetSolutionMigrationIntent(request: OperationRequest<Static<typeof setSolutionMigrationIntent.params>>, tx: Transaction) {
  const { node, params, caller, world } = request;
  const { solution_id, destination_waba } = params;
  if ((await findSolution(tx, solution_id)) === undefined) throw invalidParameter("solution_id", NO_SOLUTION);
  if (destination_waba !== undefined) {
    // An account that the app cannot see gets the error of a missing one.
    const isAccount = (await findNode(tx, destination_waba))?.type === "chatapp_account";
    const isSeen = isAccount && (await world.ports.get("chatapp_account").isSubscribed(tx, destination_waba, caller.app.id));
    if (!isSeen || destination_waba === node.id) throw invalidParameter("destination_waba", NO_OTHER_ACCOUNT);
  }
  const intent = { waba: node.id, destination_waba: destination_waba ?? null, solution: solution_id, status: "INITIATED" as const };
  return { id: await insertMinted(world.ids, (id) => insertIntent(tx, { ...intent, id })) };
}
