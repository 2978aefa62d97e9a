import { appTokenAlone } from "#auth/app-policies";
import { definePolicy } from "#auth/policy";

/** D-60. */
export const appSubscriptions = appTokenAlone("appSubscriptions");

/** D-60: the calling app is subscribed, or lists which apps are. */
export const pageSubscriptions = definePolicy({
  name: "pageSubscriptions",
  summary: "a token of the page",
  kinds: ["page"],
  scopes: [],
  canSee: ({ token, node }) => token.page === node.owner,
});
