/** Draws steps on self messaging, business messaging accounts with their overrides, and migration intents. */
import fc, { type Arbitrary } from "fast-check";
import { ROUTED, UNROUTED } from "../reference/areas/chatapp.ts";
import { body, callers, fields, list, node, oneOf, request, text, world } from "./drawing.ts";
import type { InAppStep, NodeName, OutageStep, Step, Value } from "./steps.ts";

const messageText: Arbitrary<Value> = oneOf<Value>(
  [8, text(40)],
  [1, fc.constantFrom<Value>("", "x".repeat(1000), "x".repeat(1001), "😀".repeat(1000), null, true, undefined)],
);

const inApp = (what: InAppStep["what"], drawn: Readonly<Record<string, Arbitrary<Value>>>): Arbitrary<InAppStep> =>
  fc.record({ kind: fc.constant("in app" as const), world, what: fc.constant(what), fields: fc.record(drawn) });

type Meanwhile = NonNullable<OutageStep["meanwhile"]>[number];

/**
 * A step that happens while the callbacks of the world fail or are gone. The steps that happen in the meantime are in the same world.
 */
const inOutage = (
  step: Arbitrary<InAppStep>,
  response: Arbitrary<OutageStep["response"]>,
  happening: Arbitrary<Meanwhile> = newSecret,
): Arbitrary<Step> =>
  fc
    .record({ cause: step, response, meanwhile: fc.array(oneOf<Meanwhile>([4, happening], [1, newSecret]), { maxLength: 2 }) })
    .map(({ meanwhile, ...drawn }) => {
      const { world: of } = drawn.cause;
      return {
        kind: "outage",
        world: of,
        ...drawn,
        ...(meanwhile.length === 0 ? {} : { meanwhile: meanwhile.map((one) => ({ ...one, world: of })) }),
      };
    });

const newSecret: Arbitrary<Meanwhile> = fc.record({
  ...{ kind: fc.constant("secret" as const), world, app: fc.constantFrom("1001", "1001", "1002") },
  secret: fc.constantFrom("n3xt", "s3cret", "0ther", "löng ".repeat(20)),
});

/** A step that changes or ends the app's subscription to an object. */
const subscribing = (object: string, known: readonly string[]): Arbitrary<Meanwhile> =>
  oneOf<Meanwhile>(
    [
      2,
      request({
        ...{ operation: "subscribeApp", method: "POST", node: fc.constant({ id: "1001" }), edge: "subscriptions" },
        tokens: fc.constant({ header: "shop-app" }),
        body: body({
          ...{ object: fc.constant(object), fields: fc.constant(known.join()), verify_token: fc.constant("v") },
          callback_url: fc.constantFrom({ $callback: "again" }, { $callback: "1001" }, { $callback: "fails" }),
        }),
      }),
    ],
    [
      2,
      request({
        ...{ operation: "endSubscription", method: "DELETE", node: fc.constant({ id: "1001" }), edge: "subscriptions" },
        tokens: fc.constant({ header: "shop-app" }),
        query: fc.record({ object: fc.constant(object), fields: fc.constantFrom(undefined, ...known) }),
      }),
    ],
  );

const account = fc.constantFrom("6001", "6001", "6001", "6002", "6004", "6005");

const message = fc.record({
  text: messageText,
  quick_replies: oneOf<Value>([12, fc.constant(undefined)], [1, fc.constant([{ content_type: "text", title: "x" }])]),
});

const selfMessage = (surface: "base" | "social_login", good: readonly string[]): Arbitrary<Step> =>
  request({
    ...{ operation: "sendSelfMessage", method: "POST", surface, edge: "messages" },
    node: oneOf<NodeName>([10, fc.constant({ id: "6901" })], [1, node("social_scoped_account")], [1, fc.constant({ id: "6001" })]),
    tokens: callers("header", good),
    body: body({ message }),
  });

const comments = inApp("comment", { social_account: account, media: fc.constantFrom("6101", "6102", "6107"), text: text(20) });
/** A message of an account whose data can be read with one token only. */
const lonely = inApp("self-message", { social_account: fc.constant("6005"), text: text(30) });
const revoking: Arbitrary<Meanwhile> = fc.record({ kind: fc.constant("revoke" as const), world, token: fc.constant("lone-social") });

export const selfMessagingSteps: Arbitrary<Step> = oneOf<Step>(
  [4, selfMessage("base", ["cafe-page", "cafe-page", "cafe-page-without-person", "cafe-page-of-other-app"])],
  [3, selfMessage("social_login", ["cafe-social", "cafe-social", "fan-social"])],
  [2, inApp("self-message", { social_account: account, text: text(30) })],
  [1, inApp("postback", { social_account: account, title: text(10), payload: text(10), mid: fc.constantFrom("m_1", "m_2") })],
  [2, comments],
  [
    1,
    inOutage(
      comments,
      fc.constantFrom<OutageStep["response"]>(500, 500, 410, "paused", { forSeconds: 30_000 }),
      subscribing("social", ["messages", "comments"]),
    ),
  ],
  [1, inOutage(lonely, fc.constant(500), oneOf<Meanwhile>([1, revoking], [1, subscribing("social", ["messages", "comments"])]))],
);

const tokens = callers("header", ["ada-user", "ada-user", "ada-system-user", "other-ada-user", "ben-user-without-messaging"]);
const waba: Arbitrary<NodeName> = oneOf<NodeName>([6, fc.constant({ id: "4001" })], [2, node("chatapp_account")]);
const number = node("phone_number");

const address: Arbitrary<Value> = oneOf<Value>(
  [8, fc.constantFrom({ $callback: "a" }, { $callback: "b" }, { $callback: "ü?x=1" })],
  [2, fc.constantFrom({ $callback: "fails" }, { $callback: "mismatches" })],
  [1, fc.constantFrom<Value>("ftp://127.0.0.1/x", "not an address", `https://example.com/${"x".repeat(190)}`, true)],
);
const verifyToken: Arbitrary<Value> = oneOf<Value>([12, fc.constantFrom("v", "x".repeat(500))], [1, fc.constantFrom<Value>("", undefined)]);

const chatting = inApp("chatapp", {
  ...{ account: fc.constant("4001"), phone_number: fc.constantFrom<Value>("4101", "4102", undefined) },
  ...{ field: fc.constantFrom<string>("messages", "messages", ...ROUTED, ...UNROUTED), value: fc.record({ text: text(10) }) },
});

/** Steps that change the address to which the webhooks of an account and its numbers are sent. */
const rerouting: Arbitrary<Meanwhile> = oneOf<Meanwhile>(
  [
    3,
    request({
      ...{ operation: "setAccountOverride", method: "POST", node: fc.constant({ id: "4001" }), edge: "subscribed_apps" },
      tokens: fc.constantFrom({ header: "ada-user" }, { header: "other-ada-user" }),
      body: body({ override_callback_uri: fc.constantFrom({ $callback: "a" }, { $callback: "b" }), verify_token: fc.constant("v") }),
    }),
  ],
  [
    2,
    request({
      ...{ operation: "setAccountOverride", method: "POST", node: fc.constant({ id: "4001" }), edge: "subscribed_apps" },
      tokens: fc.constantFrom({ header: "ada-user" }, { header: "other-ada-user" }),
    }),
  ],
  [
    3,
    request({
      ...{ operation: "setNumberOverride", method: "POST", node: fc.constantFrom({ id: "4101" }, { id: "4102" }), edge: "" },
      tokens: fc.constant({ header: "ada-user" }),
      body: body({
        webhook_configuration: fc.record({
          override_callback_uri: fc.constantFrom<Value>({ $callback: "a" }, { $callback: "b" }, ""),
          verify_token: fc.constant("v"),
        }),
      }),
    }),
  ],
  [
    1,
    request({
      ...{ operation: "unsubscribeApp", method: "DELETE", node: fc.constant({ id: "4001" }), edge: "subscribed_apps" },
      tokens: fc.constant({ header: "other-ada-user" }),
    }),
  ],
  [2, subscribing("chatapp_business_account", ["messages", "calls"])],
);

export const chatappSteps: Arbitrary<Step> = oneOf<Step>(
  [
    4,
    request({
      operation: "setAccountOverride",
      method: "POST",
      node: waba,
      edge: "subscribed_apps",
      tokens,
      body: body({ override_callback_uri: address, verify_token: verifyToken }),
    }),
  ],
  [1, request({ operation: "setAccountOverride", method: "POST", node: waba, edge: "subscribed_apps", tokens })],
  [
    1,
    request({
      operation: "setAccountOverride",
      method: "POST",
      node: waba,
      edge: "subscribed_apps",
      tokens,
      query: fc.constantFrom<Record<string, Value>>({}, { limit: "1" }, { after: "x" }, { fields: "id" }),
      body: body({ override_callback_url: oneOf<Value>([1, address], [1, fc.constant(undefined)]) }),
    }),
  ],
  [
    3,
    request({
      ...{ operation: "setNumberOverride", method: "POST", node: number, edge: "", tokens },
      body: body({
        webhook_configuration: fc.record({ override_callback_uri: oneOf<Value>([3, address], [1, fc.constant("")]), verify_token: verifyToken }),
      }),
    }),
  ],
  [
    2,
    request({
      operation: "readPhoneNumber",
      method: "GET",
      node: number,
      edge: "",
      tokens,
      query: fc.record({ fields: fields("id", "webhook_configuration", "webhook_configuration{application}", "verified_name") }),
    }),
  ],
  [
    2,
    list(
      { operation: "listSubscribedApps", node: waba, edge: "subscribed_apps", tokens },
      { fields: fields("override_callback_uri", "chatapp_business_api_data", "chatapp_business_api_data{name}") },
    ),
  ],
  [1, list({ operation: "listPhoneNumbers", node: waba, edge: "phone_numbers", tokens }, { fields: fields("id", "verified_name") })],
  [1, request({ operation: "readChatappAccount", method: "GET", node: waba, edge: "", tokens, query: fc.record({ fields: fields("id", "name") }) })],
  [5, chatting],
  [
    2,
    inOutage(
      chatting,
      oneOf<OutageStep["response"]>(
        [8, fc.constantFrom<OutageStep["response"]>(500, 500, 410, "paused")],
        [3, fc.constantFrom(46, 700, 7_200, 86_400, 40 * 3_600).map((forSeconds) => ({ forSeconds }))],
        [1, fc.constant("days")],
      ),
      rerouting,
    ),
  ],
);

const intentFields = fields("id", "status", "waba", "waba{name}", "destination_waba", "destination_waba{id,name}", "solution", "solution{id}");

export const intentSteps: Arbitrary<Step> = oneOf<Step>(
  [
    5,
    request({
      ...{ operation: "readMigrationIntent", method: "GET", edge: "", tokens },
      version: oneOf<string | null>([8, fc.constantFrom("v23.0", "v24.0", "v25.0")], [1, fc.constantFrom("v26.0", "v22.0", null)]),
      node: node("migration_intent"),
      query: fc.record({ fields: oneOf<Value>([8, intentFields], [1, fc.constantFrom("name", "waba{title}", "solution{name}", "nothing")]) }),
    }),
  ],
  [
    3,
    request({
      ...{ operation: "setSolutionMigrationIntent", method: "POST", node: waba, edge: "set_solution_migration_intent", tokens },
      body: body({
        solution_id: oneOf<Value>([6, fc.constantFrom("4201", "4202")], [1, fc.constantFrom<Value>("4001", undefined, "9")]),
        destination_waba: fc.constantFrom<Value>(undefined, "4002", "4003", "4001", "9"),
      }),
    }),
  ],
  [
    1,
    request({
      operation: "unsubscribeApp",
      method: "DELETE",
      node: waba,
      edge: "subscribed_apps",
      tokens: fc.constantFrom({ header: "other-ada-user" }, { header: "nonsense" }),
    }),
  ],
  [
    2,
    fc.record({
      kind: fc.constant("move intent" as const),
      world,
      intent: node("migration_intent"),
      to: fc.constantFrom("ACCEPTED" as const, "COMPLETED" as const, "REJECTED" as const),
    }),
  ],
);
