import { Type } from "typebox";
import type { Field, FieldSet } from "#graph/contract/operation";
import { microblogAccount } from "./microblog-accounts.api.ts";
import type { MicroblogUser } from "./microblog-accounts.store.ts";

const text: Field<MicroblogUser> = { schema: Type.String(), policy: microblogAccount };

/** D-165: the fields of a microblog account. The field `name` shows the account's username, because a microblog account has no other name. */
export const microblogUserNode: FieldSet<MicroblogUser> = {
  fields: { id: text, name: { ...text, of: (row) => row.username }, username: text },
  defaults: ["id", "username"],
};

export const readMicroblogUser = {
  operation: "readMicroblogUser",
  clauses: [],
  decisions: ["D-165"],
  surfaces: ["microblog"],
  versions: "unversioned",
  scheme: "anywhere",
  policy: microblogAccount,
  errorForm: "wrapped",
  errors: [],
} as const;
