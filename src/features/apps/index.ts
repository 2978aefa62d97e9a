/** The door of the apps room. */
import type { Room } from "#graph/room";
import { appMigrations } from "./apps.migrations.ts";
import { findApp, rolesOf } from "./apps.store.ts";
import { appSection } from "./apps.world.ts";

export const apps: Room = {
  name: "apps",
  migrations: appMigrations,
  nodeTypes: [{ type: "app", policy: "ownApp" }],
  sections: [appSection],
  registerReaders(readers) {
    readers.register("app", { findFacts: findApp, rolesOf });
  },
};
