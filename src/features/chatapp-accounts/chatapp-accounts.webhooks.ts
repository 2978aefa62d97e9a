/**
 * The webhook fields of business messaging accounts (ROUTE-4 to ROUTE-24). Events of business messaging accounts are caused only by requests to the
 * control API.
 */
import { Type } from "typebox";
import { defineWebhookField, type WebhookField } from "#webhooks/catalogue/field";

/** D-62: the schema of payloads that the document does not show. The schema of such a payload accepts any object. */
const anyObject = Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Object({}));

type ChatappField = WebhookField<typeof anyObject>;

interface FieldDefinition {
  readonly field: string;
  readonly clause: string;
  readonly summary: string;
  /** The properties in the example payload that are specific to this webhook field. */
  readonly example?: object;
}

const chatappField = (
  { field, clause, summary, example = { example: { field, text: "An example" } } }: FieldDefinition,
  honoursOverrides: boolean,
): ChatappField =>
  defineWebhookField({
    object: "chatapp_business_account",
    field,
    honoursOverrides,
    payload: anyObject,
    example: ({ phone }) => ({
      messaging_product: "chatapp",
      ...(phone === undefined ? {} : { metadata: { phone_number_id: phone } }),
      ...example,
    }),
    clauses: [clause],
    summary,
  });

const honouring = (definition: FieldDefinition): ChatappField => chatappField(definition, true);
const neverHonouring = (definition: FieldDefinition): ChatappField => chatappField(definition, false);

export const chatappFields: readonly ChatappField[] = [
  honouring({
    field: "messages",
    clause: "ROUTE-4",
    summary: "a message from a person, or a new status of a sent message",
    example: { messages: [{ from: "15550199", id: "m_example", timestamp: "1795000000", type: "text", text: { body: "An example" } }] },
  }),
  honouring({ field: "message_echoes", clause: "ROUTE-5", summary: "a message that another client sent" }),
  honouring({ field: "calls", clause: "ROUTE-6", summary: "a phone call" }),
  honouring({ field: "consumer_profile", clause: "ROUTE-7", summary: "a person's profile" }),
  honouring({ field: "messaging_handovers", clause: "ROUTE-8", summary: "a thread is handed over to another app" }),
  honouring({ field: "group_lifecycle_update", clause: "ROUTE-9", summary: "a group is created or ended" }),
  honouring({ field: "group_participants_update", clause: "ROUTE-10", summary: "a person joins or leaves a group" }),
  honouring({ field: "group_settings_update", clause: "ROUTE-11", summary: "the settings of a group" }),
  honouring({ field: "group_status_update", clause: "ROUTE-12", summary: "the status of a group" }),
  honouring({ field: "smb_message_echoes", clause: "ROUTE-13", summary: "a message sent with the app for small businesses" }),
  honouring({ field: "smb_app_state_sync", clause: "ROUTE-14", summary: "the state of the app for small businesses" }),
  honouring({ field: "history", clause: "ROUTE-15", summary: "past messages" }),
  honouring({ field: "account_settings_update", clause: "ROUTE-16", summary: "the settings of the account" }),

  neverHonouring({ field: "message_template_status_update", clause: "ROUTE-18", summary: "the status of a message template" }),
  neverHonouring({ field: "message_template_quality_update", clause: "ROUTE-19", summary: "the quality of a message template" }),
  neverHonouring({ field: "message_template_components_update", clause: "ROUTE-20", summary: "the components of a message template" }),
  neverHonouring({ field: "template_category_update", clause: "ROUTE-21", summary: "the category of a message template" }),
  neverHonouring({ field: "account_update", clause: "ROUTE-22", summary: "a change of the account" }),
  neverHonouring({ field: "account_review_update", clause: "ROUTE-23", summary: "the review of the account" }),
  neverHonouring({ field: "account_alerts", clause: "ROUTE-24", summary: "an alert about the account" }),
];
