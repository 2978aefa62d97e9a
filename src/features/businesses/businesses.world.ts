import { type Static, Type } from "typebox";
import type { WorldSection } from "#graph/room";
import { worldId } from "#graph/world-words";
import { nodeId } from "#kernel/ids";
import { deleteBusiness, findBusiness, insertBusiness, listBusinesses, renameBusiness } from "./businesses.store.ts";

const entry = Type.Object({ id: worldId, name: Type.Optional(Type.String()) }, { additionalProperties: false });
type Entry = Static<typeof entry>;

export const businessSection: WorldSection = {
  key: "businesses",
  entry,
  references: () => [],
  insert: (tx, given) => {
    const { id, name = "" } = given as Entry;
    return insertBusiness(tx, nodeId(String(id)), name);
  },
  find: findBusiness,
  list: listBusinesses,
  replace: (tx, given) => {
    const { id, name = "" } = given as Entry;
    return renameBusiness(tx, String(id), name);
  },
  remove: deleteBusiness,
};
