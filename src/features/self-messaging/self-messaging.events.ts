/** The events of self messaging, from D1 or from the app. Each is emitted in the transaction of its cause. */

import type { SocialAccountFacts } from "#features/social-accounts/api";
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { type CommentedMedia, commentPayload, echoPayload, type Postback, postbackPayload, type Recipient } from "./self-messaging.payloads.ts";
import { commentWebhook, liveCommentWebhook, messageWebhook } from "./self-messaging.webhooks.ts";

/** HOOK-19. Returns the message's id. */
export async function writeToSelf(tx: Transaction, world: World, account: Recipient, text: string): Promise<NodeId> {
  const mid = world.ids.mint();
  await world.webhooks.emit(tx, messageWebhook, { entity: account.id, payload: echoPayload(account, mid, text, world.clock.nowMs()) });
  return mid;
}

/** HOOK-10. */
export const pressButton = (tx: Transaction, world: World, account: Recipient, postback: Postback): Promise<void> =>
  world.webhooks.emit(tx, messageWebhook, { entity: account.id, payload: postbackPayload(account, postback, world.clock.nowMs()) });

const commentWebhooks = { comments: commentWebhook, live_comments: liveCommentWebhook };
export type CommentField = keyof typeof commentWebhooks;

/** HOOK-14, SELF-16: the event belongs to the owner of the media or live video (D-134). Returns the comment's id. */
export async function comment(
  tx: Transaction,
  world: World,
  from: SocialAccountFacts,
  media: CommentedMedia,
  text: string,
  field: CommentField,
): Promise<NodeId> {
  const id = world.ids.mint();
  await world.webhooks.emit(tx, commentWebhooks[field], { entity: media.owner, payload: commentPayload(from, media, id, text) });
  return id;
}
