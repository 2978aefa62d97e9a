/**
 * Emits the events of self messaging. A message (D1) or an action of a person in the app causes an event, which the transaction that handles the
 * message or action also emits. Payloads (HOOK-4 to HOOK-18) are in the envelope of HOOK-2 and HOOK-3; times are Unix milliseconds (D-52).
 */
import type { SocialAccountFacts } from "#features/social-accounts/api";
import type { World } from "#graph/worlds/world";
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import { addToThread } from "./self-messaging.store.ts";
import {
  type CommentPayload,
  commentWebhook,
  type EchoPayload,
  liveCommentWebhook,
  messageWebhook,
  type PostbackPayload,
} from "./self-messaging.webhooks.ts";

/** An account that can receive messages. */
export type Recipient = SocialAccountFacts & { readonly social_scoped_id: NodeId };

/**
 * HOOK-6, HOOK-7, D-134: the payload of an echo. The account is both sender and recipient: the sender has the account's id, and the recipient has its
 * social-scoped id.
 */
const echoPayload = (account: Recipient, mid: string, text: string, timestamp: number): EchoPayload => ({
  sender: { id: account.id },
  recipient: { id: account.social_scoped_id },
  timestamp,
  message: { mid, text, is_echo: true, is_self: true },
});

export interface Postback {
  readonly title: string;
  readonly payload: string;
  /** The message whose button was pressed. */
  readonly mid: string;
}

/**
 * HOOK-12, HOOK-13, D-134: the payload of a postback. The person of the account pressed the button, so the sender has the account's social-scoped id.
 */
const postbackPayload = (account: Recipient, { title, payload, mid }: Postback, timestamp: number): PostbackPayload => ({
  sender: { id: account.social_scoped_id },
  recipient: { id: account.id },
  timestamp,
  is_self: true,
  postback: { title, payload, mid },
});

/** A media object or a live video that somebody comments on. */
export interface CommentedMedia {
  readonly id: NodeId;
  /** The social account that owns the media object or live video. */
  readonly owner: NodeId;
  readonly media_product_type: string;
}

/** HOOK-17, HOOK-18, D-134: the payload of a comment. The payload contains the social-scoped id only if the account comments on its own post. */
function commentPayload(from: SocialAccountFacts, media: CommentedMedia, id: NodeId, text: string): CommentPayload {
  const isOwn = from.id === media.owner && from.social_scoped_id !== undefined;
  return {
    from: { id: from.id, username: from.username, ...(isOwn ? { self_social_scoped_id: from.social_scoped_id } : {}) },
    id,
    text,
    media: { id: media.id, media_product_type: media.media_product_type },
  };
}

/**
 * HOOK-19: sends a message of an account to itself. Emits the echo of the message, and adds the message to the account's thread (D-406). `app` is the
 * app that sends the message; undefined if a person writes the message. Returns the id of the message.
 */
export async function writeToSelf(tx: Transaction, world: World, account: Recipient, text: string, app?: NodeId): Promise<NodeId> {
  const mid = world.ids.mint();
  const time_ms = world.clock.nowMs();
  await addToThread(tx, account.id, { mid, time_ms, app: app ?? null, text, payload: null });
  await world.webhooks.emit(tx, messageWebhook, { entity: account.id, payload: echoPayload(account, mid, text, time_ms) });
  return mid;
}

/** HOOK-10: emits the event of a pressed button, and adds the button to the account's thread (D-406). */
export async function pressButton(tx: Transaction, world: World, account: Recipient, postback: Postback): Promise<void> {
  const time_ms = world.clock.nowMs();
  const { title, payload, mid } = postback;
  await addToThread(tx, account.id, { mid, time_ms, app: null, text: title, payload });
  await world.webhooks.emit(tx, messageWebhook, { entity: account.id, payload: postbackPayload(account, postback, time_ms) });
}

const commentWebhooks = { comments: commentWebhook, live_comments: liveCommentWebhook };
export type CommentField = keyof typeof commentWebhooks;

/**
 * HOOK-14, SELF-16: emits the event of a comment. The event belongs to the owner of the media object or live video (D-134). Returns the id of the
 * comment.
 */
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
