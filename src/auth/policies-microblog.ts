/** Policies of microblog accounts: F1 and F2. */
import type { Policy } from "./policy.ts";

export const microblogPolicies = {
  microblogAccount: {
    summary: "the microblog user's own token",
    kinds: ["microblog_user"],
    scopes: [],
    canSee: ({ token, node }) => token.microblog_user === node.owner,
  },

  /** AUTH-15, D-13. */
  microblogInsights: {
    summary: "the microblog user's own token",
    kinds: ["microblog_user"],
    scopes: ["microblog_basic", "microblog_manage_insights"],
    canSee: ({ token, node }) => token.microblog_user === node.owner,
  },
} satisfies Record<string, Policy>;
