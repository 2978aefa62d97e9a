/** The public API of the webhook-subscriptions feature, which stores the subscriptions of apps and pages to webhooks (D-60). */

import { defineFeature } from "#graph/contract/feature";
import { serveListOf, serveWrite } from "#graph/contract/operation";
import {
  appSubscriptions,
  listAppsOfPage,
  listSubscriptionsOperation,
  pageSubscriptions,
  subscribeApp,
  subscribeToPage,
  unsubscribeApp,
  unsubscribeFromPage,
} from "./webhook-subscriptions.contract.ts";
import {
  handleSubscribeApp,
  handleSubscribeToPage,
  handleUnsubscribeApp,
  handleUnsubscribeFromPage,
  notesOnSubscribeApp,
  notesOnSubscribeToPage,
  prepareSubscribeApp,
} from "./webhook-subscriptions.handlers.ts";
import "./webhook-subscriptions.ports.ts";
import {
  findCallbackUrl,
  findOfApp,
  findWebhookApp,
  missingFor,
  retireSecret,
  saveOfApp,
  saveOfPage,
  subscribersOfAccount,
} from "./webhook-subscriptions.ports.ts";
import {
  countSealedOtherwise,
  deleteAllOf,
  isSubscribed,
  listPageSubscriptions,
  listShownSubscriptions,
  pagePageSubscriptions,
  resealOfApp,
  subscribersOfPage,
  webhookSubscriptionMigrations,
} from "./webhook-subscriptions.store.ts";

export const webhookSubscriptions = defineFeature({
  name: "webhook-subscriptions",
  migrations: webhookSubscriptionMigrations,
  policies: [appSubscriptions, pageSubscriptions],
  operations: [
    serveListOf(listSubscriptionsOperation, listShownSubscriptions),
    serveWrite(subscribeApp, handleSubscribeApp, prepareSubscribeApp, notesOnSubscribeApp),
    serveWrite(unsubscribeApp, handleUnsubscribeApp),
    serveListOf(listAppsOfPage, pagePageSubscriptions),
    serveWrite(subscribeToPage, handleSubscribeToPage, undefined, notesOnSubscribeToPage),
    serveWrite(unsubscribeFromPage, handleUnsubscribeFromPage),
  ],
  onOwnerDeleted: deleteAllOf,
  needs: ["app", "chatapp_account", "page"],
  ports: (ports) => ({
    webhook_subscription: { findOfApp, findCallbackUrl, isSubscribed, listOfPage: listPageSubscriptions, countSealedOtherwise },
    webhook_subscription_writes: { saveOfApp, saveOfPage, retireSecret, resealOfApp },
    webhook_app: {
      find: (reader, app) => findWebhookApp(reader, ports, app),
      missingFor: (reader, event, app) => missingFor(reader, ports, event, app),
    },
    page_subscribers: { subscribersOf: (reader, { entity, field }) => subscribersOfPage(reader, entity, field) },
    chatapp_business_account_subscribers: { subscribersOf: (reader, event) => subscribersOfAccount(reader, ports, event) },
  }),
});
