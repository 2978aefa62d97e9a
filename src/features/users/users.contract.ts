import { Type } from "typebox";
import { definePolicy } from "#auth/policy";
import type { Field, FieldSet } from "#graph/contract/operation";
import { unservedFields } from "#graph/contract/unserved-fields";
import type { UserRow } from "./users.store.ts";

/** D-165. */
export const ownUser = definePolicy({
  name: "ownUser",
  summary: "the user's own token",
  kinds: ["user", "system_user"],
  scopes: [],
  canSee: ({ token, node }) => (token.type === "user" || token.type === "system_user") && token.user === node.id,
});

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
