/** The webhook fields of self messaging (HOOK-4 to HOOK-18, SELF-16). */
import { type Static, Type } from "typebox";
import { defineWebhookField, EXAMPLE_ID, type ExampleEvent, payloadId } from "#webhooks/catalogue/field";

const exact = { additionalProperties: false };
const holderOfId = Type.Object({ id: payloadId }, exact);
/** D-52: the time of an event in Unix milliseconds. */
const timestamp = Type.Integer({ minimum: 0 });

/** HOOK-5 to HOOK-9: the echo of an account's message to itself. */
const selfMessageEcho = Type.Object(
  {
    sender: holderOfId,
    recipient: holderOfId,
    timestamp,
    message: Type.Object({ mid: Type.String(), text: Type.String(), is_echo: Type.Literal(true), is_self: Type.Literal(true) }, exact),
  },
  exact,
);
export type EchoPayload = Static<typeof selfMessageEcho>;

/** HOOK-10 to HOOK-13: a press on a button of an account's message to itself. */
const selfPostback = Type.Object(
  {
    sender: holderOfId,
    recipient: holderOfId,
    timestamp,
    is_self: Type.Literal(true),
    postback: Type.Object({ title: Type.String(), payload: Type.String(), mid: Type.String() }, exact),
  },
  exact,
);
export type PostbackPayload = Static<typeof selfPostback>;

/** HOOK-16 to HOOK-18, D-52: a comment or a live comment. `self_social_scoped_id` is set if the account comments on its own post. */
const comment = Type.Object(
  {
    from: Type.Object({ id: payloadId, username: Type.String(), self_social_scoped_id: Type.Optional(payloadId) }, exact),
    id: payloadId,
    text: Type.String(),
    media: Type.Object({ id: payloadId, media_product_type: Type.String() }, exact),
  },
  exact,
);
export type CommentPayload = Static<typeof comment>;

/** An example of a comment: the account comments on its own post or live video. */
const exampleComment =
  (media_product_type: string) =>
  ({ entity, scopedId }: ExampleEvent): CommentPayload => ({
    from: { id: entity, username: "example", ...(scopedId === undefined ? {} : { self_social_scoped_id: scopedId }) },
    id: EXAMPLE_ID,
    text: "An example",
    media: { id: EXAMPLE_ID, media_product_type },
  });

/** D-134: the `media_product_type` of a live video. */
export const LIVE_PRODUCT_TYPE = "LIVE";

export const messageWebhook = defineWebhookField({
  object: "social",
  field: "messages",
  carriedIn: "messaging",
  payload: Type.Union([selfMessageEcho, selfPostback]),
  // An account without a social-scoped id cannot receive messages, so the example for such an account has an invented recipient.
  example: ({ entity, scopedId, nowMs }): EchoPayload => ({
    sender: { id: entity },
    recipient: { id: scopedId ?? EXAMPLE_ID },
    timestamp: nowMs,
    message: { mid: "m_example", text: "An example", is_echo: true, is_self: true },
  }),
  clauses: ["HOOK-4", "HOOK-6", "HOOK-10", "HOOK-12"],
  summary: "an account's message to itself, or a press on a button of such a message",
});

export const commentWebhook = defineWebhookField({
  object: "social",
  field: "comments",
  payload: comment,
  example: exampleComment("FEED"),
  clauses: ["HOOK-14", "HOOK-16", "HOOK-17", "HOOK-18"],
  summary: "a comment on a post of the account",
});

export const liveCommentWebhook = defineWebhookField({
  object: "social",
  field: "live_comments",
  payload: comment,
  example: exampleComment(LIVE_PRODUCT_TYPE),
  clauses: ["SELF-16"],
  summary: "a comment on a live video of the account",
});
