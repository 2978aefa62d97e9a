import { type Static, Type } from "typebox";
import type { WorldSection } from "#graph/contract/feature";
import { worldId } from "#graph/worlds/file/schema-words";
import { nodeId } from "#kernel/ids";
import { deleteUser, findUser, insertUser, listUsers, renameUser } from "./users.store.ts";

const entry = Type.Object({ id: worldId, name: Type.Optional(Type.String()) }, { additionalProperties: false });
type Entry = Static<typeof entry>;

export const userSection: WorldSection = {
  key: "users",
  entry,
  references: () => [],
  insert: (tx, input) => {
    const { id, name = "" } = input as Entry;
    return insertUser(tx, nodeId(String(id)), name);
  },
  find: findUser,
  list: listUsers,
  replace: (tx, input) => {
    const { id, name = "" } = input as Entry;
    return renameUser(tx, String(id), name);
  },
  remove: deleteUser,
};
