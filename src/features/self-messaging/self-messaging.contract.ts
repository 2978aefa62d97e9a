import { Type } from "typebox";
import { writeOperation } from "#graph/contract/operation";
import { PROBLEM } from "#graph/schema/schema-node";
import { selfMessagingPolicy } from "./self-messaging.onboarding.ts";

/** D-52: the longest text of a message. */
export const TEXT_CHARACTERS_MAX = 1_000;

export const sendSelfMessage = writeOperation({
  operation: "sendSelfMessage",
  summary: "Sends a message from a professional account to itself (D1). Webhooks receive the echo of the message.",
  clauses: [
    ...["D1-1", "D1-2", "D1-3", "D1-4", "D1-5", "D1-6", "D1-7", "D1-8", "D1-10", "D1-11", "SELF-2", "SELF-3", "SELF-4", "SELF-5", "SELF-6", "SELF-7"],
    ...["SELF-8", "SELF-9", "SELF-10", "SELF-11", "SELF-17", "SELF-18", "AUTH-8", "LIM-15", "HOOK-20"],
  ],
  decisions: ["D-52", "D-133", "D-134"],
  on: "social_scoped_account",
  method: "POST",
  edge: "messages",
  surfaces: ["base", "social_login"],
  versions: "platform",
  scheme: "bearer",
  policy: selfMessagingPolicy,
  // SELF-8, SELF-9: requests with page tokens and requests with user tokens go to different hosts.
  kindsOn: { base: ["page"], social_login: ["social_user"] },
  visibility: selfMessagingPolicy,
  errorForm: "wrapped",
  params: Type.Object({
    message: Type.Object(
      {
        text: Type.String({ minLength: 1, maxLength: TEXT_CHARACTERS_MAX, description: "the text of the message" }),
        /** The schema has the parameter `quick_replies` only so that Plaza can refuse it (D1-10); an empty list counts as absent. */
        quick_replies: Type.Optional(
          Type.Array(Type.Unknown(), {
            maxItems: 0,
            description: "not supported in a message to oneself",
            [PROBLEM]: "is not supported in a message to oneself",
          }),
        ),
      },
      { description: "the message" },
    ),
  }),
  returns: Type.Object({ id: Type.String() }),
  errors: ["invalidParameter"],
});
