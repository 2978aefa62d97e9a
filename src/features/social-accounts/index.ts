/** The public API of the social-accounts feature. */
import type { Feature } from "#graph/contract/feature";
import { socialAccountMigrations } from "./social-accounts.migrations.ts";
import { findSocialAccount, forgetHolder } from "./social-accounts.store.ts";
import { socialAccountSection } from "./social-accounts.world.ts";

export const socialAccounts: Feature = {
  name: "social-accounts",
  migrations: socialAccountMigrations,
  nodeTypes: [
    { type: "social_account", policy: "socialAccount" },
    { type: "social_scoped_account", policy: "socialAccount" },
  ],
  sections: [socialAccountSection],
  forgetOwner: forgetHolder,
  registerPorts(ports) {
    ports.register("social_account", { findAccount: findSocialAccount });
  },
};
