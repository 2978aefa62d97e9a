/** Subscriptions in the entries of `apps` and `pages` of a world file. */

import { WorldProblem } from "#graph/worlds/file/schema-words";
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import type { WebhookObject } from "#webhooks/catalogue/field";
import type { AppWebhooks, CallbackEntry, PageSubscription, SubscriptionEntry } from "./webhook-subscriptions.ports.ts";
import {
  ANY_OBJECT,
  deletePageSubscription,
  deleteSubscription,
  findSubscription,
  listPageSubscriptions,
  listSubscriptions,
  type SubscriptionRow,
  savePageSubscription,
  saveRetiredSecret,
  saveSubscription,
} from "./webhook-subscriptions.store.ts";
import { isSubscribable } from "./webhook-subscriptions.unserved.ts";

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
  // A new app has no waiting events, and no callback of it has failed.
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

/** D-132: a day of real time, in which an operator gives the new secret to all receivers. */
const OVERLAP_MS = 24 * 60 * 60 * 1_000;

export async function retireSecret(tx: Transaction, app: NodeId, sealed_secret: string, world: World): Promise<void> {
  await saveRetiredSecret(tx, app, { sealed_secret, until_ms: world.webhooks.deps.realNowMs() + OVERLAP_MS });
}
