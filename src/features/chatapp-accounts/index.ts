/**
 * The public API of the chatapp-accounts feature, which serves business messaging accounts, their numbers and their subscribed apps (H2, D-59, D-60).
 */

import { defineFeature, nodeType } from "#graph/contract/feature";
import { serveListOf, serveWrite } from "#graph/contract/operation";
import { chatappAccount, chatappChange, chatappSubscription } from "./chatapp-accounts.api.ts";
import {
  accountNode,
  listNumbers,
  listSubscribedAppsOperation,
  numberNode,
  readAccount,
  readNumber,
  unsubscribeAppOperation,
} from "./chatapp-accounts.contract.ts";
import { chatappControlRoutes } from "./chatapp-accounts.control.ts";
import { handleUnsubscribeApp } from "./chatapp-accounts.handlers.ts";
import {
  type AccountRow,
  accountTable,
  businessOf,
  chatappAccountMigrations,
  forgetBusiness,
  isSubscribed,
  listSubscribedApps,
  type NumberRow,
  numberTable,
  pageSubscribedApps,
  subscribeApp,
  unsubscribeEverywhere,
} from "./chatapp-accounts.store.ts";
import { chatappFields } from "./chatapp-accounts.webhooks.ts";
import { chatappAccountSection, phoneNumberSection } from "./chatapp-accounts.world.ts";

export const chatappAccounts = defineFeature({
  name: "chatapp-accounts",
  migrations: chatappAccountMigrations,
  policies: [chatappAccount, chatappChange, chatappSubscription],
  nodeTypes: [
    nodeType<AccountRow>({
      type: "chatapp_account",
      policy: chatappAccount,
      reading: { ...readAccount, set: accountNode, find: (_request, reader, node) => accountTable.find(reader, node.id) },
    }),
    nodeType<NumberRow>({
      type: "phone_number",
      policy: chatappAccount,
      reading: { ...readNumber, set: numberNode, find: (_request, reader, node) => numberTable.find(reader, node.owner, node.id) },
    }),
  ],
  operations: [
    serveListOf(listNumbers, numberTable.listOf),
    serveListOf(listSubscribedAppsOperation, pageSubscribedApps),
    serveWrite(unsubscribeAppOperation, handleUnsubscribeApp),
  ],
  controlRoutes: chatappControlRoutes,
  webhookFields: chatappFields,
  worldSections: [chatappAccountSection, phoneNumberSection],
  async onOwnerDeleted(tx, owner) {
    await unsubscribeEverywhere(tx, owner);
    await forgetBusiness(tx, owner);
  },
  needs: ["account_override", "account_override_writes", "app"],
  ports: () => ({
    chatapp_account: { isSubscribed, businessOf, subscribedApps: listSubscribedApps },
    chatapp_account_writes: { subscribe: subscribeApp },
  }),
});
