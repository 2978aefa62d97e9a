/** The public API of the social-accounts feature, which stores professional social accounts. */

import { defineFeature } from "#graph/contract/feature";
import { namedNode } from "#graph/contract/named-node";
import { socialAccount } from "./social-accounts.api.ts";
import {
  findSocialAccount,
  findUsernames,
  forgetHolder,
  listAccountsOfPage,
  listSocialAccounts,
  socialAccountMigrations,
  socialAccountTable,
} from "./social-accounts.store.ts";
import { socialAccountSection } from "./social-accounts.world.ts";

export const socialAccounts = defineFeature({
  name: "social-accounts",
  migrations: socialAccountMigrations,
  policies: [socialAccount],
  nodeTypes: [
    namedNode({
      ...{ type: "social_account", policy: socialAccount, operation: "readSocialAccount" },
      ...{ surfaces: ["base", "social_login"], hasUsername: true, find: socialAccountTable.find },
    }),
    { type: "social_scoped_account", policy: socialAccount },
  ],
  worldSections: [socialAccountSection],
  onOwnerDeleted: forgetHolder,
  ports: () => ({
    social_account: {
      findAccount: findSocialAccount,
      accountsOfPage: listAccountsOfPage,
      findUsernames,
      listAccounts: async (reader, page) => (await listSocialAccounts(reader, page)).rows,
    },
  }),
});
