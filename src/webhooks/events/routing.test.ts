import { expect, test } from "bun:test";
import fc from "fast-check";
import { buildRegistry } from "#main";
import { type RouteFacts, routeOf } from "./routing.ts";

const { webhookFields } = buildRegistry();

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
  routeOf({ honoursOverrides: webhookFields.read("chatapp_business_account", field).honoursOverrides, ...facts });

test.each(honouring)("ROUTE-1 to ROUTE-3, %s: the phone's override, else the account's, else the app's callback", (field) => {
  expect(route(field, { phoneOverride, accountOverride, appCallback: app })).toEqual({ to: "phone", url: phoneOverride });
  expect(route(field, { phoneOverride, accountOverride: undefined, appCallback: app })).toEqual({ to: "phone", url: phoneOverride });
  expect(route(field, { phoneOverride: undefined, accountOverride, appCallback: app })).toEqual({ to: "account", url: accountOverride });
  expect(route(field, { phoneOverride: undefined, accountOverride: undefined, appCallback: app })).toEqual({ to: "app", url: app.url });
});

test.each(never)("ROUTE-17 to ROUTE-24, %s: always the app's callback", (field) => {
  expect(route(field, { phoneOverride, accountOverride, appCallback: app })).toEqual({ to: "app", url: app.url });
});

test("the catalogue has the document's fields: 13 that honour overrides, 7 that never do, and no others of business accounts", () => {
  const business = webhookFields.all.filter(({ object }) => object === "chatapp_business_account");
  expect(business.filter((entry) => entry.honoursOverrides).map(({ field }) => field)).toEqual(honouring);
  expect(business.filter((entry) => !entry.honoursOverrides).map(({ field }) => field)).toEqual(never);
  expect(webhookFields.namesOf("social")).toEqual(["messages", "comments", "live_comments"]);
  expect(webhookFields.namesOf("page")).toEqual(["custom_labels", "live_videos"]);
});

test("routing is total: any facts lead to exactly one place, and never skip an earlier rule", () => {
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
      // Overrides have no effect on the events of a field that ignores overrides.
      expect(routeOf({ ...given, honoursOverrides: false })).toEqual(
        routeOf({ ...given, honoursOverrides: false, phoneOverride: undefined, accountOverride: undefined }),
      );
    }),
  );
});
