import { Type } from "typebox";
import { type Access, type Field, type FieldSet, listOperation, writeOperation } from "#graph/contract/operation";
import { chatappAccount, chatappChange } from "./chatapp-accounts.api.ts";
import type { AccountRow, NumberRow, SubscribedAppRow } from "./chatapp-accounts.store.ts";

const access = {
  surfaces: ["base"],
  versions: "platform",
  scheme: "bearer",
  policy: chatappAccount,
  errorForm: "wrapped",
  errors: [],
} as const satisfies Partial<Access>;

const text = { schema: Type.String(), policy: chatappAccount } as const;

/** D-59: the fields of a business messaging account. */
export const accountNode: FieldSet<AccountRow> = {
  fields: { id: text, name: text },
  defaults: ["id", "name"],
};

/** D-59: the fields of a phone number. */
export const numberNode: FieldSet<NumberRow> = {
  fields: { id: text, display_phone_number: text, verified_name: text },
  defaults: ["id", "display_phone_number", "verified_name"],
};

const appData = Type.Object({ id: Type.String(), link: Type.String(), name: Type.String() });

const chatappBusinessApiData: Field<SubscribedAppRow> = {
  schema: appData,
  policy: chatappAccount,
  async load({ graphRequest, world }, reader, rows) {
    const names = await world.ports.get("app").findNames(
      reader,
      rows.map(({ app }) => app),
    );
    return rows.map(({ app }) => ({ id: app, link: `${graphRequest.baseUrl}/${app}`, name: names.get(app) ?? "" }));
  },
};

/**
 * H2-2, H2-4, D-303: the field with the address that gets the account's webhooks instead of the app's own callback. Every caller who may read the
 * list of subscribed apps gets the field. The field of an override is absent if no override is set.
 */
const overrideCallbackUri: Field<SubscribedAppRow> = {
  schema: Type.String(),
  policy: chatappAccount,
  load: ({ world }, reader, rows) => world.ports.get("account_override").ofApps(reader, rows),
};

const subscribedAppEntry: FieldSet<SubscribedAppRow> = {
  fields: { chatapp_business_api_data: chatappBusinessApiData, override_callback_uri: overrideCallbackUri },
  defaults: ["chatapp_business_api_data", "override_callback_uri"],
  required: ["chatapp_business_api_data"],
};

export const readAccount = { ...access, operation: "readChatappAccount", decisions: ["D-59", "D-165"], clauses: [] } as const;
export const readNumber = { ...access, operation: "readPhoneNumber", decisions: ["D-57", "D-59"], clauses: ["H5-5", "H5-6"] } as const;

export const listNumbers = listOperation({
  ...access,
  operation: "listPhoneNumbers",
  summary: "Lists the phone numbers of an account (D-59).",
  clauses: [],
  decisions: ["D-59"],
  on: "chatapp_account",
  edge: "phone_numbers",
  params: Type.Object({}),
  items: numberNode,
  itemType: "phone_number",
});

export const listSubscribedAppsOperation = listOperation({
  ...access,
  operation: "listSubscribedApps",
  summary: "Lists the apps that are subscribed to an account's webhooks, each with its override.",
  clauses: ["H2-1", "H2-2", "H2-3", "H2-4"],
  decisions: ["D-13", "D-57", "D-303"],
  on: "chatapp_account",
  edge: "subscribed_apps",
  params: Type.Object({}),
  items: subscribedAppEntry,
});

export const unsubscribeAppOperation = writeOperation({
  ...access,
  operation: "unsubscribeApp",
  summary: "Ends the calling app's subscription to the account's webhooks and removes the app's overrides on the account (D-60).",
  clauses: [],
  decisions: ["D-60", "D-138", "D-305"],
  on: "chatapp_account",
  policy: chatappChange,
  method: "DELETE",
  edge: "subscribed_apps",
  params: Type.Object({}),
  returns: Type.Object({ success: Type.Boolean() }),
});
