/** D-62: what the subscribers of a page hear of its live videos. The document does not show it, so it is Plaza's own and may grow. */
import { Type } from "typebox";
import { defineWebhookField, EXAMPLE_ID, payloadId } from "#webhooks/catalogue/field";

export const liveVideoWebhook = defineWebhookField({
  object: "page",
  field: "live_videos",
  payload: Type.Object({ id: payloadId, status: Type.String() }),
  example: () => ({ id: EXAMPLE_ID, status: "LIVE" }),
  summary: "the status of a live video changes",
});
