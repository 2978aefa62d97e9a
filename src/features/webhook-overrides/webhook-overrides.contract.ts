import { Type } from "typebox";
import { chatappAccount, chatappChange, chatappSubscription } from "#features/chatapp-accounts/api";
import { type Access, type Field, noOthers, writeOperation } from "#graph/contract/operation";
import { having } from "#graph/schema/schema-node";

/** H1-4, H4-4: the longest address of an override. */
const OVERRIDE_URI_CHARACTERS_MAX = 200;

const access = {
  surfaces: ["base"],
  versions: "platform",
  scheme: "bearer",
  policy: chatappAccount,
  errorForm: "wrapped",
} as const satisfies Partial<Access>;

const uri = Type.String({
  minLength: 1,
  maxLength: OVERRIDE_URI_CHARACTERS_MAX,
  format: "callback",
  description: "the address of the alternate callback",
});
/** H1-6, H4-6, D-304: the verify token of a callback. A verify token has no length limit of its own, only the size limit of the request body. */
const tokenOf = { description: "the verify token that Plaza sends to the callback before Plaza stores the callback" };
const verifyToken = Type.String({ minLength: 1, ...tokenOf });
const removal = Type.Object({ override_callback_uri: Type.Literal(""), verify_token: Type.Optional(Type.String(tokenOf)) });
const setting = Type.Object({ override_callback_uri: uri, verify_token: verifyToken });
const success = Type.Object({ success: Type.Boolean() });

export const setAccountOverride = writeOperation({
  ...access,
  operation: "setAccountOverride",
  summary: "Sets the account's alternate callback for the calling app (H1), or removes the callback when the request has no parameters (H3).",
  clauses: [
    "H1-1",
    "H1-2",
    "H1-3",
    "H1-4",
    "H1-5",
    "H1-6",
    "H1-7",
    "H1-8",
    "H3-1",
    "H3-2",
    "AUTH-20",
    "AUTH-21",
    "LIM-4",
    "LIM-5",
    "ROUTE-25",
    "ROUTE-26",
    "ROUTE-27",
  ],
  decisions: ["D-13", "D-57", "D-61", "D-64", "D-304", "D-305"],
  on: "chatapp_account",
  method: "POST",
  edge: "subscribed_apps",
  // D-305 [clients]: an app that is not subscribed may send a request without parameters (H3), which subscribes the app.
  visibility: chatappSubscription,
  policy: chatappSubscription,
  params: Type.Object(
    { override_callback_uri: Type.Optional(uri), verify_token: Type.Optional(verifyToken) },
    {
      dependentRequired: { override_callback_uri: ["verify_token"], verify_token: ["override_callback_uri"] },
      // H3, D-57: a request without `override_callback_uri` removes the override. If such a request has unknown parameters, the request is refused,
      // because one of them may be a misspelt `override_callback_uri`.
      if: having("override_callback_uri"),
      else: noOthers,
    },
  ),
  returns: success,
  errors: ["invalidParameter", "handshakeFailed", "challengeMismatch"],
});

export const setNumberOverride = writeOperation({
  ...access,
  operation: "setNumberOverride",
  summary: "Sets a phone number's alternate callback for the calling app (H4), or removes the callback when the address is empty (H6).",
  clauses: ["H4-1", "H4-2", "H4-3", "H4-4", "H4-5", "H4-6", "H4-7", "H6-1"],
  decisions: ["D-13", "D-57", "D-61", "D-64", "D-304", "D-305"],
  on: "phone_number",
  method: "POST",
  edge: null,
  policy: chatappChange,
  params: Type.Object({
    webhook_configuration: Type.Union([setting, removal], { description: "the alternate callback; an empty address removes the callback" }),
  }),
  returns: success,
  errors: ["invalidParameter", "handshakeFailed", "challengeMismatch"],
});

/** H5-1 to H5-7: the field of a phone number with the overrides and the default callback of the calling app (D-57). */
export const webhookConfiguration: Field = {
  schema: Type.Object({
    phone_number: Type.Optional(Type.String()),
    chatapp_business_account: Type.Optional(Type.String()),
    application: Type.Optional(Type.String()),
  }),
  policy: chatappAccount,
  async load({ caller, world }, reader, rows) {
    const numbers = rows.map(({ account, id }) => ({ account: String(account), id: String(id) }));
    const overrides = await world.ports.get("account_override").ofNumbers(reader, caller.app.id, numbers);
    const application = await world.ports.get("webhook_subscription").findCallbackUrl(reader, caller.app.id, "chatapp_business_account");
    return overrides.map(({ phone_number, account }) => ({
      ...(phone_number === undefined ? {} : { phone_number }),
      // H5-3: the field leaves out an override that is not set.
      ...(account === undefined ? {} : { chatapp_business_account: account }),
      ...(application === undefined ? {} : { application }),
    }));
  },
};
