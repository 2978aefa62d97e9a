/** The public API of the webhook-subscriptions feature: subscriptions of apps and pages to webhooks (D-60). */

import type { Feature } from "#graph/contract/feature";
import { serveList, serveWrite } from "#graph/contract/operation";
import type { PortRegistry } from "#kernel/ports";
import {
  listAppsOfPage,
  listSubscriptionsOperation,
  subscribeApp,
  subscribeToPage,
  unsubscribeApp,
  unsubscribeFromPage,
} from "./webhook-subscriptions.contract.ts";
import {
  handleListAppsOfPage,
  handleListSubscriptions,
  handleSubscribeApp,
  handleSubscribeToPage,
  handleUnsubscribeApp,
  handleUnsubscribeFromPage,
  prepareSubscribeApp,
} from "./webhook-subscriptions.handlers.ts";
import { webhookSubscriptionMigrations } from "./webhook-subscriptions.migrations.ts";
import "./webhook-subscriptions.ports.ts";
import { deleteAllOf, isSubscribed, listPageSubscriptions, subscribersOfPage } from "./webhook-subscriptions.store.ts";
import { findWebhookApp, subscribersOfAccount } from "./webhook-subscriptions.subscribers.ts";
import { findCallbackUrl, findOfApp, retireSecret, saveOfApp, saveOfPage } from "./webhook-subscriptions.world.ts";

function registerPorts(ports: PortRegistry): void {
  ports.register("webhook_subscription_store", {
    findOfApp,
    saveOfApp,
    findCallbackUrl,
    isSubscribed,
    listOfPage: listPageSubscriptions,
    saveOfPage,
    retireSecret,
  });
  ports.register("webhook_app", { find: (reader, app) => findWebhookApp(reader, ports, app) });
  ports.register("page_subscribers", { subscribersOf: (reader, { entity, field }) => subscribersOfPage(reader, entity, field) });
  ports.register("chatapp_business_account_subscribers", { subscribersOf: (reader, event) => subscribersOfAccount(reader, ports, event) });
}

export const webhookSubscriptions: Feature = {
  name: "webhook-subscriptions",
  migrations: webhookSubscriptionMigrations,
  operations: [
    serveList(listSubscriptionsOperation, handleListSubscriptions),
    serveWrite(subscribeApp, handleSubscribeApp, prepareSubscribeApp),
    serveWrite(unsubscribeApp, handleUnsubscribeApp),
    serveList(listAppsOfPage, handleListAppsOfPage),
    serveWrite(subscribeToPage, handleSubscribeToPage),
    serveWrite(unsubscribeFromPage, handleUnsubscribeFromPage),
  ],
  forgetOwner: deleteAllOf,
  registerPorts,
};
