/** What other features ask of subscriptions: what a world file says of an app's and a page's, and the URL that H5 shows. */
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import type { WebhookObject } from "#webhooks/catalogue/field";

/** A callback as a world file gives it: it counts as verified unless it says otherwise. */
export interface CallbackEntry {
  readonly url: string;
  readonly verify_token?: string;
  readonly verified?: boolean;
}

export interface SubscriptionEntry {
  readonly object: WebhookObject;
  readonly fields: readonly string[];
  /** The object's own callback; without one the app's serves. */
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
  /** Where events of the object go that no override catches. */
  findCallbackUrl(reader: Reader, app: NodeId, object: WebhookObject): Promise<string | undefined>;
  isSubscribed(reader: Reader, app: NodeId, object: WebhookObject, field: string): Promise<boolean>;
  listOfPage(reader: Reader, page: NodeId): Promise<readonly PageSubscription[]>;
}

interface SubscriptionWritesPort {
  /** Brings the app's callbacks and subscriptions to exactly these. Throws `WorldProblem` for a field that its object does not have. */
  saveOfApp(tx: Transaction, app: NodeId, webhooks: AppWebhooks, world: World): Promise<void>;
  /** Throws `WorldProblem` for a field that pages do not have. */
  saveOfPage(tx: Transaction, page: NodeId, subscriptions: readonly PageSubscription[], world: World): Promise<void>;
  /** The app has a new secret: the old one signs beside it for a while. */
  retireSecret(tx: Transaction, app: NodeId, sealedSecret: string, world: World): Promise<void>;
}

declare module "#kernel/ports" {
  interface Ports {
    webhook_subscription: SubscriptionPort;
    webhook_subscription_writes: SubscriptionWritesPort;
  }
}
