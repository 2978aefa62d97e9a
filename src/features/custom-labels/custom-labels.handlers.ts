import type { Static } from "typebox";
import type { ListRequest, OperationRequest } from "#graph/contract/operation";
import { readSetting } from "#graph/contract/setting";
import { notFoundNode } from "#graph/pipeline/route";
import { invalidParameter } from "#kernel/errors";
import { isNodeId } from "#kernel/ids";
import { codePointCount } from "#kernel/text";
import type { Reader, Transaction } from "#storage/database";
import { type attachLabelOperation, type createLabel, LABEL_NAME_CHARACTERS_MAX } from "./custom-labels.contract.ts";
import { duplicateLabelName, tooManyLabels, unknownUser } from "./custom-labels.errors.ts";
import { labelsPerPageMax } from "./custom-labels.settings.ts";
import {
  attachLabel,
  deleteLabel,
  detachLabel,
  findLabel,
  findLabelsByName,
  insertLabel,
  type LabelRow,
  listLabelsOfPage,
  listLabelsOfPerson,
  takePlace,
} from "./custom-labels.store.ts";
import { type LabelChange, labelWebhook } from "./custom-labels.webhooks.ts";

export const handleListLabels = (request: ListRequest, reader: Reader) => listLabelsOfPage(reader, request.node.id, request.page);

export const handleListLabelsOfUser = (request: ListRequest, reader: Reader) =>
  listLabelsOfPerson(reader, request.node.owner, request.node.id, request.page);

type CreateLabel = OperationRequest<Static<typeof createLabel.params>>;

export async function handleCreateLabel(request: CreateLabel, tx: Transaction) {
  const { node, world } = request;
  const name = labelName(request);
  await tx.lock("labels", node.id);
  const namesakes = await findLabelsByName(tx, node.id, name);
  // D-82: with the migration on, names compare without case.
  const namesake = request.isMigrated("label_names_case_insensitive") ? namesakes[0] : namesakes.find((label) => label.name === name);
  if (namesake !== undefined) throw duplicateLabelName(namesake.id);
  const most = readSetting(world, labelsPerPageMax);
  if (!(await takePlace(tx, node.id, most))) throw tooManyLabels(most);
  const id = world.ids.mint();
  await insertLabel(tx, node.id, id, name);
  await emitChange(request, tx, { action: "created", label: { id, name } });
  return world.profile === "clients" ? { id, name, page_label_name: name } : { id, name };
}

/** D-40: trimmed, 1 to 80 characters; in the `clients` profile `name` serves as well. */
function labelName({ params, world }: CreateLabel): string {
  const given = params.page_label_name ?? (world.profile === "clients" ? params.name : undefined);
  if (given === undefined) throw invalidParameter("page_label_name", "is required");
  const name = given.trim();
  const length = codePointCount(name);
  if (length === 0) throw invalidParameter("page_label_name", "must not be empty");
  if (length > LABEL_NAME_CHARACTERS_MAX) throw invalidParameter("page_label_name", `must have at most ${LABEL_NAME_CHARACTERS_MAX} characters`);
  return name;
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

/** A label that was deleted a moment ago is gone; a PSID is known to the label's page or to nobody (D-21). */
async function requirePerson(request: LabelOfUser, tx: Transaction): Promise<LabelRow> {
  const { node, params, world } = request;
  // The lock keeps a deletion of the label from passing between this look and the change.
  await tx.lock("labels", node.owner);
  const label = await findLabel(tx, node.owner, node.id);
  if (label === undefined) throw notFoundNode(request);
  const isKnown = isNodeId(params.user) && (await world.ports.get("page").hasPerson(tx, node.owner, params.user));
  if (!isKnown) throw unknownUser("user");
  return label;
}

/** D-135: what changes nothing, such as attaching twice (D-40), is no event. */
const emitChange = ({ node, world }: Pick<OperationRequest, "node" | "world">, tx: Transaction, payload: LabelChange): Promise<void> =>
  world.webhooks.emit(tx, labelWebhook, { entity: node.owner, payload });
