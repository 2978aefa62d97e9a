/** D-135: what the subscribers of a page hear of its labels. The document does not show it, so it is Plaza's own and may grow. */
import { type Static, Type } from "typebox";
import { defineWebhookField, EXAMPLE_ID, payloadId } from "#webhooks/catalogue/field";

const labelChange = Type.Object({
  action: Type.Enum(["created", "deleted", "attached", "detached"]),
  label: Type.Object({ id: payloadId, name: Type.String() }),
  /** The person, by page-scoped id, where one was attached or detached. */
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
