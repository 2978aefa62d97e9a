import type { Static } from "typebox";
import type { OperationRequest } from "#graph/contract/operation";
import { notFoundNode } from "#graph/pipeline/route";
import { findNode } from "#graph/worlds/nodes.store";
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { verifyCallback } from "#webhooks/callbacks/handshake";
import type { setAccountOverride, setNumberOverride } from "./webhook-overrides.contract.ts";
import { deleteOverride, saveOverride } from "./webhook-overrides.store.ts";

type AccountRequest = OperationRequest<Static<typeof setAccountOverride.params>>;
type NumberRequest = OperationRequest<Static<typeof setNumberOverride.params>>;

interface Override {
  readonly uri: string;
  readonly verifyToken: string;
}

/** D-57: returns the override that a request sets for an account. A request without parameters removes the override, and the result is undefined. */
const wantedOverride = ({ override_callback_uri: uri, verify_token: verifyToken }: AccountRequest["params"]): Override | undefined =>
  uri === undefined || verifyToken === undefined ? undefined : { uri, verifyToken };

/** ROUTE-27: makes the handshake with the callback before the transaction that stores the override begins. */
export async function prepareAccountOverride(request: AccountRequest, reader: Reader): Promise<void> {
  const wanted = wantedOverride(request.params);
  if (wanted === undefined) return;
  // H1-8: in the profile `clients` the policy allows requests of an app that is not subscribed. Plaza makes no handshake for an app that is not
  // subscribed.
  if (!(await isSubscribed(request, reader))) throw notFoundNode(request);
  await verifyCallback(request.world.outbound, wanted.uri, wanted.verifyToken);
}

export async function handleSetAccountOverride(request: AccountRequest, tx: Transaction) {
  const { node, caller, world } = request;
  const wanted = wantedOverride(request.params);
  const app = caller.app.id;
  await tx.lock("chatapp_account", node.id);
  if (!(await isStillThere(request, tx))) throw notFoundNode(request);
  if (!(await isSubscribed(request, tx))) {
    if (wanted !== undefined || world.profile !== "clients") throw notFoundNode(request);
    await world.ports.get("chatapp_account_writes").subscribe(tx, node.id, app);
  }
  if (wanted === undefined) await deleteOverride(tx, node.id, app, undefined);
  else await saveOverride(tx, node.id, app, undefined, wanted.uri);
  await reroute(request, tx, wanted?.uri);
  return { success: true };
}

/**
 * H6: returns the override that a request sets for a phone number. A request with an empty address removes the override, and the result is undefined.
 * Only a request that sets an override needs `verify_token`.
 */
function wantedNumberOverride({ params }: NumberRequest): Override | undefined {
  const { override_callback_uri: uri, verify_token: verifyToken } = params.webhook_configuration;
  return uri === "" || verifyToken === undefined ? undefined : { uri, verifyToken };
}

export async function prepareNumberOverride(request: NumberRequest): Promise<void> {
  const wanted = wantedNumberOverride(request);
  if (wanted !== undefined) await verifyCallback(request.world.outbound, wanted.uri, wanted.verifyToken);
}

export async function handleSetNumberOverride(request: NumberRequest, tx: Transaction) {
  const { node, caller } = request;
  const wanted = wantedNumberOverride(request);
  await tx.lock("chatapp_account", node.owner);
  // The handler checks again, because during the handshake the app's subscription may have ended, or the number may have been removed.
  if (!(await isSubscribed(request, tx)) || !(await isStillThere(request, tx))) throw notFoundNode(request);
  if (wanted === undefined) await deleteOverride(tx, node.owner, caller.app.id, node.id);
  else await saveOverride(tx, node.owner, caller.app.id, node.id, wanted.uri);
  await reroute(request, tx, wanted?.uri);
  return { success: true };
}

/**
 * D-63: chooses the callbacks of waiting events again. `verified` is the address of a callback that has just passed the handshake. If deliveries to
 * the verified address were paused, Plaza resumes them.
 */
async function reroute({ caller, world }: Pick<OperationRequest, "caller" | "world">, tx: Transaction, verified: string | undefined): Promise<void> {
  if (verified !== undefined) await world.webhooks.resumeUrl(tx, caller.app.id, verified);
  await world.webhooks.routesChanged(tx, caller.app.id);
}

/** Returns whether the account or number of the request still exists. */
async function isStillThere({ node }: Pick<OperationRequest, "node">, tx: Transaction): Promise<boolean> {
  const stored = await findNode(tx, node.id);
  return stored?.type === node.type && stored.owner === node.owner;
}

const isSubscribed = (
  { node, caller, world }: { node: { owner: NodeId }; caller: OperationRequest["caller"]; world: OperationRequest["world"] },
  reader: Reader,
): Promise<boolean> => world.ports.get("chatapp_account").isSubscribed(reader, node.owner, caller.app.id);
