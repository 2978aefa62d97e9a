import type { Static } from "typebox";
import type { OperationRequest } from "#graph/contract/operation";
import { notFoundNode } from "#graph/pipeline/route";
import { invalidParameter } from "#kernel/errors";
import type { Transaction } from "#storage/database";
import type { sendSelfMessage } from "./self-messaging.contract.ts";
import { writeToSelf } from "./self-messaging.events.ts";

type Send = OperationRequest<Static<typeof sendSelfMessage.params>>;

export async function handleSendSelfMessage(request: Send, tx: Transaction) {
  const { node, params, world } = request;
  const { text, quick_replies } = params.message;
  // D1-10: an empty list counts as absent.
  if (quick_replies !== undefined && !(Array.isArray(quick_replies) && quick_replies.length === 0)) {
    throw invalidParameter("message.quick_replies", "is not supported in a message to oneself");
  }
  const account = await world.ports.get("social_account").findAccount(tx, node.owner);
  // The account may have been removed, or its social-scoped id changed, since the request began.
  if (account === undefined || account.social_scoped_id !== node.id) throw notFoundNode(request);
  return { id: await writeToSelf(tx, world, { ...account, social_scoped_id: node.id }, text) };
}
