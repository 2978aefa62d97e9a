/**
 * D-62: the webhook field `live_videos` of pages. The interface's document does not show the payload of the webhook field `live_videos`, so Plaza
 * defines the payload and may add fields to it.
 */
import { Type } from "typebox";
import { defineWebhookField, EXAMPLE_ID, payloadId } from "#webhooks/catalogue/field";

export const liveVideoEvents = ["taken_down", "restore_notice", "restore_lapsed", "restored", "deleted"] as const;

export const liveVideoWebhook = defineWebhookField({
  object: "page",
  field: "live_videos",
  payload: Type.Object({
    id: payloadId,
    status: Type.String(),
    /** D-110: the event that happened to the video besides a change of status; absent if only the status changed. */
    event: Type.Optional(Type.Unsafe<(typeof liveVideoEvents)[number]>({ enum: [...liveVideoEvents] })),
    takedown_reason: Type.Optional(Type.String()),
    restorable_until: Type.Optional(Type.String()),
    /** D-115: the reason why the broadcast ended, if nobody ended the broadcast. */
    end_reason: Type.Optional(Type.String()),
  }),
  example: () => ({ id: EXAMPLE_ID, status: "LIVE" }),
  summary: "the status of a live video changes, or it is taken down, restored or deleted",
});
