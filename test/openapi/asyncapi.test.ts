import { expect, test } from "bun:test";
import Ajv2020 from "ajv/dist/2020";
import { nodeId } from "#kernel/ids";
import { asyncapiDocument } from "#webhooks/catalogue/asyncapi";
import { webhookObjects } from "#webhooks/catalogue/field";
import { asciiJson, envelopeOf } from "#webhooks/events/envelope";
import { registry } from "./documents.ts";

const NOW_MS = 1_795_000_000_000;
const document = asyncapiDocument(registry.webhookFields, "v26.0", NOW_MS);

interface Documented {
  readonly channels: Readonly<Record<string, object>>;
  readonly components: { readonly messages: Readonly<Record<string, { readonly examples: readonly { readonly name: string }[] }>> };
}

const ajv = new Ajv2020({ strict: false });
ajv.addSchema({ components: document.components }, "webhooks");
const pascal = (name: string): string => name.replace(/(?:^|_)([a-z])/g, (_, first: string) => first.toUpperCase());
const isDocumented = (object: string, body: unknown): boolean =>
  ajv.validate({ $ref: `webhooks#/components/schemas/${pascal(object)}Webhook` }, body) as boolean;

test("each field is an example of its object's channel", () => {
  const { channels, components } = document as unknown as Documented;
  const named = Object.keys(channels).map((object) => {
    const { examples } = components.messages[`${pascal(object)}Webhook`] ?? { examples: [] };
    return { object, fields: examples.map(({ name }) => name) };
  });
  expect(named).toEqual(webhookObjects.map((object) => ({ object, fields: [...registry.webhookFields.namesOf(object)] })));
});

test("a delivery of any field matches the document as it is sent; another field's payload does not", () => {
  for (const { object, field, carriedIn, example } of registry.webhookFields.all) {
    const payload = asciiJson(example({ entity: nodeId("2001"), phone: nodeId("4101"), scopedId: nodeId("6901"), nowMs: NOW_MS }));
    const update = { entity: "2001", timeMs: NOW_MS, field, carriedIn, payload };
    const body = JSON.parse(envelopeOf(object, [update, { ...update, entity: "2002" }]));
    expect({ object, field, isDocumented: isDocumented(object, body) }).toEqual({ object, field, isDocumented: true });
    const misnamed = JSON.parse(envelopeOf(object, [{ ...update, field: "unheard_of", payload: '{"a":1}' }]));
    expect({ object, field, isDocumented: isDocumented(object, misnamed) }).toEqual({ object, field, isDocumented: false });
  }
});
