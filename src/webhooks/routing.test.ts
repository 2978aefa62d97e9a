import { expect, test } from "bun:test";
import fc from "fast-check";
import { checkedField, findWebhookField, PayloadBroken, webhookFields, webhookObjects } from "./field-catalogue.ts";
import { type RouteFacts, routeOf } from "./routing.ts";

const app = { url: "https://app.example/hook", isVerified: true };
const phoneOverride = "https://phone.example/hook";
const accountOverride = "https://account.example/hook";

const honouring = [
  ...["messages", "message_echoes", "calls", "consumer_profile", "messaging_handovers", "group_lifecycle_update", "group_participants_update"],
  ...["group_settings_update", "group_status_update", "smb_message_echoes", "smb_app_state_sync", "history", "account_settings_update"],
];
const never = [
  ...["message_template_status_update", "message_template_quality_update", "message_template_components_update", "template_category_update"],
  ...["account_update", "account_review_update", "account_alerts"],
];

const route = (field: string, facts: Omit<RouteFacts, "honoursOverrides">) =>
  routeOf({ honoursOverrides: findWebhookField("chatapp_business_account", field)?.honoursOverrides ?? false, ...facts });

test.each(honouring)("ROUTE-1 to ROUTE-3, %s: the phone's override, else the account's, else the app's callback", (field) => {
  expect(route(field, { phoneOverride, accountOverride, appCallback: app })).toEqual({ to: "phone", url: phoneOverride });
  expect(route(field, { phoneOverride, accountOverride: undefined, appCallback: app })).toEqual({ to: "phone", url: phoneOverride });
  expect(route(field, { phoneOverride: undefined, accountOverride, appCallback: app })).toEqual({ to: "account", url: accountOverride });
  expect(route(field, { phoneOverride: undefined, accountOverride: undefined, appCallback: app })).toEqual({ to: "app", url: app.url });
});

test.each(never)("ROUTE-17 to ROUTE-24, %s: always the app's callback", (field) => {
  expect(route(field, { phoneOverride, accountOverride, appCallback: app })).toEqual({ to: "app", url: app.url });
});

test("the catalogue holds the document's fields: 13 that honour overrides, 7 that never do, and no other of business accounts", () => {
  const business = webhookFields.filter(({ object }) => object === "chatapp_business_account");
  expect(business.filter((entry) => entry.honoursOverrides).map(({ field }) => field)).toEqual(honouring);
  expect(business.filter((entry) => !entry.honoursOverrides).map(({ field }) => field)).toEqual(never);
  expect(webhookFields.filter(({ object }) => object === "social").map(({ field }) => field)).toEqual(["messages", "comments", "live_comments"]);
  expect(new Set(webhookFields.map(({ object, field }) => `${object} ${field}`)).size).toBe(webhookFields.length);
});

test("routing is total: any facts lead to exactly one place, and never past a rule that comes first", () => {
  const url = fc.option(fc.webUrl(), { nil: undefined });
  const facts = fc.record({
    honoursOverrides: fc.boolean(),
    phoneOverride: url,
    accountOverride: url,
    appCallback: fc.option(fc.record({ url: fc.webUrl(), isVerified: fc.boolean() }), { nil: undefined }),
  });
  fc.assert(
    fc.property(facts, (given) => {
      const found = routeOf(given);
      const overrides = given.honoursOverrides ? [given.phoneOverride, given.accountOverride] : [];
      const first = overrides.find((override) => override !== undefined);
      if (first !== undefined) expect(found).toMatchObject({ url: first });
      else if (given.appCallback?.isVerified === true) expect(found).toEqual({ to: "app", url: given.appCallback.url });
      else expect(found).toEqual({ to: "nowhere", reason: given.appCallback === undefined ? "no_callback" : "callback_not_verified" });
      // What a field does not honour has no say.
      expect(routeOf({ ...given, honoursOverrides: false })).toEqual(
        routeOf({ ...given, honoursOverrides: false, phoneOverride: undefined, accountOverride: undefined }),
      );
    }),
  );
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
])("HOOK-1: %s %s keeps its contract", (object, field, payload) => {
  expect(checkedField(object, field, payload).field).toBe(field);
});

test.each([
  ["social", "messages", { ...echo, message: { ...echo.message, is_self: false } }],
  ["social", "messages", { ...echo, message: { ...echo.message, attachments: [] } }],
  ["social", "messages", { ...echo, is_self: true }],
  ["social", "messages", { ...postback, is_self: false }],
  ["social", "messages", { sender: echo.sender, recipient: echo.recipient, timestamp: 1 }],
  ["social", "comments", { ...comment, from: { id: "6001" } }],
  ["social", "comments", { ...comment, media: { id: 6101, media_product_type: "FEED" } }],
  ["page", "custom_labels", { action: "renamed", label: { id: "5001", name: "vip" } }],
  ["chatapp_business_account", "calls", "text"],
  ["chatapp_business_account", "calls", null],
  ["chatapp_business_account", "calls", [1]],
  ["chatapp_business_account", "unheard_of", {}],
  ["nobody", "messages", {}],
])("an event of %s %s that breaks its contract is refused where it is made: %j", (object, field, payload) => {
  expect(() => checkedField(object, field, payload)).toThrow(PayloadBroken);
});

test("every object of a subscription has fields", () => {
  for (const object of webhookObjects) expect(webhookFields.some((entry) => entry.object === object)).toBe(true);
});
