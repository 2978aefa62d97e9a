/** The payloads of the webhooks (HOOK-4 to HOOK-18), in the envelope of HOOK-2 and HOOK-3. Times are Unix milliseconds (D-52). */

import type { SocialAccountFacts } from "#features/social-accounts/api";
import type { NodeId } from "#kernel/ids";
import type { CommentPayload, EchoPayload, PostbackPayload } from "./self-messaging.webhooks.ts";

/** An account that can receive messages. */
export type Recipient = SocialAccountFacts & { readonly social_scoped_id: NodeId };

/** HOOK-6, HOOK-7, D-134: the account is the sender by its id and the recipient by its social-scoped id. */
export const echoPayload = (account: Recipient, mid: string, text: string, timestamp: number): EchoPayload => ({
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

/** HOOK-12, HOOK-13, D-134: the account pressed the button as a person, so it is the sender by its social-scoped id. */
export const postbackPayload = (account: Recipient, { title, payload, mid }: Postback, timestamp: number): PostbackPayload => ({
  sender: { id: account.social_scoped_id },
  recipient: { id: account.id },
  timestamp,
  is_self: true,
  postback: { title, payload, mid },
});

/** A medium or a live video. */
export interface CommentedMedia {
  readonly id: NodeId;
  /** A social account. */
  readonly owner: NodeId;
  readonly media_product_type: string;
}

/** HOOK-17, HOOK-18, D-134: only a comment on the account's own post contains the social-scoped id. */
export function commentPayload(from: SocialAccountFacts, media: CommentedMedia, id: NodeId, text: string): CommentPayload {
  const isOwn = from.id === media.owner && from.social_scoped_id !== undefined;
  return {
    from: { id: from.id, username: from.username, ...(isOwn ? { self_social_scoped_id: from.social_scoped_id } : {}) },
    id,
    text,
    media: { id: media.id, media_product_type: media.media_product_type },
  };
}
