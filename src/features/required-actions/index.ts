/** The door of the required-actions room: B1. */
import { serveRead } from "#graph/contract/operation";
import type { Feature } from "#graph/contract/feature";
import { listRequiredActions } from "./required-actions.contract.ts";
import { handleListRequiredActions } from "./required-actions.handlers.ts";
import { requiredActionMigrations } from "./required-actions.migrations.ts";
import { deleteActionsOfApp } from "./required-actions.store.ts";
import { requiredActionSection } from "./required-actions.world.ts";

export const requiredActions: Feature = {
  name: "required-actions",
  migrations: requiredActionMigrations,
  nodeTypes: [{ type: "required_action", policy: "nobody" }],
  operations: [serveRead(listRequiredActions, handleListRequiredActions)],
  sections: [requiredActionSection],
  forgetOwner: deleteActionsOfApp,
};
