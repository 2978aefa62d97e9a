/** Draws steps that subscribe apps to webhooks, and steps that cause webhooks. */
import fc, { type Arbitrary } from "fast-check";
import { body, callers, fields, list, oneOf, request } from "./drawing.ts";
import { chatappSteps, selfMessagingSteps } from "./messaging.ts";
import { labelSteps } from "./page-messaging.ts";
import type { NodeName, Step, Value } from "./steps.ts";

const app: Arbitrary<NodeName> = oneOf<NodeName>(
  [10, fc.constant({ id: "1001" })],
  [3, fc.constantFrom({ id: "1002" }, { id: "1003" }, { id: "me" })],
  [1, fc.constant({ id: "2001" })],
);
const page: Arbitrary<NodeName> = oneOf<NodeName>([8, fc.constant({ id: "2001" })], [2, fc.constantFrom({ id: "2002" }, { id: "me" })]);
const ofApp = callers("any", ["shop-app", "shop-app", "1001|s3cret", "other-app"]);
const ofPage = callers("any", ["cafe-page", "cafe-page", "cafe-page-of-other-app", "cafe-page-of-new-app", "bar-page"]);

const OF_OBJECT: Readonly<Record<string, readonly string[]>> = {
  page: ["custom_labels", "live_videos"],
  social: ["messages", "comments", "live_comments"],
  chatapp_business_account: ["messages", "calls", "account_alerts"],
  catalog: ["product_feed"],
};
const written = (some: readonly string[]): Arbitrary<Value> => fc.constantFrom<Value>(some.join(","), JSON.stringify(some));
const some = (names: readonly string[]): Arbitrary<Value> => fc.subarray([...names], { minLength: 1 }).chain(written);
const wrongFields = fc.constantFrom<Value>("feed", "custom_labels,colour", "", undefined);

const address: Arbitrary<Value> = oneOf<Value>(
  [12, fc.constantFrom({ $callback: "1001" }, { $callback: "again" }, { $callback: "ü?x=1" })],
  [2, fc.constantFrom<Value>({ $callback: "fails" }, { $callback: "mismatches" }, undefined, "not an address")],
);
const token: Arbitrary<Value> = oneOf<Value>([12, fc.constant("v")], [1, fc.constantFrom<Value>("", undefined)]);

/** A webhook object, mostly with fields that the object has. */
const wanted = fc
  .constantFrom(...Object.keys(OF_OBJECT))
  .chain((object) =>
    fc.record({ object: fc.constant(object), fields: oneOf<Value>([8, some(OF_OBJECT[object] ?? [])], [1, wrongFields], [1, fc.constant("feed")]) }),
  );

const subscribing: Arbitrary<Step> = fc.tuple(wanted, fc.record({ callback_url: address, verify_token: token })).chain(([what, where]) =>
  request({
    ...{ operation: "subscribeApp", method: "POST", node: app, edge: "subscriptions", tokens: ofApp },
    body: body({}).map((notation) => ({ ...notation, fields: { ...what, ...where } })),
  }),
);

const ending: Arbitrary<Step> = oneOf<Step>(
  [
    6,
    wanted.chain((query) =>
      request({ ...{ operation: "endSubscription", method: "DELETE", node: app, edge: "subscriptions", tokens: ofApp }, query: fc.constant(query) }),
    ),
  ],
  [
    2,
    request({
      ...{ operation: "endSubscription", method: "DELETE", node: app, edge: "subscriptions", tokens: ofApp },
      query: fc.constantFrom({}, { object: "page" }, { object: "nothing" }, { fields: "comments" }),
    }),
  ],
);

export const subscriptionSteps: Arbitrary<Step> = oneOf<Step>(
  [4, subscribing],
  [2, ending],
  [
    3,
    list(
      { operation: "listSubscriptions", node: app, edge: "subscriptions", tokens: ofApp },
      { fields: fields("object", "callback_url", "active", "fields") },
    ),
  ],
  [
    3,
    request({
      ...{ operation: "subscribeToPage", method: "POST", node: page, edge: "subscribed_apps", tokens: ofPage },
      body: body({ subscribed_fields: oneOf<Value>([8, some(OF_OBJECT.page ?? [])], [1, wrongFields]) }),
    }),
  ],
  [1, request({ operation: "unsubscribeFromPage", method: "DELETE", node: page, edge: "subscribed_apps", tokens: ofPage })],
  [
    2,
    list(
      { operation: "listAppsOfPage", node: page, edge: "subscribed_apps", tokens: ofPage },
      { fields: fields("id", "name", "link", "subscribed_fields") },
    ),
  ],
  [5, labelSteps],
  [2, selfMessagingSteps],
  [2, chatappSteps],
);
