import { type Static, Type } from "typebox";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { TakenProblem, WorldProblem, worldId } from "#graph/worlds/file/schema-words";
import { findNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { eitherWay } from "#storage/outcomes";
import { LABEL_NAME_CHARACTERS_MAX } from "./custom-labels.contract.ts";
import {
  attachLabel,
  countLabel,
  deleteLabel,
  detachLabel,
  findLabel,
  findLabelsByName,
  insertLabel,
  type LabelRow,
  listAllLabels,
  listUsersOfLabel,
  renameLabel,
} from "./custom-labels.store.ts";

const entry = Type.Object(
  {
    id: worldId,
    page: worldId,
    name: Type.String({ minLength: 1, maxLength: LABEL_NAME_CHARACTERS_MAX }),
    users: Type.Optional(Type.Array(worldId)),
  },
  { additionalProperties: false },
);
type Entry = Static<typeof entry>;

const entryOf = async (reader: Reader, row: LabelRow): Promise<WorldEntry> => ({
  id: row.id,
  page: row.page,
  name: row.name,
  users: await listUsersOfLabel(reader, row.id),
});

/** D-40: trimmed, as A2 stores it. */
function nameOf(input: WorldEntry): string {
  const name = (input as Entry).name.trim();
  if (name === "") throw new WorldProblem("name", "must not be empty");
  return name;
}

/** D-40: names are unique on their page, also in world files. */
async function requireFreeName(tx: Transaction, page: NodeId, id: string, name: string): Promise<void> {
  const namesake = (await findLabelsByName(tx, page, name)).find((label) => label.name === name && label.id !== id);
  if (namesake !== undefined) throw new TakenProblem("name", `is already used by the label ${namesake.id} of this page`);
}

export const labelSection: WorldSection = {
  key: "labels",
  entry,
  references: (input) => {
    const { page, users = [] } = input as Entry;
    return [
      { path: "page", types: ["page"], id: page },
      ...users.map((id, index) => ({ path: `users[${index}]`, types: ["page_person"], id, owner: page })),
    ];
  },
  async insert(tx, input) {
    const { id, page, users = [] } = input as Entry;
    const name = nameOf(input);
    await requireFreeName(tx, page, id, name);
    if (!(await insertLabel(tx, page, id, name))) return false;
    await countLabel(tx, page);
    for (const psid of users) await eitherWay(attachLabel(tx, page, id, psid));
    return true;
  },
  async find(reader, id) {
    const node = await findNode(reader, nodeId(id));
    const row = node?.type === "label" ? await findLabel(reader, node.owner, id) : undefined;
    return row === undefined ? undefined : entryOf(reader, row);
  },
  async list(reader, page) {
    const found = await listAllLabels(reader, page);
    return { ...found, rows: await Promise.all(found.rows.map((row) => entryOf(reader, row))) };
  },
  async replace(tx, input) {
    const { id, page, users = [] } = input as Entry;
    const name = nameOf(input);
    await requireFreeName(tx, page, id, name);
    if (!(await renameLabel(tx, page, id, name))) throw new WorldProblem("page", "cannot change");
    for (const psid of await listUsersOfLabel(tx, id)) if (!users.includes(nodeId(psid))) await eitherWay(detachLabel(tx, page, id, psid));
    for (const psid of users) await eitherWay(attachLabel(tx, page, id, psid));
  },
  async remove(tx, id) {
    const node = await findNode(tx, nodeId(id));
    return node?.type === "label" && (await deleteLabel(tx, node.owner, id));
  },
};
