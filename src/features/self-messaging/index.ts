/** The public API of the self-messaging feature: D1, and the actions of a person in the app. */

import type { Feature } from "#graph/contract/feature";
import { serveWrite } from "#graph/contract/operation";
import { sendSelfMessage } from "./self-messaging.contract.ts";
import { handleSendSelfMessage } from "./self-messaging.handlers.ts";
import { subscribersOfSocialAccount } from "./self-messaging.onboarding.ts";
import { commentWebhook, liveCommentWebhook, messageWebhook } from "./self-messaging.webhooks.ts";

export { TEXT_CHARACTERS_MAX } from "./self-messaging.contract.ts";
export { type CommentField, comment, pressButton, writeToSelf } from "./self-messaging.events.ts";
export type { CommentedMedia, Recipient } from "./self-messaging.payloads.ts";

export const selfMessaging: Feature = {
  name: "self-messaging",
  migrations: [],
  operations: [serveWrite(sendSelfMessage, handleSendSelfMessage)],
  webhookFields: [messageWebhook, commentWebhook, liveCommentWebhook],
  registerPorts(ports) {
    ports.register("social_subscribers", {
      subscribersOf: (reader, event, nowMs) => subscribersOfSocialAccount(reader, ports, event, nowMs),
    });
  },
};
