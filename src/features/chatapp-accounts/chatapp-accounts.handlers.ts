import type { Call, ListCall } from "#graph/contract";
import type { Reader, Transaction } from "#storage/database";
import { listNumbersOfAccount, pageSubscribedApps, unsubscribeApp } from "./chatapp-accounts.store.ts";

export const handleListNumbers = (call: ListCall, reader: Reader) => listNumbersOfAccount(reader, call.node.id, call.page);

export const handleListSubscribedApps = (call: ListCall, reader: Reader) => pageSubscribedApps(reader, call.node.id, call.page);

export async function handleUnsubscribeApp({ node, caller, world }: Call, tx: Transaction) {
  await unsubscribeApp(tx, node.id, caller.app.id);
  await world.readers.of("override_store").removeAll(tx, node.id, caller.app.id);
  return { success: true };
}
