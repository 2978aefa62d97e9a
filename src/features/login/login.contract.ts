import { Type } from "typebox";
import { definePolicy } from "#auth/policy";
import { type Access, type FieldSet, listOperation, readOperation, writeOperation } from "#graph/contract/operation";
import { PROBLEM } from "#graph/schema/schema-node";
import { taskMissing } from "#kernel/errors";
import type { AccountRow } from "./login.accounts.ts";
import { hasLogin } from "./login.permissions.ts";

/**
 * D-382: the policy of requests that exchange a code or a token. Only the app itself may exchange codes and tokens; the app identifies itself by its
 * id and its secret.
 */
export const loginClient = definePolicy({
  name: "loginClient",
  summary: "the app, by `client_id` and `client_secret`",
  kinds: ["app"],
  scopes: [],
  canSee: () => true,
});

/** D-383: the policy of renewing a token at the host of the alternate flow. */
export const ownLoginToken = definePolicy({
  name: "ownLoginToken",
  summary: "a token of a social account",
  kinds: ["social_user"],
  scopes: [],
  canSee: () => true,
});

/** D-384: the policy of a person's permissions. An app can read the permissions of a person only if the person has logged in to the app. */
export const ownPermissions = definePolicy({
  name: "ownPermissions",
  summary: "the user's own token, or the app's own token for a user who has logged in to the app",
  kinds: ["user", "app"],
  scopes: [],
  canSee: ({ token, node, reader }) => (token.type === "app" ? hasLogin(reader, token.app, node.id) : token.user === node.id),
  readsNode: true,
});

/** D-386: the policy of listing a person's pages with tokens. */
export const ownPages = definePolicy({
  name: "ownPages",
  summary: "the user's own token",
  kinds: ["user", "system_user"],
  scopes: ["pages_show_list"],
  canSee: ({ token, node }) => token.user === node.id,
  deny: ({ token, node }) => (token.user === node.id ? undefined : taskMissing("the user's own token")),
});

const access = { clauses: [], surfaces: [], versions: "platform", errorForm: "wrapped" } as const satisfies Partial<Access>;
const onBase = { ...access, clientsSurfaces: ["base"], scheme: "anywhere" } as const satisfies Partial<Access>;

/**
 * The response to an exchange of a code or token. If a code is exchanged at the host of the alternate flow, the response also has `user_id` and
 * `permissions`.
 */
const issued = Type.Object({
  access_token: Type.String(),
  token_type: Type.Optional(Type.String()),
  expires_in: Type.Optional(Type.Integer({ description: "seconds until the token expires; absent for a token that does not expire" })),
  user_id: Type.Optional(Type.String()),
  permissions: Type.Optional(Type.Array(Type.String())),
});

const text = (description: string) => Type.Optional(Type.String({ maxLength: 2_000, description }));

const exchange = {
  ...access,
  clientsSurfaces: ["base", "social_login"],
  scheme: "client",
  policy: loginClient,
  decisions: ["D-382"],
  on: null,
  edge: "oauth/access_token",
  params: Type.Object({
    client_id: text("the app's id"),
    client_secret: text("the app's secret"),
    grant_type: Type.Optional(
      Type.String({
        pattern: "^(authorization_code|client_credentials|[a-z]{1,20}_exchange_token)$",
        [PROBLEM]: "must be authorization_code, client_credentials, or the name of an exchange that ends with _exchange_token",
        description: "authorization_code (default), client_credentials, or the name of an exchange that ends with _exchange_token",
      }),
    ),
    code: text("the code that the login dialog returned"),
    redirect_uri: text("the address to which the dialog sent the code"),
    code_verifier: text("the code verifier; required if the dialog was opened with `code_challenge`"),
  }),
  returns: issued,
  errors: ["invalidParameter"],
} as const;

export const exchangeByQuery = readOperation({
  ...exchange,
  operation: "readAccessToken",
  summary: "Exchanges a code of the login dialog, the app's secret or a short-lived token for a token.",
});

export const exchangeByForm = writeOperation({
  ...exchange,
  operation: "createAccessToken",
  method: "POST",
  summary: "Exchanges a code of the login dialog, the app's secret or a short-lived token for a token.",
});

const renewal = {
  ...access,
  clientsSurfaces: ["social_login"],
  scheme: "anywhere",
  policy: ownLoginToken,
  decisions: ["D-383"],
  on: null,
  returns: issued,
  errors: ["invalidParameter"],
} as const;

export const extendAccessToken = readOperation({
  ...renewal,
  operation: "extendAccessToken",
  edge: "access_token",
  summary: "Exchanges a short-lived token of an account for a long-lived token.",
  params: Type.Object({
    grant_type: Type.String({ pattern: "^[a-z]{1,20}_exchange_token$", description: "the name of the exchange" }),
    client_secret: Type.String({ minLength: 1, maxLength: 1_000, description: "the app's secret" }),
  }),
});

export const refreshAccessToken = readOperation({
  ...renewal,
  operation: "refreshAccessToken",
  edge: "refresh_access_token",
  summary: "Exchanges a long-lived token of an account for a new one.",
  params: Type.Object({ grant_type: Type.String({ pattern: "^[a-z]{1,20}_refresh_token$", description: "the name of the exchange" }) }),
});

export const readPermissions = readOperation({
  ...onBase,
  operation: "readPermissions",
  summary: "Lists the permissions that the person granted or declined to the app.",
  decisions: ["D-384"],
  policy: ownPermissions,
  visibility: ownPermissions,
  on: "user",
  edge: "permissions",
  params: Type.Object({}),
  returns: Type.Object({
    data: Type.Array(Type.Object({ permission: Type.String(), status: Type.Union([Type.Literal("granted"), Type.Literal("declined")]) })),
  }),
  errors: [],
});

export const deletePermission = writeOperation({
  ...onBase,
  operation: "deletePermission",
  summary: "Revokes a permission, or removes the app from the person's account: all tokens that the app has for the person are revoked.",
  decisions: ["D-384", "D-385"],
  policy: ownPermissions,
  visibility: ownPermissions,
  on: "user",
  method: "DELETE",
  edge: "permissions",
  params: Type.Object({ permission: text("the permission to revoke; without a permission, the app is removed") }),
  returns: Type.Object({ success: Type.Boolean() }),
  errors: ["invalidParameter"],
});

const field = (schema: ReturnType<typeof Type.String> | ReturnType<typeof Type.Array>) => ({ schema, policy: ownPages });

const accountSet: FieldSet<AccountRow> = {
  fields: {
    id: field(Type.String()),
    name: field(Type.String()),
    access_token: field(Type.String()),
    tasks: { ...field(Type.Array(Type.String())), of: ({ tasks }) => JSON.parse(tasks) },
  },
  defaults: ["access_token", "name", "id", "tasks"],
};

export const listAccounts = listOperation({
  ...onBase,
  operation: "listAccounts",
  summary: "Lists the pages on which the person has a role, each with a page token.",
  decisions: ["D-386"],
  policy: ownPages,
  on: "user",
  edge: "accounts",
  params: Type.Object({}),
  items: accountSet,
  errors: [],
});
