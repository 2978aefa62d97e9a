import { Type } from "typebox";
import type { Field, FieldSet } from "#graph/contract/operation";
import { unservedFields } from "#graph/contract/unserved-fields";
import type { Row } from "#storage/sql";
import { socialAccount } from "./social-accounts.policies.ts";
import type { SocialAccountFacts } from "./social-accounts.ports.ts";

/** What is shown of an account. */
interface ShownAccount extends Row {
  id: string;
  username: string;
}

export const shownAccount = (account: SocialAccountFacts | undefined): ShownAccount | undefined =>
  account === undefined ? undefined : { id: account.id, username: account.username };

const text: Field<ShownAccount> = { schema: Type.String(), policy: socialAccount };

/** D-165: an account has no other name than its username. */
export const accountNode: FieldSet<ShownAccount> = {
  fields: { id: text, name: { ...text, of: (row) => row.username }, username: text },
  defaults: ["id", "username"],
  unserved: unservedFields.social_account,
};

export const readSocialAccount = {
  operation: "readSocialAccount",
  clauses: [],
  surfaces: ["base", "social_login"],
  versions: "platform",
  scheme: "anywhere",
  policy: socialAccount,
  errorForm: "wrapped",
  errors: [],
} as const;
