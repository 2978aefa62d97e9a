/** The ports of the webhook engine: callbacks and subscribers (`src/webhooks`). */
import type { NodeId } from "#kernel/ids";
import type { PortRegistry } from "#kernel/ports";
import type { Reader } from "#storage/database";
import { type WebhookObject, webhookObjects } from "#webhooks/catalogue/field";
import type { AppCallback } from "#webhooks/events/routing";
import type { EventFacts, WebhookApp } from "#webhooks/ports";
import { ANY_OBJECT, findRetiredSecret, isSubscribed, listSubscriptions, type SubscriptionRow } from "./webhook-subscriptions.store.ts";

/** AUTH-21, D-60: the apps that are subscribed both on the account and to the field. */
export async function subscribersOfAccount(reader: Reader, ports: PortRegistry, { object, field, entity }: EventFacts): Promise<NodeId[]> {
  const subscribed: NodeId[] = [];
  for (const app of await ports.get("chatapp_account").subscribedApps(reader, entity)) {
    if (await isSubscribed(reader, app, object, field)) subscribed.push(app);
  }
  return subscribed;
}

const callbackOf = (row: SubscriptionRow | undefined): AppCallback | undefined =>
  row === undefined || row.callback_url === null ? undefined : { url: row.callback_url, isVerified: row.is_verified === 1 };

/** The app's callbacks: for each object its own, or the one for all objects (ROUTE-3). */
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
