/** The policy of microblog accounts, which other features may import. */
import { definePolicy } from "#auth/policy";

export const microblogAccount = definePolicy({
  name: "microblogAccount",
  summary: "the microblog user's own token",
  kinds: ["microblog_user"],
  scopes: [],
  canSee: ({ token, node }) => token.microblog_user === node.owner,
});
