/** The types, functions and policies of the chatapp-accounts feature that other features may import. */
import type { FactsOf } from "#auth/app-facts";
import { definePolicy, type PolicyInput } from "#auth/policy";
import { worksFor } from "#features/businesses/api";
import { taskMissing } from "#kernel/errors";
import type { NodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Reader, Transaction } from "#storage/database";

interface ChatappAccountPort {
  /** Returns whether the app is subscribed to the account's webhooks (AUTH-21). */
  isSubscribed(reader: Reader, account: NodeId, app: NodeId): Promise<boolean>;
  /** Returns the business that the account belongs to, or undefined if the account belongs to no business. */
  businessOf(reader: Reader, account: NodeId): Promise<NodeId | undefined>;
  /** Returns the apps that are subscribed to the account's webhooks, ordered by id. */
  subscribedApps(reader: Reader, account: NodeId): Promise<readonly NodeId[]>;
}

interface ChatappAccountWritesPort {
  /** Subscribes the app to the account's webhooks. If the app is already subscribed, nothing changes. */
  subscribe(tx: Transaction, account: NodeId, app: NodeId): Promise<void>;
}

declare module "#kernel/ports" {
  interface Ports {
    chatapp_account: ChatappAccountPort;
    chatapp_account_writes: ChatappAccountWritesPort;
  }
}

/**
 * The cached fact that an app is subscribed to an account's webhooks. Only existing subscriptions are cached; a missing subscription is looked up
 * each time.
 */
export const chatappSubscriptionFact = "chatapp_subscription";
export const chatappSubscriptionKey = (account: string, app: string): string => `${account} ${app}`;

export async function isSubscribedApp(account: NodeId, app: NodeId, reader: Reader, ports: PortRegistry, facts: FactsOf): Promise<boolean> {
  const load = async () => ((await ports.get("chatapp_account").isSubscribed(reader, account, app)) ? true : undefined);
  return (await facts<true>(chatappSubscriptionFact).get(chatappSubscriptionKey(account, app), load)) === true;
}

/**
 * AUTH-21, D-13: returns whether the calling app is subscribed to the account's webhooks, which gives the app access to the account and its numbers.
 */
const isSubscribed = ({ token, node, reader, ports, facts }: PolicyInput): Promise<boolean> =>
  isSubscribedApp(node.owner, token.app, reader, ports, facts);

export const chatappAccount = definePolicy({
  name: "chatappAccount",
  summary: "a user or system user token of an app that is subscribed to the account",
  kinds: ["user", "system_user"],
  scopes: ["chatapp_business_management"],
  canSee: isSubscribed,
});

type Caller = Pick<PolicyInput, "token" | "app" | "reader" | "ports" | "facts">;

async function worksForAccount(account: NodeId, { token, reader, ports, facts }: Caller): Promise<boolean> {
  if (token.user === undefined) return false;
  const business = await ports.get("chatapp_account").businessOf(reader, account);
  return business !== undefined && worksFor(business, token.user, reader, ports, facts);
}

/**
 * D-305: returns whether the caller may change the account: the token's person is administrator or developer of the app, or works for the account's
 * business.
 */
export async function mayChangeAccount(account: NodeId, caller: Caller): Promise<boolean> {
  const { token, app, reader, ports } = caller;
  if (token.user === undefined) return false;
  const roles = await ports.get("app").rolesOf(reader, app.id, token.user);
  return roles.includes("administrator") || roles.includes("developer") || worksForAccount(account, caller);
}

/** The policy of operations that change an account or a phone number. */
export const chatappChange = definePolicy({
  ...chatappAccount,
  name: "chatappChange",
  summary: `${chatappAccount.summary}, of a person who works for the account's business or is administrator or developer of the app`,
  deny: async (input) =>
    (await mayChangeAccount(input.node.owner, input))
      ? undefined
      : taskMissing("a role on the account's business, or administrator or developer on the app"),
});

/** D-305 [clients]: an app that is not subscribed may subscribe itself if the token's person works for the account's business. */
export const chatappSubscription = definePolicy({
  ...chatappChange,
  name: "chatappSubscription",
  summary: `${chatappChange.summary}; in the clients profile also of an app that is not subscribed, if the person works for the account's business`,
  canSee: async (input) => (await isSubscribed(input)) || (input.profile === "clients" && worksForAccount(input.node.owner, input)),
});
