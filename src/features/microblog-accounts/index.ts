/** The public API of the microblog-accounts feature, which stores microblog users. */

import { defineFeature } from "#graph/contract/feature";
import { namedNode } from "#graph/contract/named-node";
import { microblogAccount } from "./microblog-accounts.api.ts";
import { forgetUser, microblogAccountMigrations, microblogUserTable } from "./microblog-accounts.store.ts";
import { microblogUserSection } from "./microblog-accounts.world.ts";

export const microblogAccounts = defineFeature({
  name: "microblog-accounts",
  migrations: microblogAccountMigrations,
  policies: [microblogAccount],
  nodeTypes: [
    namedNode({
      ...{ type: "microblog_user", policy: microblogAccount, operation: "readMicroblogUser" },
      ...{ surfaces: ["microblog"], versions: "unversioned", hasUsername: true, find: microblogUserTable.find },
    }),
  ],
  worldSections: [microblogUserSection],
  onOwnerDeleted: forgetUser,
});
