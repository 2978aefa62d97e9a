import type { Static } from "typebox";
import type { OperationRequest } from "#graph/contract/operation";
import { notFoundNode } from "#graph/pipeline/route";
import type { Transaction } from "#storage/database";
import { verifyCallback } from "#webhooks/callbacks/handshake";
import type { subscribeApp, subscribeToPage, unsubscribeApp } from "./webhook-subscriptions.contract.ts";
import {
  ANY_OBJECT,
  deletePageSubscription,
  deleteSubscription,
  findSubscription,
  listSubscriptions,
  savePageSubscription,
  saveSubscription,
} from "./webhook-subscriptions.store.ts";
import { unservedPageFields } from "./webhook-subscriptions.unserved.ts";

type Subscribe = OperationRequest<Static<typeof subscribeApp.params>>;
type SubscribeToPage = OperationRequest<Static<typeof subscribeToPage.params>>;

/** D-164: returns the notes that a request with `debug=all` gets about fields of pages whose events Plaza never sends. */
const notesOn = (fields: readonly string[], parameter: string): string[] =>
  fields
    .filter((field) => unservedPageFields.has(field))
    .map((field) => `${parameter} contains ${field}: the subscription is stored, but Plaza never sends ${field}.`);

export const notesOnSubscribeApp = ({ params: { object, fields } }: Subscribe): string[] => (object === "page" ? notesOn(fields, "fields") : []);

export const notesOnSubscribeToPage = ({ params }: SubscribeToPage): string[] => notesOn(params.subscribed_fields, "subscribed_fields");

/** D-61: verifies the callback before it is stored. */
export async function prepareSubscribeApp({ params, world }: Subscribe): Promise<void> {
  await verifyCallback(world.outbound, params.callback_url, params.verify_token);
}

export async function handleSubscribeApp(request: Subscribe, tx: Transaction) {
  const { node, params, world } = request;
  const { object, callback_url, verify_token } = params;
  await tx.lock("app", node.id);
  // The app is looked up once more, because it may have been removed during the handshake.
  if ((await world.ports.get("app").findFacts(tx, node.id)) === undefined) throw notFoundNode(request);
  const stored = await findSubscription(tx, node.id, object);
  const fields = [...new Set([...(stored === undefined ? [] : (JSON.parse(stored.fields) as string[])), ...params.fields])];
  const sealed_verify_token = world.sealer.seal(verify_token);
  await saveSubscription(tx, node.id, { object, callback_url, sealed_verify_token, is_verified: 1, fields: JSON.stringify(fields) });
  await world.webhooks.resumeUrl(tx, node.id, callback_url);
  await world.webhooks.routesChanged(tx, node.id);
  return { success: true };
}

export async function handleUnsubscribeApp({ node, params, world }: OperationRequest<Static<typeof unsubscribeApp.params>>, tx: Transaction) {
  const { object, fields } = params;
  await tx.lock("app", node.id);
  for (const stored of await listSubscriptions(tx, node.id)) {
    if (stored.object === ANY_OBJECT || (object !== undefined && stored.object !== object)) continue;
    const kept = fields === undefined ? [] : (JSON.parse(stored.fields) as string[]).filter((field) => !fields.includes(field));
    // A subscription that has no fields left is deleted together with its callback.
    if (kept.length === 0) await deleteSubscription(tx, node.id, stored.object);
    else await saveSubscription(tx, node.id, { ...stored, fields: JSON.stringify(kept) });
  }
  await world.webhooks.routesChanged(tx, node.id);
  await world.webhooks.subscriptionsChanged(tx, node.id);
  return { success: true };
}

export async function handleSubscribeToPage(request: SubscribeToPage, tx: Transaction) {
  const { node, params, caller, world } = request;
  await tx.lock("page", node.id);
  if ((await world.ports.get("page").findName(tx, node.id)) === undefined) throw notFoundNode(request);
  await savePageSubscription(tx, node.id, caller.app.id, [...new Set(params.subscribed_fields)]);
  // The request's fields have replaced the earlier fields of the subscription (D-131), so from now on the app may get other events than before.
  await world.webhooks.subscriptionsChanged(tx, caller.app.id);
  return { success: true };
}

export async function handleUnsubscribeFromPage({ node, caller, world }: OperationRequest, tx: Transaction) {
  await deletePageSubscription(tx, node.id, caller.app.id);
  await world.webhooks.subscriptionsChanged(tx, caller.app.id);
  return { success: true };
}
