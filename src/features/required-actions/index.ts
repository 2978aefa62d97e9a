/** The public API of the required-actions feature, which serves the actions that the platform requires of apps (B1). */

import { nobody } from "#auth/policy";
import { defineFeature } from "#graph/contract/feature";
import { serveRead } from "#graph/contract/operation";
import { listRequiredActions } from "./required-actions.contract.ts";
import { handleListRequiredActions } from "./required-actions.handlers.ts";
import { actionTable, requiredActionMigrations } from "./required-actions.store.ts";
import { requiredActionSection } from "./required-actions.world.ts";

export const requiredActions = defineFeature({
  name: "required-actions",
  migrations: requiredActionMigrations,
  nodeTypes: [{ type: "required_action", policy: nobody }],
  operations: [serveRead(listRequiredActions, handleListRequiredActions)],
  worldSections: [requiredActionSection],
  onOwnerDeleted: actionTable.removeAllOf,
});
