/** Policies of business messaging accounts: H1 to H7. */
import { isSubscribedApp } from "./chatapp-accounts.ts";
import type { Policy, PolicyInput } from "./policy.ts";

const people = ["user", "system_user"] as const satisfies Policy["kinds"];
const scopes = ["chatapp_business_management"];

/** AUTH-21, D-13: what counts is that the calling app is subscribed on the account. */
const isSubscribed = ({ token, node, reader, ports, facts }: PolicyInput): Promise<boolean> =>
  isSubscribedApp(node.owner, token.app, reader, ports, facts);

/** D-58: the app is subscribed on the source or destination account, or owns the solution. */
async function hasPart(input: PolicyInput): Promise<boolean> {
  const { token, node, reader, ports, facts } = input;
  const parties = await ports.get("migration_intent").findParties(reader, node.id);
  if (parties === undefined) return false;
  if (parties.solutionOwner === token.app) return true;
  for (const account of parties.accounts) if (await isSubscribedApp(account, token.app, reader, ports, facts)) return true;
  return false;
}

export const chatappPolicies = {
  chatappAccount: { summary: "a user or system user token of an app that is subscribed on the account", kinds: people, scopes, canSee: isSubscribed },

  /** D-13 [clients]: an app that is not subscribed may subscribe itself, so it may know of the account. */
  chatappSubscription: {
    summary: "a user or system user token of an app that is subscribed on the account; in the clients profile of any app",
    kinds: people,
    scopes,
    canSee: (input) => input.profile === "clients" || isSubscribed(input),
  },

  migrationIntent: {
    summary: "a user or system user token of an app that is subscribed on either account or owns the solution",
    kinds: people,
    scopes,
    canSee: hasPart,
  },
} satisfies Record<string, Policy>;
