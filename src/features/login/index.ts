/** The public API of the login feature: the login dialog, exchanges of codes and tokens, permissions, and page tokens of a person. */
import { defineFeature } from "#graph/contract/feature";
import { serveList, serveRead, serveWrite } from "#graph/contract/operation";
import { handleListAccounts } from "./login.accounts.ts";
import { callbackJob } from "./login.callbacks.ts";
import {
  deletePermission,
  exchangeByForm,
  exchangeByQuery,
  extendAccessToken,
  listAccounts,
  loginClient,
  ownLoginToken,
  ownPages,
  ownPermissions,
  readPermissions,
  refreshAccessToken,
} from "./login.contract.ts";
import { loginControlRoutes } from "./login.control.ts";
import { handleDeletePermission, handleExchange, handleExtend, handleReadPermissions, handleRefresh } from "./login.handlers.ts";
import { loginMigrations } from "./login.migrations.ts";
import { forgetOwner } from "./login.store.ts";

export { answerDialog, type Form, openDialog, PEOPLE_SHOWN_MAX } from "./login.dialog.ts";
export type { SignInPage } from "./login.sign-in.ts";

export const login = defineFeature({
  name: "login",
  migrations: loginMigrations,
  policies: [loginClient, ownLoginToken, ownPermissions, ownPages],
  operations: [
    serveRead(exchangeByQuery, handleExchange),
    // The function `handleExchange` opens a transaction of its own, because even an exchange that is refused may revoke tokens, and this change must
    // be committed.
    serveWrite(exchangeByForm, async (_request, _tx, issued) => issued, handleExchange),
    serveRead(extendAccessToken, handleExtend),
    serveRead(refreshAccessToken, handleRefresh),
    serveRead(readPermissions, handleReadPermissions),
    serveWrite(deletePermission, handleDeletePermission),
    serveList(listAccounts, handleListAccounts),
  ],
  jobs: [callbackJob],
  controlRoutes: loginControlRoutes,
  onOwnerDeleted: forgetOwner,
  needs: ["app", "page", "user", "social_account"],
});
