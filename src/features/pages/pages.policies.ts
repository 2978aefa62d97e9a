import { onPage } from "#auth/page-policies";

/** D-13, A: `pages_messaging` on that page, with page task MESSAGING for a user token. */
export const pageMessaging = onPage({
  name: "pageMessaging",
  summary: "a token of the page, or of a person with task MESSAGING on it",
  scopes: ["pages_messaging"],
  anyOf: ["MESSAGING"],
});
