/** The part of the microblog-accounts feature that other features may import: the policy of microblog accounts. */
import { definePolicy } from "#auth/policy";

export const microblogAccount = definePolicy({
  name: "microblogAccount",
  summary: "the microblog user's own token",
  kinds: ["microblog_user"],
  scopes: [],
  canSee: ({ token, node }) => token.microblog_user === node.owner,
});
