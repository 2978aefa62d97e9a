import { type Static, Type } from "typebox";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { worldId } from "#graph/worlds/file/schema-words";
import { nodeId } from "#kernel/ids";
import type { Reader } from "#storage/database";
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

const person = Type.Object({ user: worldId }, { additionalProperties: false });
const entry = Type.Object(
  { id: worldId, name: Type.Optional(Type.String()), people: Type.Array(person, { default: [] }) },
  { additionalProperties: false },
);
type Entry = Static<typeof entry>;

const usersOf = (given: WorldEntry): string[] => (given as Entry).people.map(({ user }) => user);

const entryOf = async (reader: Reader, row: BusinessRow): Promise<WorldEntry> => ({
  ...row,
  people: (await listPeople(reader, row.id)).map((user) => ({ user })),
});

export const businessSection: WorldSection = {
  key: "businesses",
  entry,
  references: (given) => usersOf(given).map((id, index) => ({ path: `people[${index}].user`, types: ["user"], id })),
  async insert(tx, given) {
    const { id, name = "" } = given as Entry;
    if (!(await insertBusiness(tx, nodeId(id), name))) return false;
    await savePeople(tx, id, usersOf(given));
    return true;
  },
  async find(reader, id) {
    const row = await findBusiness(reader, id);
    return row === undefined ? undefined : entryOf(reader, row);
  },
  async list(reader, page) {
    const found = await listBusinesses(reader, page);
    return { ...found, rows: await Promise.all(found.rows.map((row) => entryOf(reader, row))) };
  },
  async replace(tx, given) {
    const { id, name = "" } = given as Entry;
    await renameBusiness(tx, id, name);
    await savePeople(tx, id, usersOf(given));
  },
  remove: deleteBusiness,
};
