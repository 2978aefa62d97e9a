/** What others ask of business messaging accounts. */

import type { FactsOf } from "#auth/facts-of";
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
