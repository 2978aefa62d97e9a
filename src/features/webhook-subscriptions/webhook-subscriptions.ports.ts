/** The port `webhook_subscription_store`: subscriptions in world file entries of apps and pages, and the callback URL for H5. */
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import type { WebhookObject } from "#webhooks/catalogue/field";

/** A callback in a world file; verified by default. */
export interface CallbackEntry {
  readonly url: string;
  readonly verify_token?: string;
  readonly verified?: boolean;
}

export interface SubscriptionEntry {
  readonly object: WebhookObject;
  readonly fields: readonly string[];
  /** The object's own callback; by default the app's `callback`. */
  readonly callback?: CallbackEntry;
}

export interface AppWebhooks {
  readonly callback?: CallbackEntry;
  readonly subscriptions: readonly SubscriptionEntry[];
}

export interface PageSubscription {
  readonly app: NodeId;
  readonly subscribed_fields: readonly string[];
}

interface SubscriptionPort {
  findOfApp(reader: Reader, app: NodeId, world: World): Promise<AppWebhooks>;
  /** The callback URL for events of the object without an override. */
  findCallbackUrl(reader: Reader, app: NodeId, object: WebhookObject): Promise<string | undefined>;
  isSubscribed(reader: Reader, app: NodeId, object: WebhookObject, field: string): Promise<boolean>;
  listOfPage(reader: Reader, page: NodeId): Promise<readonly PageSubscription[]>;
  /** How many sealed values do not begin with `prefix`. */
  countSealedOtherwise(reader: Reader, prefix: string): Promise<number>;
}

interface SubscriptionWritesPort {
  /** Replaces the app's callbacks and subscriptions. Throws `WorldProblem` for a field that its object does not have. */
  saveOfApp(tx: Transaction, app: NodeId, webhooks: AppWebhooks, world: World): Promise<void>;
  /** Replaces the page's subscriptions. Throws `WorldProblem` for a field that pages do not have. */
  saveOfPage(tx: Transaction, page: NodeId, subscriptions: readonly PageSubscription[], world: World): Promise<void>;
  /** Stores the old secret of an app, which signs beside the new one for a day (D-132). */
  retireSecret(tx: Transaction, app: NodeId, sealedSecret: string, world: World): Promise<void>;
  /** Replaces what is sealed of an app by what `again` returns for it; undefined leaves it as it is. */
  resealOfApp(tx: Transaction, app: NodeId, again: (sealed: string) => string | undefined): Promise<void>;
}

declare module "#kernel/ports" {
  interface Ports {
    webhook_subscription: SubscriptionPort;
    webhook_subscription_writes: SubscriptionWritesPort;
  }
}
