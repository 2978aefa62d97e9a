import { definePolicy } from "#auth/policy";

/** D-165. */
export const ownUser = definePolicy({
  name: "ownUser",
  summary: "the user's own token",
  kinds: ["user", "system_user"],
  scopes: [],
  canSee: ({ token, node }) => (token.type === "user" || token.type === "system_user") && token.user === node.id,
});
