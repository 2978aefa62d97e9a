/** The public API of the migration-intents feature, which stores solutions, and reads (H7) and creates migration intents (D-58). */

import { nobody } from "#auth/policy";
import { defineFeature, nodeType } from "#graph/contract/feature";
import { serveWrite } from "#graph/contract/operation";
import { intentNode, readIntent, setSolutionMigrationIntent } from "./migration-intents.contract.ts";
import { handleSetSolutionMigrationIntent } from "./migration-intents.handlers.ts";
import { migrationIntent } from "./migration-intents.policies.ts";
import { forgetParty, type IntentRow, intentTable, migrationIntentMigrations } from "./migration-intents.store.ts";
import { migrationIntentSection, solutionSection } from "./migration-intents.world.ts";

export const migrationIntents = defineFeature({
  name: "migration-intents",
  migrations: migrationIntentMigrations,
  policies: [migrationIntent],
  nodeTypes: [
    { type: "solution", policy: nobody },
    nodeType<IntentRow>({
      type: "migration_intent",
      policy: migrationIntent,
      reading: { ...readIntent, set: intentNode, find: (_request, reader, node) => intentTable.find(reader, node.owner, node.id) },
    }),
  ],
  operations: [serveWrite(setSolutionMigrationIntent, handleSetSolutionMigrationIntent)],
  worldSections: [solutionSection, migrationIntentSection],
  needs: ["chatapp_account"],
  onOwnerDeleted: forgetParty,
});
