/**
 * D-135: the webhook field `custom_labels` of pages. The interface document does not show the payload of `custom_labels`, so Plaza defines the
 * payload and may later add properties to it.
 */
import { type Static, Type } from "typebox";
import { defineWebhookField, EXAMPLE_ID, payloadId } from "#webhooks/catalogue/field";

const labelChange = Type.Object({
  action: Type.Enum(["created", "deleted", "attached", "detached"]),
  label: Type.Object({ id: payloadId, name: Type.String() }),
  /** The page-scoped id of the person, if the event is `attached` or `detached`. */
  user: Type.Optional(Type.Object({ id: payloadId })),
});
export type LabelChange = Static<typeof labelChange>;

export const labelWebhook = defineWebhookField({
  object: "page",
  field: "custom_labels",
  payload: labelChange,
  example: (): LabelChange => ({ action: "created", label: { id: EXAMPLE_ID, name: "Example" } }),
  summary: "a label is created or deleted, attached to a person or detached",
});
