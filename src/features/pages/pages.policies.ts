import { onPage } from "#auth/page-policies";
import { definePolicy } from "#auth/policy";

/** D-13, A: `pages_messaging` on that page, with page task MESSAGING for a user token. */
export const pageMessaging = onPage({
  name: "pageMessaging",
  summary: "a token of the page, or of a person with task MESSAGING on it",
  scopes: ["pages_messaging"],
  anyOf: ["MESSAGING"],
});

/** D-165: who knows of the page may read its name. */
export const pageNodePolicy = definePolicy({
  name: "pageNode",
  summary: "a token of the page, or of a person with any role on it",
  kinds: pageMessaging.kinds,
  scopes: [],
  canSee: pageMessaging.canSee,
});
