/** What other features may import of business messaging accounts. */
import type { FactsOf } from "#auth/app-facts";
import { definePolicy, type PolicyInput } from "#auth/policy";
import { worksFor } from "#features/businesses/api";
import { taskMissing } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Reader, Transaction } from "#storage/database";

interface ChatappAccountPort {
  /** Whether the app is subscribed to the account's webhooks (AUTH-21). */
  isSubscribed(reader: Reader, account: NodeId, app: NodeId): Promise<boolean>;
  /** The business that the account belongs to, if any. */
  businessOf(reader: Reader, account: NodeId): Promise<NodeId | undefined>;
  /** The apps that are subscribed, by id. */
  subscribedApps(reader: Reader, account: NodeId): Promise<readonly NodeId[]>;
}

interface ChatappAccountWritesPort {
  /** Subscribes the app; twice changes nothing. */
  subscribe(tx: Transaction, account: NodeId, app: NodeId): Promise<void>;
}

declare module "#kernel/ports" {
  interface Ports {
    chatapp_account: ChatappAccountPort;
    chatapp_account_writes: ChatappAccountWritesPort;
  }
}

/** The fact is only ever kept as true: a subscription that is not there is looked up each time. */
export const chatappSubscriptionFact = "chatapp_subscription";
export const chatappSubscriptionKey = (account: string, app: string): string => `${account} ${app}`;

export async function isSubscribedApp(account: NodeId, app: NodeId, reader: Reader, ports: PortRegistry, facts: FactsOf): Promise<boolean> {
  const load = async () => ((await ports.get("chatapp_account").isSubscribed(reader, account, app)) ? true : undefined);
  return (await facts<true>(chatappSubscriptionFact).get(chatappSubscriptionKey(account, app), load)) === true;
}

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
