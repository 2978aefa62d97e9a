/** The public API of the migration-intents feature: H7, solutions, and creating an intent (D-58). */

import { type Feature, nodeType } from "#graph/contract/feature";
import { serveWrite } from "#graph/contract/operation";
import { findNode } from "#graph/worlds/nodes.store";
import { nodeId } from "#kernel/ids";
import { intentNode, readIntent, setSolutionMigrationIntent } from "./migration-intents.contract.ts";
import { handleSetSolutionMigrationIntent } from "./migration-intents.handlers.ts";
import { migrationIntentMigrations } from "./migration-intents.migrations.ts";
import { findIntent, findSolution, forgetParty, type IntentRow } from "./migration-intents.store.ts";
import { migrationIntentSection, solutionSection } from "./migration-intents.world.ts";

export const migrationIntents: Feature = {
  name: "migration-intents",
  migrations: migrationIntentMigrations,
  nodeTypes: [
    { type: "solution", policy: "nobody" },
    nodeType<IntentRow>({
      type: "migration_intent",
      policy: "migrationIntent",
      reading: { ...readIntent, set: intentNode, find: (_request, reader, node) => findIntent(reader, node.owner, node.id) },
    }),
  ],
  operations: [serveWrite(setSolutionMigrationIntent, handleSetSolutionMigrationIntent)],
  sections: [solutionSection, migrationIntentSection],
  forgetOwner: forgetParty,
  registerPorts(ports) {
    ports.register("migration_intent", {
      async findParties(reader, id) {
        const node = await findNode(reader, id);
        const row = node === undefined ? undefined : await findIntent(reader, node.owner, id);
        if (row === undefined) return undefined;
        const solution = row.solution === null ? undefined : await findSolution(reader, row.solution);
        const accounts = [row.waba, row.destination_waba].filter((account) => account !== null).map(nodeId);
        return { accounts, solutionOwner: solution === undefined ? undefined : nodeId(solution.owner_app) };
      },
    });
  },
};
