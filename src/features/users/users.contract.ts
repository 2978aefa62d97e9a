import { Type } from "typebox";
import type { Field, FieldSet } from "#graph/contract/operation";
import { unservedFields } from "#graph/contract/unserved-fields";
import { ownUser } from "./users.policies.ts";
import type { UserRow } from "./users.store.ts";

const text: Field<UserRow> = { schema: Type.String(), policy: ownUser };

/** D-165. */
export const userNode: FieldSet<UserRow> = { fields: { id: text, name: text }, defaults: ["id", "name"], unserved: unservedFields.user };

export const readUser = {
  operation: "readUser",
  clauses: [],
  decisions: ["D-165"],
  surfaces: ["base"],
  versions: "platform",
  scheme: "anywhere",
  policy: ownUser,
  errorForm: "wrapped",
  errors: [],
} as const;
