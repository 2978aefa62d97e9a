import { Type } from "typebox";
import { closedMap, idOf, worldId } from "#graph/worlds/file/schema-words";
import { section } from "#graph/worlds/file/section";
import {
  type BusinessRow,
  deleteBusiness,
  findBusiness,
  insertBusiness,
  listBusinesses,
  listPeople,
  renameBusiness,
  savePeople,
} from "./businesses.store.ts";

const people = Type.Array(closedMap({ user: idOf("user") }), { default: [] });

export const businessSection = section({
  key: "businesses",
  entry: closedMap({ id: worldId, name: Type.String({ default: "" }), people }),
  async insert(tx, { id, name, people }) {
    if (!(await insertBusiness(tx, id, name))) return false;
    await savePeople(tx, id, people);
    return true;
  },
  find: findBusiness,
  list: listBusinesses,
  entryOf: async (row: BusinessRow, reader) => ({ ...row, people: await listPeople(reader, row.id) }),
  async replace(tx, { id, name, people }) {
    await renameBusiness(tx, id, name);
    await savePeople(tx, id, people);
  },
  remove: deleteBusiness,
});
