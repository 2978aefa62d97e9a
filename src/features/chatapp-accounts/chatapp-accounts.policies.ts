/** Policies of business messaging accounts (H1 to H7). */
import { definePolicy, type PolicyInput } from "#auth/policy";
import { isSubscribedApp } from "./chatapp-accounts.ports.ts";

/** AUTH-21, D-13: what counts is that the calling app is subscribed on the account. */
const isSubscribed = ({ token, node, reader, ports, facts }: PolicyInput): Promise<boolean> =>
  isSubscribedApp(node.owner, token.app, reader, ports, facts);

export const chatappAccount = definePolicy({
  name: "chatappAccount",
  summary: "a user or system user token of an app that is subscribed on the account",
  kinds: ["user", "system_user"],
  scopes: ["chatapp_business_management"],
  canSee: isSubscribed,
});

/** D-13 [clients]: an app that is not subscribed may subscribe itself, so it may know of the account. */
export const chatappSubscription = definePolicy({
  ...chatappAccount,
  name: "chatappSubscription",
  summary: "a user or system user token of an app that is subscribed on the account; in the clients profile of any app",
  canSee: (input) => input.profile === "clients" || isSubscribed(input),
});
