import { defineError, GraphError } from "#kernel/errors";

export const otherRecipientError = defineError({
  name: "otherRecipient",
  status: 400,
  code: 100,
  subcode: 2534014,
  type: "OAuthException",
  when: "a self message is addressed to another account (D-52)",
});

export const otherRecipient = (): GraphError =>
  new GraphError(otherRecipientError, "(#100) The recipient of a self message must be the account itself", {
    data: { parameter: "social_scoped_id" },
  });
