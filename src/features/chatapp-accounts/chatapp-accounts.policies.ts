/** Policies of business messaging accounts (H1 to H7). */
import { definePolicy, type PolicyInput } from "#auth/policy";
import { worksFor } from "#features/businesses/api";
import { taskMissing } from "#kernel/errors";
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

/** D-13: whose app's webhooks of the account these are: a person of the account's business, or of the app. */
async function mayRedirect({ token, node, app, reader, ports, facts }: PolicyInput): Promise<boolean> {
  if (token.user === undefined) return false;
  const roles = await ports.get("app").rolesOf(reader, app.id, token.user);
  if (roles.includes("administrator") || roles.includes("developer")) return true;
  const business = await ports.get("chatapp_account").businessOf(reader, node.owner);
  return business !== undefined && (await worksFor(business, token.user, reader, ports, facts));
}

/** H1, H3, H4, H6. */
export const chatappRedirection = definePolicy({
  ...chatappAccount,
  name: "chatappRedirection",
  summary: `${chatappAccount.summary}, of a person who works for the account's business or is administrator or developer of the app`,
  deny: async (input) =>
    (await mayRedirect(input)) ? undefined : taskMissing("a role on the account's business, or administrator or developer on the app"),
});

/** D-13 [clients]: an app that is not subscribed may subscribe itself, so it may know of the account. */
export const chatappSubscription = definePolicy({
  ...chatappRedirection,
  name: "chatappSubscription",
  summary: `${chatappRedirection.summary}; in the clients profile the app need not be subscribed`,
  canSee: (input) => input.profile === "clients" || isSubscribed(input),
});
