/**
 * The ports through which the webhook engine asks features for an event's subscribers, and for an app's callback, secrets and overrides. The features
 * register the ports by name (`kernel/ports.ts`).
 */
import { appFact } from "#auth/tokens";
import { type NodeId, nodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Awaitable } from "#kernel/turns";
import type { Database, Reader } from "#storage/database";
import { FactCache } from "#storage/facts";
import type { WebhookObject } from "./catalogue/field.ts";
import { type AppCallback, type Route, routeOf } from "./events/routing.ts";

export interface EventFacts {
  readonly object: WebhookObject;
  readonly field: string;
  /** The account, page or catalog that `entry[].id` names. */
  readonly entity: NodeId;
  /** The business phone number that the event belongs to. */
  readonly phone: NodeId | undefined;
}

/** Returns those facts of a stored event that routing needs. */
export const eventFactsOf = (row: Readonly<Record<"object" | "field" | "entity", string>> & { readonly phone: string | null }): EventFacts => ({
  object: row.object as WebhookObject,
  field: row.field,
  entity: nodeId(row.entity),
  phone: row.phone === null ? undefined : nodeId(row.phone),
});

interface WebhookSubscribers {
  /**
   * Lists the apps that get the event at `nowMs` (world time): the apps that are subscribed to the event's field and allowed to get the event. Each
   * app is in the list only once; the order of the list has no meaning.
   */
  subscribersOf(reader: Reader, event: EventFacts, nowMs: number): Promise<readonly NodeId[]>;
}

/**
 * The facts about an app that the webhook engine needs. The feature that owns apps calls `tx.invalidate(appFact, id)` when any value of this type
 * changes for an app.
 */
export interface WebhookApp {
  /** The app's default callback for events of each object (D-60). */
  readonly callbacks: Readonly<Partial<Record<WebhookObject, AppCallback>>>;
  readonly sealed_secret: string;
  /**
   * The secret that the app had before its secret was replaced. Until `until_ms` (Unix ms, real time), both the old and the new secret sign
   * deliveries.
   */
  readonly previous_secret?: { readonly sealed: string; readonly until_ms: number };
}

interface WebhookAppPort {
  find(reader: Reader, app: NodeId): Promise<WebhookApp | undefined>;
  /**
   * Describes which requirements for getting the event the app does not meet, and how the app can meet them. Returns undefined if the app meets all
   * requirements.
   */
  missingFor(reader: Reader, event: EventFacts, app: NodeId): Promise<string | undefined>;
}

interface WebhookOverridePort {
  /** D-57: finds the callback URLs that the app has set for the account and for the phone number instead of the app's own callback URL. */
  overridesOf(
    reader: Reader,
    app: NodeId,
    account: NodeId,
    phone: NodeId | undefined,
  ): Promise<{ readonly account: string | undefined; readonly phone: string | undefined }>;
}

declare module "#kernel/ports" {
  interface Ports {
    social_subscribers: WebhookSubscribers;
    chatapp_business_account_subscribers: WebhookSubscribers;
    page_subscribers: WebhookSubscribers;
    catalog_subscribers: WebhookSubscribers;
    webhook_app: WebhookAppPort;
    webhook_override: WebhookOverridePort;
  }
}

const subscriberPorts = {
  social: "social_subscribers",
  chatapp_business_account: "chatapp_business_account_subscribers",
  page: "page_subscribers",
  catalog: "catalog_subscribers",
} as const;

const NO_OVERRIDES = { account: undefined, phone: undefined } as const;

/** Reads the facts of apps through the ports, and caches these facts until they change. */
export class WebhookFacts {
  readonly #ports: PortRegistry;
  readonly #apps: FactCache<WebhookApp>;

  constructor(database: Database, ports: PortRegistry) {
    this.#ports = ports;
    this.#apps = new FactCache(database, appFact);
  }

  subscribersOf(reader: Reader, event: EventFacts, nowMs: number): Promise<readonly NodeId[]> {
    return this.#ports.get(subscriberPorts[event.object]).subscribersOf(reader, event, nowMs);
  }

  /** Finds the facts of an app, for callers outside of transactions. */
  findApp(reader: Reader, app: NodeId): Awaitable<WebhookApp | undefined> {
    return this.#apps.get(app, () => this.#ports.get("webhook_app").find(reader, app));
  }

  /** Finds the facts of an app inside a transaction. The result is not cached, because the transaction may never be committed. */
  async findAppIn(tx: Reader, app: NodeId): Promise<WebhookApp | undefined> {
    return this.#apps.peek(app) ?? (await this.#ports.get("webhook_app").find(tx, app));
  }

  /** Finds the route of an event for an app (D-63). */
  async routeOf(reader: Reader, app: NodeId, of: WebhookApp | undefined, event: EventFacts, honoursOverrides: boolean): Promise<Route> {
    const overrides = honoursOverrides ? await this.#ports.get("webhook_override").overridesOf(reader, app, event.entity, event.phone) : NO_OVERRIDES;
    return routeOf({
      honoursOverrides,
      phoneOverride: overrides.phone,
      accountOverride: overrides.account,
      appCallback: of?.callbacks[event.object],
    });
  }
}
