/** The public API of the users feature. */
import { nobody } from "#auth/policy";
import { defineFeature } from "#graph/contract/feature";
import { userMigrations } from "./users.migrations.ts";
import { userSection } from "./users.world.ts";

export const users = defineFeature({
  name: "users",
  migrations: userMigrations,
  nodeTypes: [{ type: "user", policy: nobody }],
  worldSections: [userSection],
});
