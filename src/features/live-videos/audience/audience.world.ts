import { type Static, Type } from "typebox";
import { closedMap, described, idOf, WorldProblem, worldId, worldTime } from "#graph/worlds/file/schema-words";
import { ownedSection, section } from "#graph/worlds/file/section";
import { findNode } from "#graph/worlds/nodes.store";
import type { World } from "#graph/worlds/world";
import { unixSeconds } from "#kernel/clock";
import { isNodeId, type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { COMMENT_CHARACTERS_MAX } from "../live-videos.limits.ts";
import { findVideoById } from "../live-videos.store.ts";
import { reactionTypes } from "./audience.contract.ts";
import {
  type ActorType,
  type CommentRow,
  deleteComment,
  deleteReaction,
  findComment,
  findReaction,
  insertComment,
  listAllComments,
  listAllReactions,
  type ReactionRow,
  saveReaction,
  updateComment,
} from "./audience.store.ts";

const video = described("the live video, which must come earlier in the file", idOf("live_video"));
const commentEntry = closedMap(
  {
    id: described("the comment's id", worldId),
    live_video: video,
    from: described("the user or page that wrote the comment", idOf(["user", "page"])),
    message: Type.String({ minLength: 1, maxLength: COMMENT_CHARACTERS_MAX, description: "the comment's text" }),
    created_time: Type.Optional(described("the time at which the comment was written (default: now)", worldTime)),
  },
  "a comment on a live video",
);

const reactionEntry = closedMap(
  {
    live_video: video,
    from: described("the user or page that reacted; a user or page has at most one reaction to a video", idOf(["user", "page"])),
    type: Type.Unsafe<(typeof reactionTypes)[number]>({ enum: [...reactionTypes], default: "LIKE", description: "the kind of reaction" }),
    time: Type.Optional(described("the time of the reaction (default: now)", worldTime)),
  },
  "a reaction to a live video",
);

/**
 * Finds the page of the video and the type of the actor. The video and the actor of a comment or reaction must precede it in the world file, so that
 * they are loaded first.
 */
async function partiesOf(reader: Reader, video: NodeId, from: NodeId): Promise<{ page: NodeId; actor_type: ActorType }> {
  const row = await findVideoById(reader, video);
  if (row === undefined) throw new WorldProblem("live_video", `refers to ${video}, which is not a live video`);
  const actor = await findNode(reader, from);
  if (actor?.type !== "user" && actor?.type !== "page") throw new WorldProblem("from", `refers to ${from}, which is not a user or a page`);
  return { page: nodeId(row.page), actor_type: actor.type };
}

async function commentOf(tx: Transaction, given: Static<typeof commentEntry>, world: World): Promise<CommentRow> {
  const { id, live_video, from, message, created_time = unixSeconds(world.clock) } = given;
  return { id, video: live_video, actor: from, message, created_time, ...(await partiesOf(tx, live_video, from)) };
}

async function findCommentOf(reader: Reader, video: NodeId, id: string): Promise<CommentRow | undefined> {
  const row = await findVideoById(reader, video);
  return row === undefined ? undefined : findComment(reader, nodeId(row.page), video, id);
}

export const commentSection = ownedSection({
  key: "live_comments",
  nodeType: "live_comment",
  owner: "live_video",
  entry: commentEntry,
  insert: async (tx, given, world) => insertComment(tx, await commentOf(tx, given, world)),
  find: findCommentOf,
  list: listAllComments,
  entryOf: ({ id, video, actor, message, created_time }: CommentRow) => ({ id, live_video: video, from: actor, message, created_time }),
  replace: async (tx, given, world) => updateComment(tx, await commentOf(tx, given, world)),
  async remove(tx, video, id) {
    const row = await findCommentOf(tx, video, id);
    return row !== undefined && deleteComment(tx, row);
  },
});

async function reactionOf(tx: Transaction, given: Static<typeof reactionEntry>, world: World): Promise<ReactionRow> {
  const { live_video, from, type, time = unixSeconds(world.clock) } = given;
  return { video: live_video, actor: from, type, reacted_ms: time * 1000, ...(await partiesOf(tx, live_video, from)) };
}

/** Finds a reaction. `identity` consists of the video's id, a space, and the actor's id. */
async function findReactionRow(reader: Reader, identity: string): Promise<ReactionRow | undefined> {
  const [video = "", actor = ""] = identity.split(" ");
  if (!isNodeId(video) || !isNodeId(actor)) return undefined;
  const row = await findVideoById(reader, video);
  return row === undefined ? undefined : findReaction(reader, nodeId(row.page), video, actor);
}

export const reactionSection = section({
  key: "live_reactions",
  entry: reactionEntry,
  identity: ["live_video", "from"],
  async insert(tx, given, world) {
    const row = await reactionOf(tx, given, world);
    if ((await findReaction(tx, nodeId(row.page), row.video, row.actor)) !== undefined) return false;
    await saveReaction(tx, row);
    return true;
  },
  find: findReactionRow,
  list: listAllReactions,
  entryOf: ({ video, actor, type, reacted_ms }: ReactionRow) => ({ live_video: video, from: actor, type, time: Math.floor(reacted_ms / 1000) }),
  replace: async (tx, given, world) => saveReaction(tx, await reactionOf(tx, given, world)),
  async remove(tx, identity) {
    const row = await findReactionRow(tx, identity);
    if (row !== undefined) await deleteReaction(tx, row);
    return row !== undefined;
  },
});
