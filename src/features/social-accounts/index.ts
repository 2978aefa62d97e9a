/** The door of the social-accounts room. */
import type { Room } from "#graph/room";
import { socialAccountMigrations } from "./social-accounts.migrations.ts";
import { socialAccountSection } from "./social-accounts.world.ts";

export const socialAccounts: Room = {
  name: "social-accounts",
  migrations: socialAccountMigrations,
  nodeTypes: [
    { type: "social_account", policy: "nobody" },
    { type: "social_scoped_account", policy: "nobody" },
  ],
  sections: [socialAccountSection],
};
