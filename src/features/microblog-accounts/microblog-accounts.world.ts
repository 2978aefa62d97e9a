import { Type } from "typebox";
import { closedMap, described, idOf, worldId } from "#graph/worlds/file/schema-words";
import { section } from "#graph/worlds/file/section";
import { deleteMicroblogUser, findMicroblogUser, insertMicroblogUser, listMicroblogUsers, updateMicroblogUser } from "./microblog-accounts.store.ts";

export const microblogUserSection = section({
  key: "microblog_users",
  entry: closedMap(
    {
      id: described("the account's id", worldId),
      username: Type.String({ default: "", description: "the account's name" }),
      user: Type.Optional(described("the user whose account it is", idOf("user"))),
    },
    "an account of the microblog",
  ),
  insert: (tx, { id, username, user = undefined }) => insertMicroblogUser(tx, { id, username, user: user ?? null }),
  find: findMicroblogUser,
  list: listMicroblogUsers,
  replace: (tx, { id, username, user = undefined }) => updateMicroblogUser(tx, { id, username, user: user ?? null }),
  remove: deleteMicroblogUser,
});
