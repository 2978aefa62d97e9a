/** The door of the microblog-accounts room. */
import type { Room } from "#graph/room";
import { microblogAccountMigrations } from "./microblog-accounts.migrations.ts";
import { forgetUser } from "./microblog-accounts.store.ts";
import { microblogUserSection } from "./microblog-accounts.world.ts";

export const microblogAccounts: Room = {
  name: "microblog-accounts",
  migrations: microblogAccountMigrations,
  nodeTypes: [{ type: "microblog_user", policy: "microblogAccount" }],
  sections: [microblogUserSection],
  forgetOwner: forgetUser,
};
