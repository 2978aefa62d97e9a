/** The public API of the microblog-accounts feature, which stores microblog users. */

import { defineFeature, nodeType } from "#graph/contract/feature";
import { microblogAccount } from "./microblog-accounts.api.ts";
import { microblogUserNode, readMicroblogUser } from "./microblog-accounts.contract.ts";
import { forgetUser, type MicroblogUser, microblogAccountMigrations, microblogUserTable } from "./microblog-accounts.store.ts";
import { microblogUserSection } from "./microblog-accounts.world.ts";

export const microblogAccounts = defineFeature({
  name: "microblog-accounts",
  migrations: microblogAccountMigrations,
  policies: [microblogAccount],
  nodeTypes: [
    nodeType<MicroblogUser>({
      type: "microblog_user",
      policy: microblogAccount,
      reading: { ...readMicroblogUser, set: microblogUserNode, find: (_request, reader, node) => microblogUserTable.find(reader, node.id) },
    }),
  ],
  worldSections: [microblogUserSection],
  onOwnerDeleted: forgetUser,
});
