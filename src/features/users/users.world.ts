import { Type } from "typebox";
import { closedMap, worldId } from "#graph/worlds/file/schema-words";
import { section } from "#graph/worlds/file/section";
import { deleteUser, findUser, insertUser, listUsers, renameUser } from "./users.store.ts";

export const userSection = section({
  key: "users",
  entry: closedMap({ id: worldId, name: Type.String({ default: "" }) }),
  insert: (tx, { id, name }) => insertUser(tx, id, name),
  find: findUser,
  list: listUsers,
  replace: (tx, { id, name }) => renameUser(tx, id, name),
  remove: deleteUser,
});
