import type { Static } from "typebox";
import type { OperationRequest } from "#graph/contract/operation";
import { notFoundNode } from "#graph/pipeline/route";
import type { Transaction } from "#storage/database";
import type { sendSelfMessage } from "./self-messaging.contract.ts";
import { writeToSelf } from "./self-messaging.events.ts";

type Send = OperationRequest<Static<typeof sendSelfMessage.params>>;

export async function handleSendSelfMessage(request: Send, tx: Transaction) {
  const { node, params, world, caller } = request;
  const account = await world.ports.get("social_account").findAccount(tx, node.owner);
  // The account is read again, because since the request began it may have been removed, or may have got another social-scoped id.
  if (account === undefined || account.social_scoped_id !== node.id) throw notFoundNode(request);
  return { id: await writeToSelf(tx, world, { ...account, social_scoped_id: node.id }, params.message.text, caller.app.id) };
}
