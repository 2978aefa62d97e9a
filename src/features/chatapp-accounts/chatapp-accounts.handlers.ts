import type { ListRequest, OperationRequest } from "#graph/contract/operation";
import type { Reader, Transaction } from "#storage/database";
import { lockAccount, numberTable, pageSubscribedApps, unsubscribeApp } from "./chatapp-accounts.store.ts";

export const handleListNumbers = (request: ListRequest, reader: Reader) => numberTable.listOf(reader, request.node.id, request.page);

export const handleListSubscribedApps = (request: ListRequest, reader: Reader) => pageSubscribedApps(reader, request.node.id, request.page);

export async function handleUnsubscribeApp({ node, caller, world }: OperationRequest, tx: Transaction) {
  await lockAccount(tx, node.id);
  await unsubscribeApp(tx, node.id, caller.app.id);
  await world.ports.get("account_override_writes").removeAll(tx, node.id, caller.app.id);
  await world.webhooks.subscriptionsChanged(tx, caller.app.id);
  return { success: true };
}
