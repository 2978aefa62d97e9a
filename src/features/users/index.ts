/** The public API of the users feature. */
import type { Feature } from "#graph/contract/feature";
import { userMigrations } from "./users.migrations.ts";
import { userSection } from "./users.world.ts";

export const users: Feature = {
  name: "users",
  migrations: userMigrations,
  nodeTypes: [{ type: "user", policy: "nobody" }],
  sections: [userSection],
};
