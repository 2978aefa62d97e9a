/** The door of the self-messaging room: D1, and what a person does in the app. */
import { serveWrite } from "#graph/contract";
import type { Room } from "#graph/room";
import { sendSelfMessage } from "./self-messaging.contract.ts";
import { selfMessagingEvents } from "./self-messaging.events.ts";
import { handleSendSelfMessage } from "./self-messaging.handlers.ts";
import { subscribersOfSocialAccount } from "./self-messaging.onboarding.ts";
import "./self-messaging.reader.ts";

export const selfMessaging: Room = {
  name: "self-messaging",
  migrations: [],
  operations: [serveWrite(sendSelfMessage, handleSendSelfMessage)],
  registerReaders(readers) {
    readers.register("self_messaging", selfMessagingEvents);
    readers.register("social_subscribers", {
      subscribersOf: (reader, event, nowMs) => subscribersOfSocialAccount(reader, readers, event, nowMs),
    });
  },
};
