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

const usersOf = (input: WorldEntry): string[] => (input as Entry).people.map(({ user }) => user);

const entryOf = async (reader: Reader, row: BusinessRow): Promise<WorldEntry> => ({
  ...row,
  people: (await listPeople(reader, row.id)).map((user) => ({ user })),
});

export const businessSection: WorldSection = {
  key: "businesses",
  entry,
  references: (input) => usersOf(input).map((id, index) => ({ path: `people[${index}].user`, types: ["user"], id })),
  async insert(tx, input) {
    const { id, name = "" } = input as Entry;
    if (!(await insertBusiness(tx, nodeId(id), name))) return false;
    await savePeople(tx, id, usersOf(input));
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
  async replace(tx, input) {
    const { id, name = "" } = input as Entry;
    await renameBusiness(tx, id, name);
    await savePeople(tx, id, usersOf(input));
  },
  remove: deleteBusiness,
};
