/** Writes `clients/typescript/src/generated/webhooks.ts`: the types of webhook payloads, from the definitions of the webhook fields. */
import { pascal } from "#graph/contract/openapi/addresses";
import { publicSchema } from "#graph/schema/public-schema";
import type { FieldCatalogue } from "#webhooks/catalogue/catalogue";
import { type WebhookField, webhookObjects } from "#webhooks/catalogue/field";
import { docText, typeText } from "./typescript-text.ts";

const nameOf = ({ object, field }: WebhookField): string => `${pascal(object)}${pascal(field)}`;

export function clientWebhooks(catalogue: FieldCatalogue): string {
  const carried = catalogue.all.filter(({ carriedIn }) => carriedIn === "messaging");
  const updates = catalogue.all.map(
    (field) => `  | { object: ${JSON.stringify(field.object)}; field: ${JSON.stringify(field.field)}; value: ${nameOf(field)} }`,
  );
  return [
    "/** Written by `tools/build.mjs` from the definitions of the webhook fields; changes by hand are lost. */\n",
    ...catalogue.all.map((field) => `${docText(field.summary)}\nexport type ${nameOf(field)} = ${typeText(publicSchema(field.payload))};`),
    `/** A field of an object, and what an update of it says. */\nexport type FieldUpdate =\n${updates.join("\n")};`,
    "/** For each object, the webhook field of the events under `messaging`, because these events do not have the name of their field. */",
    `export const messagingFields: Readonly<Record<string, string>> = ${JSON.stringify(Object.fromEntries(carried.map(({ object, field }) => [object, field])))};`,
    "",
  ].join("\n");
}

/** Returns the text of `clients/testing/generated/webhook-fields.ts`. */
export function webhookFieldNames(catalogue: FieldCatalogue): string {
  const fields = webhookObjects.map((object) => `  ${object}: ${JSON.stringify(catalogue.namesOf(object))},`);
  return `/** The webhook fields of each object. Written by \`tools/build.mjs\`; changes by hand are lost. */\nexport const webhookFields = {\n${fields.join("\n")}\n} as const;\n`;
}
