/** The AsyncAPI 3 document of the webhooks, made from the definitions of their fields (docs/interface/README.md). */

import { nodeId } from "#kernel/ids";
import type { FieldCatalogue } from "./catalogue.ts";
import { EXAMPLE_ID, type WebhookField, type WebhookObject, webhookObjects } from "./field.ts";

type Document = Record<string, unknown>;

const ABOUT =
  "The webhooks that Plaza sends to the callback of an app. Plaza delivers each webhook at least once: webhook-id is the same in all attempts. A receiver responds with any 2xx within " +
  "15 seconds and checks a signature over the bytes of the body, with the app's secret as key.";

const SIGNATURES = {
  "X-Hub-Signature-256": { pattern: "^sha256=[0-9a-f]{64}$", description: "HMAC-SHA256 of the body, with the app's secret as key." },
  "webhook-id": { pattern: "^msg_[0-9]+$", description: "The id of the delivery, which is the same in all attempts." },
  "webhook-timestamp": { pattern: "^[0-9]+$", description: "The time of the attempt, in Unix seconds." },
  "webhook-signature": {
    pattern: "^v1,\\S+( v1,\\S+)*$",
    description:
      "The signature by Standard Webhooks. For a day after the app's secret was changed, the header has two signatures, separated by a space.",
  },
};

const headers = {
  type: "object",
  required: Object.keys(SIGNATURES),
  properties: Object.fromEntries(Object.entries(SIGNATURES).map(([name, words]) => [name, { type: "string", ...words }])),
};

/**
 * Makes the AsyncAPI document. The parameter `version` is the version of the interface, e.g. `v26.0`; the events in the examples happen at `nowMs`.
 */
export function asyncapiDocument(catalogue: FieldCatalogue, version: string, nowMs: number): Document {
  const objects = webhookObjects.map((object) => ({
    object,
    name: pascal(object),
    fields: catalogue.all.filter((field) => field.object === object),
  }));
  return {
    asyncapi: "3.1.0",
    id: "urn:plaza:webhooks",
    info: {
      title: "Plaza's webhooks",
      version,
      description: ABOUT,
      contact: { name: "Plaza's developers" },
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
      tags: [{ name: "webhooks", description: "Deliveries to the callbacks of apps." }],
    },
    defaultContentType: "application/json",
    servers: {
      callback: {
        host: "{callback}",
        protocol: "https",
        description: "The callback URL that is set for the app, the account or the phone number.",
        variables: { callback: { description: "Host, port and path of the callback." } },
      },
    },
    channels: Object.fromEntries(objects.map(({ object, name, fields }) => [object, channelOf(object, name, fields)])),
    operations: Object.fromEntries(objects.map(({ object, name }) => [`deliver${name}`, operationOf(object, name)])),
    components: {
      securitySchemes: {
        signature: { type: "httpApiKey", in: "header", name: "X-Hub-Signature-256", description: SIGNATURES["X-Hub-Signature-256"].description },
      },
      messages: Object.fromEntries(objects.map(({ object, name, fields }) => [`${name}Webhook`, messageOf(object, name, fields, nowMs)])),
      schemas: Object.fromEntries(objects.flatMap(({ object, name, fields }) => schemasOf(object, name, fields))),
    },
  };
}

const pascal = (name: string): string => name.replace(/(?:^|_)([a-z])/g, (_, first: string) => first.toUpperCase());
const schemaRef = (name: string): Document => ({ $ref: `#/components/schemas/${name}` });
const updateName = (name: string, { field }: WebhookField): string => `${name}${pascal(field)}Update`;

const channelOf = (object: WebhookObject, name: string, fields: readonly WebhookField[]): Document => ({
  title: `Webhooks of ${object}`,
  description: `Fields: ${fields.map(({ field, summary }) => `\`${field}\` (${summary})`).join(", ")}.`,
  servers: [{ $ref: "#/servers/callback" }],
  messages: { [`${name}Webhook`]: { $ref: `#/components/messages/${name}Webhook` } },
});

const operationOf = (object: WebhookObject, name: string): Document => ({
  action: "send",
  channel: { $ref: `#/channels/${object}` },
  title: `Deliver ${object}`,
  summary: `Delivers events about objects of the type ${object}.`,
  description: "One POST holds up to 1,000 updates of one account or page, in their order.",
  security: [{ $ref: "#/components/securitySchemes/signature" }],
  bindings: { http: { method: "POST", bindingVersion: "0.3.0" } },
  messages: [{ $ref: `#/channels/${object}/messages/${name}Webhook` }],
});

const messageOf = (object: WebhookObject, name: string, fields: readonly WebhookField[], nowMs: number): Document => ({
  name: `${name}Webhook`,
  title: `Webhook of ${object}`,
  summary: `Updates of ${object}, in the order in which they happened.`,
  contentType: "application/json",
  correlationId: { description: "The id of the delivery.", location: "$message.header#/webhook-id" },
  headers,
  payload: schemaRef(`${name}Webhook`),
  examples: fields.map((field) => ({ name: field.field, summary: field.summary, payload: exampleOf(field, nowMs) })),
});

function exampleOf(field: WebhookField, nowMs: number): Document {
  const payload: unknown = field.example({ entity: nodeId(EXAMPLE_ID), phone: undefined, scopedId: undefined, nowMs });
  const update = field.carriedIn === "changes" ? { field: field.field, value: payload } : payload;
  return { object: field.object, entry: [{ id: EXAMPLE_ID, time: Math.floor(nowMs / 1000), [field.carriedIn]: [update] }] };
}

/** Returns the schema of the object's envelope, and one schema for the updates of each field. */
function schemasOf(object: WebhookObject, name: string, fields: readonly WebhookField[]): [string, Document][] {
  const kinds = (["changes", "messaging"] as const).map((kind) => ({ kind, fields: fields.filter(({ carriedIn }) => carriedIn === kind) }));
  const entries = kinds.filter((kind) => kind.fields.length > 0).map(({ kind, fields: carried }) => entryOf(kind, carried, name));
  const envelope = {
    type: "object",
    required: ["object", "entry"],
    properties: { object: { const: object }, entry: { type: "array", minItems: 1, items: entries.length === 1 ? entries[0] : { anyOf: entries } } },
    additionalProperties: false,
  };
  return [[`${name}Webhook`, envelope], ...fields.map((field): [string, Document] => [updateName(name, field), updateOf(field)])];
}

function entryOf(kind: "changes" | "messaging", fields: readonly WebhookField[], name: string): Document {
  const updates = fields.map((field) => schemaRef(updateName(name, field)));
  const properties = {
    id: { type: "string", pattern: "^[1-9][0-9]*$", description: "The id of the account or page." },
    time: { type: "integer", description: "The time of the event, in Unix seconds." },
    [kind]: { type: "array", minItems: 1, items: updates.length === 1 ? updates[0] : { anyOf: updates } },
  };
  return { type: "object", required: ["id", "time", kind], properties, additionalProperties: false };
}

function updateOf({ field, carriedIn, payload, summary }: WebhookField): Document {
  const value = JSON.parse(JSON.stringify(payload)) as Document;
  if (carriedIn === "messaging") return { description: summary, ...value };
  const properties = { field: { const: field }, value };
  return { type: "object", description: summary, required: ["field", "value"], properties, additionalProperties: false };
}
