import { Type } from "typebox";
import { closedMap, described, idOf, worldId } from "#graph/worlds/file/schema-words";
import { section } from "#graph/worlds/file/section";
import { type MicroblogUser, microblogUserTable } from "./microblog-accounts.store.ts";

export const microblogUserSection = section({
  ...microblogUserTable,
  key: "microblog_users",
  entry: closedMap(
    {
      id: described("the account's id", worldId),
      username: Type.String({ default: "", description: "the account's name" }),
      user: Type.Optional(described("the user who owns the account", idOf("user"))),
    },
    "an account of the microblog",
  ),
  insert: (tx, { user = undefined, ...rest }) => microblogUserTable.insert(tx, { ...rest, user_id: user ?? null }),
  entryOf: ({ user_id, ...rest }: MicroblogUser) => ({ ...rest, user: user_id }),
  replace: (tx, { user = undefined, ...rest }) => microblogUserTable.replace(tx, { ...rest, user_id: user ?? null }),
});
