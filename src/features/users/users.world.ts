import { Type } from "typebox";
import { closedMap, described, worldId } from "#graph/worlds/file/schema-words";
import { section } from "#graph/worlds/file/section";
import { deleteUser, findUser, insertUser, listUsers, renameUser } from "./users.store.ts";

export const userSection = section({
  key: "users",
  entry: closedMap(
    { id: described("the user's id", worldId), name: Type.String({ default: "", description: "the name that others see" }) },
    "a user: a person with an account on the platform",
  ),
  insert: (tx, { id, name }) => insertUser(tx, id, name),
  find: findUser,
  list: listUsers,
  replace: (tx, { id, name }) => renameUser(tx, id, name),
  remove: deleteUser,
});
