import { definePolicy } from "#auth/policy";

/** AUTH-16, D-55: the tester rule is the operation's own; any live token may ask. */
export const inspection = definePolicy({
  name: "inspection",
  summary: "a microblog tester of the inspected token's app",
  kinds: ["microblog_user", "app"],
  scopes: [],
  canSee: () => true,
});
