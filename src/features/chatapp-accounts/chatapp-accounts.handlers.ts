import type { OperationRequest } from "#graph/contract/operation";
import type { Transaction } from "#storage/database";
import { lockAccount, unsubscribeApp } from "./chatapp-accounts.store.ts";

export async function handleUnsubscribeApp({ node, caller, world }: OperationRequest, tx: Transaction) {
  await lockAccount(tx, node.id);
  await unsubscribeApp(tx, node.id, caller.app.id);
  await world.ports.get("account_override_writes").removeAll(tx, node.id, caller.app.id);
  await world.webhooks.subscriptionsChanged(tx, caller.app.id);
  return { success: true };
}
