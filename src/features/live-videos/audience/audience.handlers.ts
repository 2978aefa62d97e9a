import type { Static } from "typebox";
import type { ListRequest, OperationRequest } from "#graph/contract/operation";
import { insertMinted } from "#graph/worlds/nodes.store";
import { unixSeconds } from "#kernel/clock";
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { isPublished } from "../lifecycle/states.ts";
import { holdShown, notPublished } from "../live-videos.handlers.ts";
import type { createComment, createReaction } from "./audience.contract.ts";
import { type ActorType, insertComment, listCommentsOfVideo, listReactionsOfVideo, saveReaction } from "./audience.store.ts";

export function handleListComments(request: ListRequest, reader: Reader) {
  return listCommentsOfVideo(reader, request.node.owner, request.node.id, request.page);
}

export function handleListReactions(request: ListRequest, reader: Reader) {
  return listReactionsOfVideo(reader, request.node.owner, request.node.id, request.page);
}

export async function handleCreateComment(request: OperationRequest<Static<typeof createComment.params>>, tx: Transaction) {
  const { node, params, world } = request;
  await requirePublished(request, tx);
  const comment = { page: node.owner, video: node.id, ...actorOf(request), message: params.message, created_time: unixSeconds(world.clock) };
  return { id: await insertMinted(world.ids, (id) => insertComment(tx, { ...comment, id })) };
}

export async function handleCreateReaction(request: OperationRequest<Static<typeof createReaction.params>>, tx: Transaction) {
  const { node, params, world } = request;
  await requirePublished(request, tx);
  await saveReaction(tx, { page: node.owner, video: node.id, ...actorOf(request), type: params.type, reacted_ms: world.clock.nowMs() });
  return { success: true };
}

async function requirePublished(request: OperationRequest, tx: Transaction): Promise<void> {
  if (!isPublished((await holdShown(request, tx)).state)) throw notPublished();
}

/** Returns who comments or reacts: the page of a page token, or the person of a user token. */
function actorOf({ caller, node }: OperationRequest): { actor: NodeId; actor_type: ActorType } {
  const { type, user } = caller.token;
  return type === "user" && user !== undefined ? { actor: user, actor_type: "user" } : { actor: node.owner, actor_type: "page" };
}
