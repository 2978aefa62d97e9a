/** The public API of the social-accounts feature, which stores professional social accounts. */

import { defineFeature, nodeType } from "#graph/contract/feature";
import { socialAccount } from "./social-accounts.api.ts";
import { accountNode, readSocialAccount, shownAccount } from "./social-accounts.contract.ts";
import {
  findSocialAccount,
  findUsernames,
  forgetHolder,
  listAccountsOfPage,
  listSocialAccounts,
  socialAccountMigrations,
} from "./social-accounts.store.ts";
import { socialAccountSection } from "./social-accounts.world.ts";

export const socialAccounts = defineFeature({
  name: "social-accounts",
  migrations: socialAccountMigrations,
  policies: [socialAccount],
  nodeTypes: [
    nodeType({
      type: "social_account",
      policy: socialAccount,
      reading: {
        ...readSocialAccount,
        set: accountNode,
        find: async (_request, reader, node) => shownAccount(await findSocialAccount(reader, node.id)),
      },
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
