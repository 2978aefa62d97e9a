import { definePolicy } from "#auth/policy";
import { microblogAccount } from "#features/microblog-accounts/api";

/** AUTH-15, D-13: of F1 and F2. */
export const microblogInsightsPolicy = definePolicy({
  ...microblogAccount,
  name: "microblogInsights",
  scopes: ["microblog_basic", "microblog_manage_insights"],
});
