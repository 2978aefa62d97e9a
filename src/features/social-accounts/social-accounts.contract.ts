import { Type } from "typebox";
import type { Field, FieldSet } from "#graph/contract/operation";
import { type SocialAccountFacts, socialAccount } from "./social-accounts.api.ts";
import type { ShownAccount } from "./social-accounts.store.ts";

export const shownAccount = (account: SocialAccountFacts | undefined): ShownAccount | undefined =>
  account === undefined ? undefined : { id: account.id, username: account.username };

const text: Field<ShownAccount> = { schema: Type.String(), policy: socialAccount };

/** D-165: the fields of a social account. The field `name` shows the account's username, because a social account has no other name. */
export const accountNode: FieldSet<ShownAccount> = {
  fields: { id: text, name: { ...text, of: (row) => row.username }, username: text },
  defaults: ["id", "username"],
};

export const readSocialAccount = {
  operation: "readSocialAccount",
  clauses: [],
  decisions: ["D-165"],
  surfaces: ["base", "social_login"],
  versions: "platform",
  scheme: "anywhere",
  policy: socialAccount,
  errorForm: "wrapped",
  errors: [],
} as const;
