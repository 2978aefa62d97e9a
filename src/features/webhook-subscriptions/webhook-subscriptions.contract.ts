import { Type } from "typebox";
import { appTokenAlone, definePolicy } from "#auth/policy";
import { type Access, type FieldSet, listOperation, writeOperation } from "#graph/contract/operation";
import { NAMES_OF, ONLY_IN, PROBLEM } from "#graph/schema/schema-node";
import type { WebhookObject } from "#webhooks/catalogue/field";
import type { PageSubscriptionRow, ShownSubscriptionRow } from "./webhook-subscriptions.store.ts";
import { unservedPageFields } from "./webhook-subscriptions.unserved.ts";

/** D-60: the policy of an app's own subscriptions. */
export const appSubscriptions = appTokenAlone("appSubscriptions");

/**
 * D-60: the policy of a page's subscriptions. With a token of the page, the calling app subscribes itself to the page, or lists the subscribed apps.
 */
export const pageSubscriptions = definePolicy({
  name: "pageSubscriptions",
  summary: "a token of the page",
  kinds: ["page"],
  scopes: [],
  canSee: ({ token, node }) => token.page === node.owner,
});

/** The longest address of a callback. The limit exists because many servers refuse longer addresses. */
const CALLBACK_URL_CHARACTERS_MAX = 2_048;

const access = { surfaces: ["base"], versions: "platform", scheme: "anywhere", errorForm: "wrapped" } as const satisfies Partial<Access>;
const ofApp = { ...access, policy: appSubscriptions, on: "app", edge: "subscriptions" } as const;
const ofPage = { ...access, policy: pageSubscriptions, on: "page", edge: "subscribed_apps" } as const;

/** D-60: the parameter `object`, which names the type of the nodes whose events an app subscribes to. */
const object = Type.Union([Type.Literal("social"), Type.Literal("chatapp_business_account"), Type.Literal("page"), Type.Literal("catalog")], {
  description: "the kind of nodes that the events are about",
});
const objects = object.anyOf.map(({ const: name }) => name);
const names = Type.Array(Type.String());

/**
 * D-164: the names of the fields that an app can subscribe to. In the profile `clients`, the names include fields of pages whose events Plaza never
 * sends.
 */
const fieldNames = (of: readonly WebhookObject[]) => [
  ...of.map((one) => ({ type: "string", [NAMES_OF]: one })),
  ...(of.includes("page") ? [{ type: "string", enum: [...unservedPageFields], [ONLY_IN]: "clients" }] : []),
];
/**
 * D-337: the greatest number of names in a list of fields, because each name is compared with all fields. An object of webhooks has only some tens of
 * fields.
 */
const FIELDS_MAX = 200;

const fieldsOf = (...of: readonly WebhookObject[]) =>
  Type.Array(Type.Unsafe<string>({ anyOf: fieldNames(of) }), {
    minItems: 1,
    maxItems: FIELDS_MAX,
    description: "the fields whose events are sent",
    [PROBLEM]: `must be fields of ${of.join(", ")}`,
  });

/**
 * The part of the schema that allows only fields of the request's `object`. The schema expresses this rule with `if` and `then`, because generators
 * of types ignore these keywords.
 */
const ofTheirObject = objects.reduceRight<Record<string, unknown>>(
  (otherwise, one) => ({
    if: { properties: { object: { const: one } } },
    // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema.
    then: { properties: { fields: { type: "array", items: { anyOf: fieldNames([one]) }, [PROBLEM]: `must be fields of ${one}` } } },
    else: otherwise,
  }),
  {},
);
const success = Type.Object({ success: Type.Boolean() });

const subscription: FieldSet<ShownSubscriptionRow> = {
  fields: {
    object: { schema: Type.String(), policy: appSubscriptions },
    callback_url: { schema: Type.String(), policy: appSubscriptions },
    /** The field `active` is true if the callback is verified. Plaza sends events only to verified callbacks. */
    active: { schema: Type.Boolean(), policy: appSubscriptions, of: (row) => row.is_verified === 1 },
    fields: { schema: names, policy: appSubscriptions, of: (row) => JSON.parse(row.fields) },
  },
  defaults: ["object", "callback_url", "active", "fields"],
  required: ["object"],
};

export const listSubscriptionsOperation = listOperation({
  ...ofApp,
  operation: "listSubscriptions",
  summary: "Lists the subscriptions of the app, one for each object (D-60).",
  clauses: [],
  decisions: ["D-60", "D-130"],
  params: Type.Object({}),
  items: subscription,
  errors: [],
});

export const subscribeApp = writeOperation({
  ...ofApp,
  operation: "subscribeApp",
  summary:
    "Subscribes the app to fields of an object. Verifies the callback, replaces the previous callback, and adds the fields (D-60, D-61, D-130).",
  clauses: ["HOOK-1", "SELF-19"],
  decisions: ["D-60", "D-61", "D-64", "D-130"],
  method: "POST",
  params: Type.Object(
    {
      object,
      callback_url: Type.String({
        minLength: 1,
        maxLength: CALLBACK_URL_CHARACTERS_MAX,
        description: "the address to which the events are sent",
        format: "callback",
      }),
      fields: fieldsOf(...objects),
      verify_token: Type.String({ minLength: 1, description: "the verify token that Plaza sends to the callback before Plaza stores the callback" }),
    },
    ofTheirObject,
  ),
  returns: success,
  errors: ["invalidParameter", "handshakeFailed", "challengeMismatch"],
});

export const unsubscribeApp = writeOperation({
  ...ofApp,
  operation: "endSubscription",
  summary: "Ends the app's subscriptions to the given fields; without fields, to all fields of the object; without object, to all objects (D-60).",
  clauses: [],
  decisions: ["D-60", "D-130", "D-138"],
  method: "DELETE",
  params: Type.Object(
    { object: Type.Optional(object), fields: Type.Optional(fieldsOf(...objects)) },
    { dependentRequired: { fields: ["object"] }, ...ofTheirObject },
  ),
  returns: success,
  errors: ["invalidParameter"],
});

const subscribedApp: FieldSet<PageSubscriptionRow> = {
  fields: {
    id: { schema: Type.String(), policy: pageSubscriptions, of: (row) => row.app },
    name: {
      schema: Type.String(),
      policy: pageSubscriptions,
      async load({ world }, reader, rows) {
        const found = await world.ports.get("app").findNames(
          reader,
          rows.map(({ app }) => app),
        );
        return rows.map(({ app }) => found.get(app));
      },
    },
    link: {
      schema: Type.String(),
      policy: pageSubscriptions,
      of: ({ app }, { graphRequest }) => `${graphRequest.baseUrl}/${app}`,
    },
    subscribed_fields: { schema: names, policy: pageSubscriptions, of: (row) => JSON.parse(row.subscribed_fields) },
  },
  defaults: ["id", "name", "link", "subscribed_fields"],
};

export const listAppsOfPage = listOperation({
  ...ofPage,
  operation: "listAppsOfPage",
  summary: "Lists the apps that receive webhooks of the page (D-60).",
  clauses: [],
  decisions: ["D-60", "D-131"],
  params: Type.Object({}),
  items: subscribedApp,
  errors: [],
});

export const subscribeToPage = writeOperation({
  ...ofPage,
  operation: "subscribeToPage",
  summary:
    "Subscribes the calling app to exactly these fields of the page (D-60, D-131). The app itself must also be subscribed to these fields for the object page.",
  clauses: [],
  decisions: ["D-60", "D-131", "D-164"],
  method: "POST",
  params: Type.Object({ subscribed_fields: fieldsOf("page") }),
  returns: success,
  errors: ["invalidParameter"],
});

export const unsubscribeFromPage = writeOperation({
  ...ofPage,
  operation: "unsubscribeFromPage",
  summary: "Ends the calling app's subscription to the page (D-60).",
  clauses: [],
  decisions: ["D-60", "D-131", "D-138"],
  method: "DELETE",
  params: Type.Object({}),
  returns: success,
  errors: [],
});
