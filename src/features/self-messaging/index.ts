/**
 * The public API of the self-messaging feature, which sends messages of an account to itself (D1) and simulates the actions of a person in the app.
 */

import { defineFeature } from "#graph/contract/feature";
import { serveWrite } from "#graph/contract/operation";
import { sendSelfMessage } from "./self-messaging.contract.ts";
import { selfMessagingControlRoutes } from "./self-messaging.control.ts";
import { handleSendSelfMessage } from "./self-messaging.handlers.ts";
import { BUSINESS_ROLE_SCOPES, flows, selfMessagingPolicy, subscribersOfSocialAccount } from "./self-messaging.onboarding.ts";
import { deleteThread, selfMessagingMigrations } from "./self-messaging.store.ts";
import { commentWebhook, liveCommentWebhook, messageWebhook } from "./self-messaging.webhooks.ts";

export const selfMessaging = defineFeature({
  name: "self-messaging",
  migrations: selfMessagingMigrations,
  policies: [selfMessagingPolicy],
  scopes: [...Object.values(flows).flatMap((flow) => Object.values(flow).flat()), ...BUSINESS_ROLE_SCOPES],
  operations: [serveWrite(sendSelfMessage, handleSendSelfMessage)],
  controlRoutes: selfMessagingControlRoutes,
  onOwnerDeleted: deleteThread,
  webhookFields: [messageWebhook, commentWebhook, liveCommentWebhook],
  needs: ["app", "live_video", "media", "media_writes", "page_role", "social_account", "webhook_subscription"],
  ports: (ports) => ({
    social_subscribers: {
      subscribersOf: (reader, event, nowMs) => subscribersOfSocialAccount(reader, ports, event, nowMs),
    },
  }),
});
