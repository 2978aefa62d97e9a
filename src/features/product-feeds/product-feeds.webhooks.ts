/**
 * D-149: the webhook field `product_feed` of catalogs. The interface's document has no webhooks of catalogs, but similar platforms send a webhook
 * after they have read a feed file.
 */
import { type Static, Type } from "typebox";
import { defineWebhookField, EXAMPLE_ID, payloadId } from "#webhooks/catalogue/field";

const feedEvent = Type.Object({ catalog_id: payloadId, product_feed_id: payloadId, status: Type.Enum(["Finished", "Failed"]) });
export type FeedEvent = Static<typeof feedEvent>;

export const feedWebhook = defineWebhookField({
  object: "catalog",
  field: "product_feed",
  payload: feedEvent,
  example: ({ entity }): FeedEvent => ({ catalog_id: entity, product_feed_id: EXAMPLE_ID, status: "Finished" }),
  summary: "a file of a product feed was read and the feed shows its items, or the file failed and the feed is unchanged",
});
