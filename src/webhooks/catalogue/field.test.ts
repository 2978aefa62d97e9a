import { expect, test } from "bun:test";
import fc from "fast-check";
import { Type } from "typebox";
import { nodeId } from "#kernel/ids";
import { buildRegistry } from "#main";
import type { Transaction } from "#storage/database";
import type { Webhooks } from "../webhooks.ts";
import { FieldCatalogue } from "./catalogue.ts";
import { defineWebhookField, findPayloadProblem, payloadId, type WebhookObject, webhookObjects } from "./field.ts";

const { webhookFields } = buildRegistry();

const note = defineWebhookField({
  object: "page",
  field: "notes",
  payload: Type.Object({ id: payloadId, text: Type.String(), pinned: Type.Optional(Type.Boolean()) }),
  example: ({ entity }) => ({ id: entity, text: "An example" }),
  summary: "a note",
});

test("every object of a subscription has fields, and no other object has", () => {
  for (const object of webhookObjects) expect(webhookFields.namesOf(object)).not.toEqual([]);
  expect(webhookFields.find("nobody", "messages")).toBeUndefined();
  expect(webhookFields.find("chatapp_business_account", "unheard_of")).toBeUndefined();
});

test("a catalogue with two fields of one name is refused", () => {
  expect(() => new FieldCatalogue([note, { ...note, object: "social" }])).not.toThrow();
  expect(() => new FieldCatalogue([note, { ...note }])).toThrow("two features define the webhook field notes of page");
});

test("every example keeps the contract of its field, for any entity, number and time", () => {
  const id = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map((value) => nodeId(String(value)));
  const event = fc.record({
    entity: id,
    phone: fc.option(id, { nil: undefined }),
    scopedId: fc.option(id, { nil: undefined }),
    nowMs: fc.nat({ max: 8.64e15 }),
  });
  fc.assert(
    fc.property(fc.constantFrom(...webhookFields.all), event, (field, given) => {
      expect(findPayloadProblem(field, field.example(given))).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});

test("emit refuses a payload that the schema does not allow, and so does an example", () => {
  const wrong = (webhooks: Webhooks, tx: Transaction) => {
    const entity = nodeId("2001");
    webhooks.emit(tx, note, { entity, payload: { id: "1", text: "right" } });
    // @ts-expect-error: a number is not a text.
    webhooks.emit(tx, note, { entity, payload: { id: "1", text: 1 } });
    // @ts-expect-error: the text is missing.
    webhooks.emit(tx, note, { entity, payload: { id: "1" } });
    // @ts-expect-error: a key that the schema does not name is a misspelling.
    webhooks.emit(tx, note, { entity, payload: { id: "1", text: "x", pined: true } });
    // @ts-expect-error: an event belongs to an account or page.
    webhooks.emit(tx, note, { payload: { id: "1", text: "x" } });
    // @ts-expect-error: a field is given by its definition.
    webhooks.emit(tx, "notes", { entity, payload: {} });
    // @ts-expect-error: the text is missing.
    defineWebhookField({ object: "page", field: "notes", payload: note.payload, example: () => ({ id: "1" }), summary: "a note" });
  };
  expect(wrong).toBeFunction();
});

const echo = { sender: { id: "6001" }, recipient: { id: "6901" }, timestamp: 1, message: { mid: "m", text: "hi", is_echo: true, is_self: true } };
const postback = { sender: { id: "6001" }, recipient: { id: "6901" }, timestamp: 1, is_self: true, postback: { title: "t", payload: "p", mid: "m" } };
const comment = {
  from: { id: "6001", username: "cafe", self_social_scoped_id: "6901" },
  id: "7",
  text: "t",
  media: { id: "6101", media_product_type: "FEED" },
};

test.each([
  ["social", "messages", echo],
  ["social", "messages", postback],
  ["social", "comments", comment],
  ["social", "live_comments", comment],
  ["page", "custom_labels", { action: "attached", label: { id: "5001", name: "vip" }, user: { id: "9001" } }],
  ["page", "live_videos", { id: "5301", status: "LIVE", more: 1 }],
  ["chatapp_business_account", "calls", { anything: [1, null] }],
] as [WebhookObject, string, unknown][])("HOOK-1: %s %s keeps its contract", (object, field, payload) => {
  expect(findPayloadProblem(webhookFields.read(object, field), payload)).toBeUndefined();
});

test.each([
  ["social", "messages", { ...echo, message: { ...echo.message, is_self: false } }, "message.is_self"],
  ["social", "messages", { ...echo, message: { ...echo.message, attachments: [] } }, "message"],
  ["social", "messages", { ...echo, is_self: true }, ""],
  ["social", "messages", { ...postback, is_self: false }, "is_self"],
  ["social", "messages", { sender: echo.sender, recipient: echo.recipient, timestamp: 1 }, ""],
  ["social", "comments", { ...comment, from: { id: "6001" } }, "from"],
  ["social", "comments", { ...comment, media: { id: 6101, media_product_type: "FEED" } }, "media.id"],
  ["page", "custom_labels", { action: "renamed", label: { id: "5001", name: "vip" } }, "action"],
  ["chatapp_business_account", "calls", "text", ""],
  ["chatapp_business_account", "calls", null, ""],
  ["chatapp_business_account", "calls", [1], ""],
] as [WebhookObject, string, unknown, string][])("an event of %s %s that breaks its contract, and the place: %j", (object, field, payload, path) => {
  expect(findPayloadProblem(webhookFields.read(object, field), payload)).toEqual({ path, problem: expect.stringMatching(/^must /) });
});

test("a problem contains no value of the payload", () => {
  const label = webhookFields.read("page", "custom_labels");
  expect(findPayloadProblem(label, { action: "secret", label: { id: "5001", name: "vip" } })).toEqual({
    path: "action",
    problem: "must be equal to one of the allowed values: created, deleted, attached, detached",
  });
});
