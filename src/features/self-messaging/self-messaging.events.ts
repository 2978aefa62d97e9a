/** What happens, whoever causes it: D1 and the app make the same message. Each event is emitted in the caller's transaction. */
import type { SocialAccountFacts } from "#auth/social-accounts";
import type { World } from "#graph/world";
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { type CommentedMedia, commentPayload, echoPayload, type Postback, postbackPayload, type Recipient } from "./self-messaging.payloads.ts";

const emit = (tx: Transaction, world: World, field: string, entity: NodeId, payload: object): Promise<void> =>
  world.webhooks.emit(tx, { object: "social", field, entity, payload });

/** HOOK-19. Answers the message's id. */
export async function writeToSelf(tx: Transaction, world: World, account: Recipient, text: string): Promise<NodeId> {
  const mid = world.ids.mint();
  await emit(tx, world, "messages", account.id, echoPayload(account, mid, text, world.clock.nowMs()));
  return mid;
}

/** HOOK-10. */
export const pressButton = (tx: Transaction, world: World, account: Recipient, postback: Postback): Promise<void> =>
  emit(tx, world, "messages", account.id, postbackPayload(account, postback, world.clock.nowMs()));

export type CommentField = "comments" | "live_comments";

/** HOOK-14, SELF-16: the event is the media's owner's. Answers the comment's id. */
export async function comment(
  tx: Transaction,
  world: World,
  from: SocialAccountFacts,
  media: CommentedMedia,
  text: string,
  field: CommentField,
): Promise<NodeId> {
  const id = world.ids.mint();
  await world.readers.of("media").countComment(tx, media.owner, media.id);
  await emit(tx, world, field, media.owner, commentPayload(from, media, id, text));
  return id;
}
