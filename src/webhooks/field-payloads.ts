/** The payload contracts of the webhook fields, as schemas. */
import { Type } from "typebox";

const exact = { additionalProperties: false };
const id = Type.String({ pattern: "^[1-9][0-9]*$" });
const holderOfId = Type.Object({ id }, exact);
/** D-52: milliseconds. */
const timestamp = Type.Integer({ minimum: 0 });

/** HOOK-5 to HOOK-9: the echo of a message that an account sent to itself. */
export const selfMessageEcho = Type.Object(
  {
    sender: holderOfId,
    recipient: holderOfId,
    timestamp,
    message: Type.Object({ mid: Type.String(), text: Type.String(), is_echo: Type.Literal(true), is_self: Type.Literal(true) }, exact),
  },
  exact,
);

/** HOOK-10 to HOOK-13: a press on a button of a message that the account sent to itself. */
export const selfPostback = Type.Object(
  {
    sender: holderOfId,
    recipient: holderOfId,
    timestamp,
    is_self: Type.Literal(true),
    postback: Type.Object({ title: Type.String(), payload: Type.String(), mid: Type.String() }, exact),
  },
  exact,
);

/** HOOK-16 to HOOK-18. `self_social_scoped_id` stands there when the account commented on its own post. D-52: live comments too. */
export const comment = Type.Object(
  {
    from: Type.Object({ id, username: Type.String(), self_social_scoped_id: Type.Optional(id) }, exact),
    id,
    text: Type.String(),
    media: Type.Object({ id, media_product_type: Type.String() }, exact),
  },
  exact,
);

/** D-62: what the document does not show may hold anything that is an object. */
export const notShown = Type.Object({});

/** D-62: the document does not show webhooks of pages; these are Plaza's, and may grow. */
export const labelChange = Type.Object({
  action: Type.Union([Type.Literal("created"), Type.Literal("deleted"), Type.Literal("attached"), Type.Literal("detached")]),
  label: Type.Object({ id, name: Type.String() }),
  /** The person, by page-scoped id, where one was attached or detached. */
  user: Type.Optional(Type.Object({ id })),
});

export const liveVideoChange = Type.Object({ id, status: Type.String() });
