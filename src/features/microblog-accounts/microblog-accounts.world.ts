import { type Static, Type } from "typebox";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { worldId } from "#graph/worlds/file/schema-words";
import { nodeId } from "#kernel/ids";
import {
  deleteMicroblogUser,
  findMicroblogUser,
  insertMicroblogUser,
  listMicroblogUsers,
  type MicroblogUser,
  updateMicroblogUser,
} from "./microblog-accounts.store.ts";

const entry = Type.Object({ id: worldId, username: Type.Optional(Type.String()), user: Type.Optional(worldId) }, { additionalProperties: false });
type Entry = Static<typeof entry>;

const entryOf = ({ id, username, user }: MicroblogUser): WorldEntry => (user === null ? { id, username } : { id, username, user });

const userOf = ({ user }: Entry): string | null => (user === undefined ? null : String(user));

export const microblogUserSection: WorldSection = {
  key: "microblog_users",
  entry,
  references: (input) => {
    const user = userOf(input as Entry);
    return user === null ? [] : [{ path: "user", types: ["user"], id: user }];
  },
  insert: (tx, input) => {
    const { id, username = "" } = input as Entry;
    return insertMicroblogUser(tx, nodeId(String(id)), username, userOf(input as Entry));
  },
  async find(reader, id) {
    const row = await findMicroblogUser(reader, id);
    return row === undefined ? undefined : entryOf(row);
  },
  async list(reader, page) {
    const found = await listMicroblogUsers(reader, page);
    return { ...found, rows: found.rows.map(entryOf) };
  },
  replace: (tx, input) => {
    const { id, username = "" } = input as Entry;
    return updateMicroblogUser(tx, nodeId(String(id)), username, userOf(input as Entry));
  },
  remove: deleteMicroblogUser,
};
