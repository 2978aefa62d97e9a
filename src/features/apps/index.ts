/** The public API of the apps feature, which stores apps and the roles of people on them. */
import { ownApp } from "#auth/policy";
import { defineFeature, nodeType } from "#graph/contract/feature";
import { serveWrite } from "#graph/contract/operation";
import { appNode, readApp, updateApp } from "./apps.contract.ts";
import { handleUpdateApp } from "./apps.handlers.ts";
import { countOthers, opensAny, resealJob, scheduleReseal } from "./apps.reseal.ts";
import { type AppRow, appMigrations, appTable, deleteRolesOfPerson, findApp, recordMarketingUse, rolesOf } from "./apps.store.ts";
import { appSection } from "./apps.world.ts";

export const apps = defineFeature({
  name: "apps",
  migrations: appMigrations,
  nodeTypes: [
    nodeType<AppRow>({
      type: "app",
      policy: ownApp,
      reading: { ...readApp, set: appNode, find: (_request, reader, node) => appTable.find(reader, node.id) },
    }),
  ],
  operations: [serveWrite(updateApp, handleUpdateApp)],
  worldSections: [appSection],
  jobs: [resealJob],
  onOwnerDeleted: deleteRolesOfPerson,
  needs: ["webhook_subscription", "webhook_subscription_writes"],
  ports: () => ({
    app: { findFacts: findApp, findNames: appTable.findNames, rolesOf },
    app_writes: { recordMarketingUse },
    sealed_values: { schedule: scheduleReseal, countOthers, opensAny },
  }),
});
