import type { Static } from "typebox";
import type { Call, ListCall } from "#graph/contract";
import { notFoundNode } from "#graph/matching";
import { unixSeconds } from "#kernel/clock";
import type { NodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import type { createComment, createReaction } from "./audience.contract.ts";
import { type ActorType, insertComment, listCommentsOfVideo, listReactionsOfVideo, saveReaction } from "./audience.store.ts";
import { notPublished } from "./live-videos.errors.ts";
import { holdShown } from "./live-videos.handlers.ts";
import { isHidden, isPublished } from "./live-videos.states.ts";
import { findVideo } from "./live-videos.store.ts";

export async function handleListComments(call: ListCall, reader: Reader) {
  await requireShown(call, reader);
  return listCommentsOfVideo(reader, call.node.owner, call.node.id, call.page);
}

export async function handleListReactions(call: ListCall, reader: Reader) {
  await requireShown(call, reader);
  return listReactionsOfVideo(reader, call.node.owner, call.node.id, call.page);
}

export async function handleCreateComment(call: Call<Static<typeof createComment.params>>, tx: Transaction) {
  const { node, params, world } = call;
  await requirePublished(call, tx);
  const id = world.ids.mint();
  const created_time = unixSeconds(world.clock);
  await insertComment(tx, { page: node.owner, video: node.id, id, ...actorOf(call), message: params.message, created_time });
  return { id };
}

export async function handleCreateReaction(call: Call<Static<typeof createReaction.params>>, tx: Transaction) {
  const { node, params, world } = call;
  await requirePublished(call, tx);
  await saveReaction(tx, { page: node.owner, video: node.id, ...actorOf(call), type: params.type, reacted_ms: world.clock.nowMs() });
  return { success: true };
}

async function requireShown(call: ListCall, reader: Reader): Promise<void> {
  const row = await findVideo(reader, call.node.owner, call.node.id);
  if (row === undefined || isHidden(row.state)) throw notFoundNode(call);
}

async function requirePublished(call: Call, tx: Transaction): Promise<void> {
  if (!isPublished((await holdShown(call, tx)).state)) throw notPublished();
}

/** A page token speaks as its page, a user token as its person. */
function actorOf({ caller, node }: Call): { actor: NodeId; actor_type: ActorType } {
  const { type, user } = caller.token;
  return type === "user" && user !== undefined ? { actor: user, actor_type: "user" } : { actor: node.owner, actor_type: "page" };
}
