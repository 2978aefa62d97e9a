import { Type } from "typebox";
import { closedMap, described, idOf, TakenProblem, worldId } from "#graph/worlds/file/schema-words";
import { ownedSection } from "#graph/worlds/file/section";
import { type NodeId, nodeId } from "#kernel/ids";
import { certain, type Transaction } from "#storage/database";
import { labelName } from "./custom-labels.contract.ts";
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

/** D-40: returns the name of a label. Throws if another label of the page has this name. */
async function freeName(tx: Transaction, { id, page, name }: { id: NodeId; page: NodeId; name: string }): Promise<string> {
  const namesake = (await findLabelsByName(tx, page, name)).find((label) => label.name === name && label.id !== id);
  if (namesake !== undefined) throw new TakenProblem("name", `is already used by the label ${namesake.id} of this page`);
  return name;
}

export const labelSection = ownedSection({
  key: "labels",
  nodeType: "label",
  owner: "page",
  entry: closedMap(
    {
      id: described("the label's id", worldId),
      page: described("the page that owns the label", idOf("page")),
      name: Type.String({ ...labelName, description: "the label's name, which must be unique on the page" }),
      users: Type.Array(idOf("page_person", "page"), { default: [], description: "the people of the page who have the label, by their psid" }),
    },
    "a label with which a page marks people who write to it",
  ),
  async insert(tx, entry) {
    const { id, page, users } = entry;
    if (!(await insertLabel(tx, page, id, await freeName(tx, entry)))) return false;
    await countLabel(tx, page);
    for (const psid of users) await attachLabel(tx, page, id, psid);
    return true;
  },
  find: findLabel,
  list: listAllLabels,
  entryOf: async (row: LabelRow, reader) => ({ ...row, users: await listUsersOfLabel(reader, row.id) }),
  async replace(tx, entry) {
    const { id, page, users } = entry;
    await certain(renameLabel(tx, page, id, await freeName(tx, entry)), "rename the label");
    for (const psid of await listUsersOfLabel(tx, id)) if (!users.includes(nodeId(psid))) await detachLabel(tx, page, id, psid);
    for (const psid of users) await attachLabel(tx, page, id, psid);
  },
  remove: deleteLabel,
});
