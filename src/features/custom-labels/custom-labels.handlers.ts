import type { Static } from "typebox";
import { defineSetting, readSetting } from "#graph/contract/feature";
import type { ListRequest, OperationRequest } from "#graph/contract/operation";
import { notFoundNode } from "#graph/pipeline/route";
import { insertMinted } from "#graph/worlds/nodes.store";
import { isNodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import type { attachLabelOperation, createLabel } from "./custom-labels.contract.ts";
import { duplicateLabelName, tooManyLabels, unknownUser } from "./custom-labels.errors.ts";
import {
  attachLabel,
  deleteLabel,
  detachLabel,
  findLabel,
  findLabelsByName,
  insertLabel,
  type LabelRow,
  listLabelsOfPerson,
  reservePlace,
} from "./custom-labels.store.ts";
import { type LabelChange, labelWebhook } from "./custom-labels.webhooks.ts";

/** D-40: the greatest number of labels of a page. */
export const labelsPerPageMax = defineSetting({
  name: "labels_per_page_max",
  value: "N",
  minimum: 1,
  default: 5000,
  summary: "labels that a page can have",
});

export const handleListLabelsOfUser = (request: ListRequest, reader: Reader) =>
  listLabelsOfPerson(reader, request.node.owner, request.node.id, request.page);

type CreateLabel = OperationRequest<Static<typeof createLabel.params>>;

export async function handleCreateLabel(request: CreateLabel, tx: Transaction) {
  const { node, params, world } = request;
  const { page_label_name: name } = params;
  await tx.lock("labels", node.id);
  const most = readSetting(world, labelsPerPageMax);
  // D-82: if the migration is on for the app, names of labels that differ only in upper and lower case count as equal.
  const ignoresCase = request.isMigrated("label_names_case_insensitive");
  // The three queries run at the same time, so that they take one round trip on PostgreSQL: during this time, other writes wait for the lock of the
  // page's labels. If the new label is refused, the transaction is rolled back.
  const [hasPlace, subscribers, id] = await Promise.all([
    reservePlace(tx, node.id, name, { most, ignoresCase }),
    world.webhooks.subscribersOf(tx, labelWebhook, node.id),
    insertMinted(world.ids, (minted) => insertLabel(tx, node.id, minted, name)),
  ]);
  if (!hasPlace) {
    const namesakes = (await findLabelsByName(tx, node.id, name)).filter((label) => label.id !== id);
    const namesake = ignoresCase ? namesakes[0] : namesakes.find((label) => label.name === name);
    throw namesake === undefined ? tooManyLabels(most) : duplicateLabelName(namesake.id);
  }
  await world.webhooks.emit(tx, labelWebhook, { entity: node.id, payload: { action: "created", label: { id, name } }, subscribers });
  return world.profile === "clients" ? { id, name, page_label_name: name } : { id, name };
}

export async function handleDeleteLabel(request: OperationRequest, tx: Transaction) {
  const { node } = request;
  const label = await findLabel(tx, node.owner, node.id);
  if (label === undefined || !(await deleteLabel(tx, node.owner, node.id))) throw notFoundNode(request);
  await emitChange(request, tx, { action: "deleted", label: { id: node.id, name: label.name } });
  return { success: true };
}

type LabelOfUser = OperationRequest<Static<typeof attachLabelOperation.params>>;

export async function handleAttachLabel(request: LabelOfUser, tx: Transaction) {
  const { name } = await requirePerson(request, tx);
  const { node, params } = request;
  const isNew = await attachLabel(tx, node.owner, node.id, params.user);
  if (isNew) await emitChange(request, tx, { action: "attached", label: { id: node.id, name }, user: { id: params.user } });
  return { success: true };
}

export async function handleDetachLabel(request: LabelOfUser, tx: Transaction) {
  const { name } = await requirePerson(request, tx);
  const { node, params } = request;
  const wasAttached = await detachLabel(tx, node.owner, node.id, params.user);
  if (wasAttached) await emitChange(request, tx, { action: "detached", label: { id: node.id, name }, user: { id: params.user } });
  return { success: true };
}

/**
 * Locks the labels of the page and returns the label that the request names. Throws if the label was deleted a moment ago, or if the page-scoped id
 * is not the id of a person of the page (D-21).
 */
async function requirePerson(request: LabelOfUser, tx: Transaction): Promise<LabelRow> {
  const { node, params, world } = request;
  // The lock prevents another transaction from deleting the label after this transaction has read it and before this transaction is committed.
  await tx.lock("labels", node.owner);
  const label = await findLabel(tx, node.owner, node.id);
  if (label === undefined) throw notFoundNode(request);
  const isKnown = isNodeId(params.user) && (await world.ports.get("page").hasPerson(tx, node.owner, params.user));
  if (!isKnown) throw unknownUser("user");
  return label;
}

/**
 * D-135: emits the webhook of a label's change. Handlers emit a webhook only if the label changed, so attaching a label a second time (D-40) emits no
 * webhook.
 */
const emitChange = ({ node, world }: Pick<OperationRequest, "node" | "world">, tx: Transaction, payload: LabelChange): Promise<void> =>
  world.webhooks.emit(tx, labelWebhook, { entity: node.owner, payload });
