/** The public API of the microblog-accounts feature. */
import type { Feature } from "#graph/contract/feature";
import { microblogAccountMigrations } from "./microblog-accounts.migrations.ts";
import { forgetUser } from "./microblog-accounts.store.ts";
import { microblogUserSection } from "./microblog-accounts.world.ts";

export const microblogAccounts: Feature = {
  name: "microblog-accounts",
  migrations: microblogAccountMigrations,
  nodeTypes: [{ type: "microblog_user", policy: "microblogAccount" }],
  sections: [microblogUserSection],
  forgetOwner: forgetUser,
};
