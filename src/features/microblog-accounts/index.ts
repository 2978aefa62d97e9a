/** The public API of the microblog-accounts feature. */

import { defineFeature } from "#graph/contract/feature";
import { microblogAccountMigrations } from "./microblog-accounts.migrations.ts";
import { microblogAccount } from "./microblog-accounts.policies.ts";
import { forgetUser } from "./microblog-accounts.store.ts";
import { microblogUserSection } from "./microblog-accounts.world.ts";

export const microblogAccounts = defineFeature({
  name: "microblog-accounts",
  migrations: microblogAccountMigrations,
  policies: [microblogAccount],
  nodeTypes: [{ type: "microblog_user", policy: microblogAccount }],
  worldSections: [microblogUserSection],
  onOwnerDeleted: forgetUser,
});
