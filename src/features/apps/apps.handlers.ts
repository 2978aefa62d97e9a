import type { Static } from "typebox";
import type { OperationRequest } from "#graph/contract/operation";
import { notFoundNode } from "#graph/pipeline/route";
import type { Transaction } from "#storage/database";
import type { updateApp } from "./apps.contract.ts";
import { findApp, saveMigrations } from "./apps.store.ts";

/** VER-7e: switches migrations on or off for an app. The request does not change migrations that it does not name. */
export async function handleUpdateApp(request: OperationRequest<Static<typeof updateApp.params>>, tx: Transaction) {
  const { node, params } = request;
  await tx.lock("app", node.id);
  const app = await findApp(tx, node.id);
  if (app === undefined) throw notFoundNode(request);
  await saveMigrations(tx, node.id, { ...app.migrations, ...params.migrations });
  return { success: true };
}
