import { type Schema, schemaText } from "#control/llms/schema-text";
import type { Registry } from "#graph/contract/registry";
import { type WebhookField, webhookObjects } from "#webhooks/catalogue/field";
import { code, page, table } from "./markdown.ts";

export function webhookFieldsPage({ webhookFields }: Registry): string {
  const fieldsOf = (object: string): readonly WebhookField[] => webhookFields.all.filter((field) => field.object === object);
  return page("Webhook fields", "the features' `x.webhooks.ts`", [
    "The fields to which an app can subscribe, by object. [The guide](../guides/webhooks.md) explains how to subscribe and receive. A field whose place is " +
      "`changes` has its payload in `value`. A field that follows overrides is sent to the callback of the account or phone number if that has one, " +
      "otherwise to the app's callback. `?` marks a key that can be absent. `bin/plaza trigger` sends an example of any field.",
    ...webhookObjects.map((object) => `## ${object}\n\n${fieldTable(fieldsOf(object))}`),
  ]);
}

function fieldTable(fields: readonly WebhookField[]): string {
  const rows = fields.map(({ field, summary, carriedIn, honoursOverrides, payload }) => [
    code(field),
    summary,
    code(carriedIn),
    honoursOverrides ? "yes" : "",
    payloadText(payload as Schema),
  ]);
  return table(["field", "sent when", "place", "follows overrides", "payload"], rows);
}

/** Returns the text about a payload. If the interface document does not define the payload of a field, the payload can be any object. */
const payloadText = (payload: Schema): string => (isOpen(payload) ? "any object" : schemaText(payload));

const isOpen = ({ type, properties = {} }: Schema): boolean => type === "object" && Object.keys(properties).length === 0;
