import type { Static } from "typebox";
import { uncachedFacts } from "#auth/app-facts";
import { mayChangeAccount } from "#features/chatapp-accounts/api";
import type { OperationRequest } from "#graph/contract/operation";
import { insertMinted } from "#graph/worlds/nodes.store";
import { invalidParameter } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { NO_OTHER_ACCOUNT, NO_SOLUTION, type setSolutionMigrationIntent } from "./migration-intents.contract.ts";
import { intentTable, isSolutionSeen } from "./migration-intents.store.ts";

/**
 * D-305: returns whether the caller may use an account. If the caller may not use the account, the handler throws the same error as for a missing
 * account.
 */
async function mayUseAccount({ caller, world: { ports } }: OperationRequest, tx: Transaction, account: NodeId): Promise<boolean> {
  if (!(await ports.get("chatapp_account").isSubscribed(tx, account, caller.app.id))) return false;
  return mayChangeAccount(account, { ...caller, reader: tx, ports, facts: uncachedFacts });
}

export async function handleSetSolutionMigrationIntent(request: OperationRequest<Static<typeof setSolutionMigrationIntent.params>>, tx: Transaction) {
  const { node, params, caller, world } = request;
  const { solution_id, destination_waba } = params;
  if (!(await isSolutionSeen(tx, solution_id, node.id, caller.app.id))) throw invalidParameter("solution_id", NO_SOLUTION);
  if (destination_waba !== undefined && (destination_waba === node.id || !(await mayUseAccount(request, tx, destination_waba))))
    throw invalidParameter("destination_waba", NO_OTHER_ACCOUNT);
  const intent = { waba: node.id, destination_waba: destination_waba ?? null, solution: solution_id, status: "INITIATED" as const };
  return { id: await insertMinted(world.ids, (id) => intentTable.insert(tx, { ...intent, id })) };
}
