import { Type } from "typebox";
import { closedMap, described, idOf, worldId } from "#graph/worlds/file/schema-words";
import { section } from "#graph/worlds/file/section";
import { type BusinessRow, businessTable, deleteBusiness, listPeople, savePeople } from "./businesses.store.ts";

const people = Type.Array(closedMap({ user: described("the id of the user who works for the business", idOf("user")) }), {
  default: [],
  description: "the people who work for the business; they see its catalogs",
});

export const businessSection = section({
  key: "businesses",
  nodeType: "business",
  entry: closedMap(
    { id: described("the business's id", worldId), name: Type.String({ default: "", description: "the business's name" }), people },
    "a business, which can have catalogs and messaging accounts",
  ),
  async insert(tx, { people, ...row }) {
    if (!(await businessTable.insert(tx, row))) return false;
    await savePeople(tx, row.id, people);
    return true;
  },
  find: businessTable.find,
  list: businessTable.list,
  entryOf: async (row: BusinessRow, reader) => ({ ...row, people: await listPeople(reader, row.id) }),
  async replace(tx, { people, ...row }) {
    await businessTable.replace(tx, row);
    await savePeople(tx, row.id, people);
  },
  remove: deleteBusiness,
});
