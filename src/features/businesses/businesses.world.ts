import { Type } from "typebox";
import { closedMap, described, idOf, worldId } from "#graph/worlds/file/schema-words";
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

const people = Type.Array(closedMap({ user: described("the person, a user", idOf("user")) }), {
  default: [],
  description: "the people who work for the business; they see its catalogs",
});

export const businessSection = section({
  key: "businesses",
  entry: closedMap(
    { id: described("the business's id", worldId), name: Type.String({ default: "", description: "the business's name" }), people },
    "a business, which can have catalogs and messaging accounts",
  ),
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
