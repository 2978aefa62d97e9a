/** What a person does in the app, for the control API (operating.md: in-app calls): each yields its webhooks. */
import type { SocialAccountFacts } from "#auth/social-accounts";
import type { World } from "#graph/world";
import type { NodeId } from "#kernel/ids";
import type { Transaction } from "#storage/database";
import type { CommentedMedia, Postback, Recipient } from "./self-messaging.payloads.ts";

export interface SelfMessagingReader {
  /** HOOK-19. Answers the message's id. */
  writeToSelf(tx: Transaction, world: World, account: Recipient, text: string): Promise<NodeId>;
  /** HOOK-10. */
  pressButton(tx: Transaction, world: World, account: Recipient, postback: Postback): Promise<void>;
  /** HOOK-14, SELF-16: goes to whoever follows the media's owner. Answers the comment's id. */
  comment(
    tx: Transaction,
    world: World,
    from: SocialAccountFacts,
    media: CommentedMedia,
    text: string,
    field: "comments" | "live_comments",
  ): Promise<NodeId>;
}

declare module "#kernel/readers" {
  interface Readers {
    self_messaging: SelfMessagingReader;
  }
}
