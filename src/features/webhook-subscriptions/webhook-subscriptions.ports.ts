/**
 * The ports of the feature webhook-subscriptions. The features apps and pages use these ports for the entries of a world file, the feature
 * webhook-overrides uses them for the default callback (H5), and the webhook engine (`src/webhooks`) uses them to find the receivers of an event.
 */

import { WorldProblem } from "#graph/worlds/file/schema-words";
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Reader, Transaction } from "#storage/database";
import { type WebhookObject, webhookObjects } from "#webhooks/catalogue/field";
import type { AppCallback } from "#webhooks/events/routing";
import type { EventFacts, WebhookApp } from "#webhooks/ports";
import {
  ANY_OBJECT,
  deletePageSubscription,
  deleteSubscription,
  findRetiredSecret,
  findSubscription,
  isSubscribed,
  listPageSubscriptions,
  listSubscriptions,
  type SubscriptionRow,
  savePageSubscription,
  saveRetiredSecret,
  saveSubscription,
} from "./webhook-subscriptions.store.ts";
import { isSubscribable } from "./webhook-subscriptions.unserved.ts";

/** A callback in a world file. A callback in a world file counts as verified unless the property `verified` is false. */
interface CallbackEntry {
  readonly url: string;
  readonly verify_token?: string;
  readonly verified?: boolean;
}

interface SubscriptionEntry {
  readonly object: WebhookObject;
  readonly fields: readonly string[];
  /** The callback for events of the object; without this property, events go to the app's `callback`. */
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
  /** Returns the callback URL for events of the object to which no override applies. */
  findCallbackUrl(reader: Reader, app: NodeId, object: WebhookObject): Promise<string | undefined>;
  isSubscribed(reader: Reader, app: NodeId, object: WebhookObject, field: string): Promise<boolean>;
  listOfPage(reader: Reader, page: NodeId): Promise<readonly PageSubscription[]>;
  /** Returns the number of sealed values that do not begin with `prefix`. */
  countSealedOtherwise(reader: Reader, prefix: string): Promise<number>;
}

interface SubscriptionWritesPort {
  /**
   * Replaces the app's callbacks and subscriptions. Throws `WorldProblem` if one of the subscribed fields is not a webhook field of the
   * subscription's object.
   */
  saveOfApp(tx: Transaction, app: NodeId, webhooks: AppWebhooks, world: World): Promise<void>;
  /** Replaces the page's subscriptions. Throws `WorldProblem` if one of the subscribed fields is not a webhook field of pages. */
  saveOfPage(tx: Transaction, page: NodeId, subscriptions: readonly PageSubscription[], world: World): Promise<void>;
  /** Stores the replaced secret of an app. For a day, webhooks are signed with both the replaced and the new secret (D-132). */
  retireSecret(tx: Transaction, app: NodeId, sealedSecret: string, world: World): Promise<void>;
  /**
   * Calls the function `again` for each sealed value of an app and stores what `again` returns. If `again` returns undefined, the stored value does
   * not change.
   */
  resealOfApp(tx: Transaction, app: NodeId, again: (sealed: string) => string | undefined): Promise<void>;
}

declare module "#kernel/ports" {
  interface Ports {
    webhook_subscription: SubscriptionPort;
    webhook_subscription_writes: SubscriptionWritesPort;
  }
}

function requireFields(world: World, object: WebhookObject, fields: readonly string[], path: string): void {
  const at = fields.findIndex((field) => !isSubscribable(world, object, field));
  if (at !== -1) throw new WorldProblem(`${path}[${at}]`, `is not a field of ${object}`);
}

function callbackEntryOf({ callback_url, sealed_verify_token, is_verified }: SubscriptionRow, { sealer }: World): CallbackEntry | undefined {
  if (callback_url === null) return undefined;
  const verify_token = sealed_verify_token === null ? "" : sealer.open(sealed_verify_token);
  return { url: callback_url, verify_token, verified: is_verified === 1 };
}

export async function findOfApp(reader: Reader, app: NodeId, world: World): Promise<AppWebhooks> {
  const rows = await listSubscriptions(reader, app);
  const anyObject = rows.find(({ object }) => object === ANY_OBJECT);
  const callback = anyObject === undefined ? undefined : callbackEntryOf(anyObject, world);
  const subscriptions: SubscriptionEntry[] = [];
  for (const row of rows) {
    if (row.object === ANY_OBJECT) continue;
    const own = callbackEntryOf(row, world);
    subscriptions.push({ object: row.object as WebhookObject, fields: JSON.parse(row.fields), ...(own === undefined ? {} : { callback: own }) });
  }
  return { ...(callback === undefined ? {} : { callback }), subscriptions };
}

function rowOf(object: string, fields: readonly string[], callback: CallbackEntry | undefined, { sealer }: World): SubscriptionRow {
  return {
    object,
    callback_url: callback?.url ?? null,
    sealed_verify_token: callback === undefined ? null : sealer.seal(callback.verify_token ?? ""),
    is_verified: callback === undefined || callback.verified === false ? 0 : 1,
    fields: JSON.stringify(fields),
  };
}

export async function saveOfApp(tx: Transaction, app: NodeId, { callback, subscriptions }: AppWebhooks, world: World): Promise<void> {
  const before = await listSubscriptions(tx, app);
  for (const { object } of before) await deleteSubscription(tx, app, object);
  if (callback !== undefined) await saveSubscription(tx, app, rowOf(ANY_OBJECT, [], callback, world));
  const seen = new Set<string>();
  for (const [index, { object, fields, callback: own }] of subscriptions.entries()) {
    const path = `subscriptions[${index}]`;
    if (seen.has(object)) throw new WorldProblem(`${path}.object`, `repeats ${object}`);
    seen.add(object);
    requireFields(world, object, fields, `${path}.fields`);
    await saveSubscription(tx, app, rowOf(object, [...new Set(fields)], own, world));
  }
  // The function does nothing for a new app, which has no waiting events and no callbacks that have failed.
  if (before.length === 0) return;
  const known = new Set(before.map(({ callback_url }) => callback_url));
  for (const given of [callback, ...subscriptions.map((subscription) => subscription.callback)]) {
    if (given !== undefined && !known.has(given.url)) await world.webhooks.resumeUrl(tx, app, given.url);
  }
  await world.webhooks.routesChanged(tx, app);
  await world.webhooks.subscriptionsChanged(tx, app);
}

export async function findCallbackUrl(reader: Reader, app: NodeId, object: WebhookObject): Promise<string | undefined> {
  const own = await findSubscription(reader, app, object);
  return own?.callback_url ?? (await findSubscription(reader, app, ANY_OBJECT))?.callback_url ?? undefined;
}

export async function saveOfPage(tx: Transaction, page: NodeId, subscriptions: readonly PageSubscription[], world: World): Promise<void> {
  for (const { app } of await listPageSubscriptions(tx, page)) {
    await deletePageSubscription(tx, page, app);
    await world.webhooks.subscriptionsChanged(tx, app);
  }
  for (const [index, { app, subscribed_fields }] of subscriptions.entries()) {
    requireFields(world, "page", subscribed_fields, `subscribed_apps[${index}].subscribed_fields`);
    await savePageSubscription(tx, page, app, [...new Set(subscribed_fields)]);
  }
}

/**
 * D-132: the time for which webhooks are also signed with a replaced secret: a day of real time, in which an operator gives the new secret to all
 * receivers.
 */
const OVERLAP_MS = 24 * 60 * 60 * 1_000;

export async function retireSecret(tx: Transaction, app: NodeId, sealed_secret: string, world: World): Promise<void> {
  await saveRetiredSecret(tx, app, { sealed_secret, until_ms: world.webhooks.deps.realNowMs() + OVERLAP_MS });
}

/** AUTH-21, D-60: returns the apps that are subscribed both to the account and to the field. */
export async function subscribersOfAccount(reader: Reader, ports: PortRegistry, { object, field, entity }: EventFacts): Promise<NodeId[]> {
  const subscribed: NodeId[] = [];
  for (const app of await ports.get("chatapp_account").subscribedApps(reader, entity)) {
    if (await isSubscribed(reader, app, object, field)) subscribed.push(app);
  }
  return subscribed;
}

/** Returns a text with the first condition that the app does not meet to get the event (`WebhookAppPort.missingFor`). */
export async function missingFor(
  reader: Reader,
  ports: PortRegistry,
  { object, field, entity }: EventFacts,
  app: NodeId,
): Promise<string | undefined> {
  if (!(await isSubscribed(reader, app, object, field))) {
    const hasCallback = (await findWebhookApp(reader, ports, app))?.callbacks[object] !== undefined;
    const given = `object=${object}${hasCallback ? " and" : ","} fields=${field}${hasCallback ? "" : ", callback_url and verify_token"}`;
    return `app ${app} is not subscribed to ${field} of ${object}: send POST /${app}/subscriptions with ${given}`;
  }
  if (object === "page") {
    const own = (await listPageSubscriptions(reader, entity)).find((one) => one.app === app);
    const mend = `send POST /${entity}/subscribed_apps with subscribed_fields=${field}`;
    if (own === undefined) return `app ${app} is not installed on page ${entity}: ${mend}`;
    if (!own.subscribed_fields.includes(field))
      return `page ${entity} does not send ${field} to app ${app}: ${mend} and the fields that the app already gets`;
  }
  if (object === "chatapp_business_account" && !(await ports.get("chatapp_account").subscribedApps(reader, entity)).includes(app)) {
    return `app ${app} is not subscribed to account ${entity}: send POST /${entity}/subscribed_apps`;
  }
  if (object === "catalog") return `app ${app} is perhaps not installed on the page of catalog ${entity}: send POST /{page_id}/subscribed_apps`;
  if (object === "social")
    return `app ${app} may not get ${field} of account ${entity}: connect the app to the account with a token that has the scopes`;
  return undefined;
}

const callbackOf = (row: SubscriptionRow | undefined): AppCallback | undefined =>
  row === undefined || row.callback_url === null ? undefined : { url: row.callback_url, isVerified: row.is_verified === 1 };

/** Returns the app with its callback for each object: the object's own callback, or the callback for all objects (ROUTE-3). */
export async function findWebhookApp(reader: Reader, ports: PortRegistry, app: NodeId): Promise<WebhookApp | undefined> {
  const facts = await ports.get("app").findFacts(reader, app);
  if (facts === undefined) return undefined;
  const rows = await listSubscriptions(reader, app);
  const rowOf = (object: string) => rows.find((row) => row.object === object);
  const callbacks: Partial<Record<WebhookObject, AppCallback>> = {};
  for (const object of webhookObjects) {
    const callback = callbackOf(rowOf(object)) ?? callbackOf(rowOf(ANY_OBJECT));
    if (callback !== undefined) callbacks[object] = callback;
  }
  const retired = await findRetiredSecret(reader, app);
  return {
    callbacks,
    sealed_secret: facts.sealed_secret,
    ...(retired === undefined ? {} : { previous_secret: { sealed: retired.sealed_secret, until_ms: retired.until_ms } }),
  };
}
