/** The public API of the social-accounts feature. */

import { defineFeature } from "#graph/contract/feature";
import { socialAccountMigrations } from "./social-accounts.migrations.ts";
import { socialAccount } from "./social-accounts.policies.ts";
import { findSocialAccount, findUsernames, forgetHolder, listAccountsOfPage } from "./social-accounts.store.ts";
import { socialAccountSection } from "./social-accounts.world.ts";

export const socialAccounts = defineFeature({
  name: "social-accounts",
  migrations: socialAccountMigrations,
  policies: [socialAccount],
  nodeTypes: [
    { type: "social_account", policy: socialAccount },
    { type: "social_scoped_account", policy: socialAccount },
  ],
  worldSections: [socialAccountSection],
  onOwnerDeleted: forgetHolder,
  ports: () => ({
    social_account: { findAccount: findSocialAccount, accountsOfPage: listAccountsOfPage, findUsernames },
  }),
});
