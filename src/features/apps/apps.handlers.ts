import type { Static } from "typebox";
import type { OperationRequest } from "#graph/contract/operation";
import { notFoundNode } from "#graph/pipeline/route";
import { readMigrations } from "#graph/versions/migration-windows";
import { unixSeconds } from "#kernel/clock";
import type { Transaction } from "#storage/database";
import type { updateApp } from "./apps.contract.ts";
import { findApp, saveMigrations } from "./apps.store.ts";

/** VER-7e: switches that are not in the request do not change. */
export async function handleUpdateApp(request: OperationRequest<Static<typeof updateApp.params>>, tx: Transaction) {
  const { node, params, world } = request;
  const switched = readMigrations(params.migrations, "migrations", world.calendar.migrations, unixSeconds(world.clock));
  await tx.lock("app", node.id);
  const app = await findApp(tx, node.id);
  if (app === undefined) throw notFoundNode(request);
  await saveMigrations(tx, node.id, { ...app.migrations, ...switched });
  return { success: true };
}
