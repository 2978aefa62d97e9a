import { type Static, Type } from "typebox";
import type { WorldEntry, WorldSection } from "#graph/contract/feature";
import { WorldProblem, worldId, worldTime } from "#graph/worlds/file/schema-words";
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

const closed = { additionalProperties: false };

const commentEntry = Type.Object(
  {
    id: worldId,
    live_video: worldId,
    from: worldId,
    message: Type.String({ minLength: 1, maxLength: COMMENT_CHARACTERS_MAX }),
    created_time: Type.Optional(worldTime),
  },
  closed,
);
type CommentEntry = Static<typeof commentEntry>;

const reactionEntry = Type.Object(
  {
    live_video: worldId,
    from: worldId,
    type: Type.Unsafe<(typeof reactionTypes)[number]>({ enum: [...reactionTypes], default: "LIKE" }),
    time: Type.Optional(worldTime),
  },
  closed,
);
type ReactionEntry = Static<typeof reactionEntry>;

/** The page of the video and the type of the actor. Both must be loaded already, that is, appear earlier in the world file. */
async function partiesOf(reader: Reader, video: NodeId, from: NodeId): Promise<{ page: NodeId; actor_type: ActorType }> {
  const row = await findVideoById(reader, video);
  if (row === undefined) throw new WorldProblem("live_video", `refers to ${video}, which is not a live video`);
  const actor = await findNode(reader, from);
  if (actor?.type !== "user" && actor?.type !== "page") throw new WorldProblem("from", `refers to ${from}, which is not a user or a page`);
  return { page: nodeId(row.page), actor_type: actor.type };
}

async function commentOf(tx: Transaction, input: WorldEntry, world: World): Promise<CommentRow> {
  const { id, live_video, from, message, created_time = unixSeconds(world.clock) } = input as CommentEntry;
  return { id, video: live_video, actor: from, message, created_time, ...(await partiesOf(tx, live_video, from)) };
}

const commentToEntry = ({ id, video, actor, message, created_time }: CommentRow): WorldEntry => ({
  id,
  live_video: video,
  from: actor,
  message,
  created_time,
});

async function findCommentRow(reader: Reader, id: string): Promise<CommentRow | undefined> {
  const node = await findNode(reader, nodeId(id));
  if (node?.type !== "live_comment") return undefined;
  const video = await findVideoById(reader, node.owner);
  return video === undefined ? undefined : findComment(reader, nodeId(video.page), node.owner, id);
}

const references = (input: WorldEntry) => {
  const { live_video, from } = input as CommentEntry;
  return [
    { path: "live_video", types: ["live_video"], id: live_video },
    { path: "from", types: ["user", "page"], id: from },
  ];
};

export const commentSection: WorldSection = {
  key: "live_comments",
  entry: commentEntry,
  references,
  insert: async (tx, input, world) => insertComment(tx, await commentOf(tx, input, world)),
  async find(reader, id) {
    const row = await findCommentRow(reader, id);
    return row === undefined ? undefined : commentToEntry(row);
  },
  async list(reader, page) {
    const found = await listAllComments(reader, page);
    return { ...found, rows: found.rows.map(commentToEntry) };
  },
  async replace(tx, input, world) {
    const stored = await findCommentRow(tx, (input as CommentEntry).id);
    const next = await commentOf(tx, input, world);
    if (stored?.video !== next.video) throw new WorldProblem("live_video", "cannot change");
    await updateComment(tx, next);
  },
  async remove(tx, id) {
    const row = await findCommentRow(tx, id);
    if (row !== undefined) await deleteComment(tx, row);
    return row !== undefined;
  },
};

async function reactionOf(tx: Transaction, input: WorldEntry, world: World): Promise<ReactionRow> {
  const { live_video, from, type, time = unixSeconds(world.clock) } = input as ReactionEntry;
  return { video: live_video, actor: from, type, reacted_ms: time * 1000, ...(await partiesOf(tx, live_video, from)) };
}

const reactionToEntry = ({ video, actor, type, reacted_ms }: ReactionRow): WorldEntry => ({
  live_video: video,
  from: actor,
  type,
  time: Math.floor(reacted_ms / 1000),
});

/** `identity` is the id of the video and the id of the actor, with a space between them. */
async function findReactionRow(reader: Reader, identity: string): Promise<ReactionRow | undefined> {
  const [video = "", actor = ""] = identity.split(" ");
  if (!isNodeId(video) || !isNodeId(actor)) return undefined;
  const row = await findVideoById(reader, video);
  return row === undefined ? undefined : findReaction(reader, nodeId(row.page), video, actor);
}

export const reactionSection: WorldSection = {
  key: "live_reactions",
  entry: reactionEntry,
  identity: ["live_video", "from"],
  references,
  async insert(tx, input, world) {
    const row = await reactionOf(tx, input, world);
    if ((await findReaction(tx, nodeId(row.page), row.video, row.actor)) !== undefined) return false;
    await saveReaction(tx, row);
    return true;
  },
  async find(reader, identity) {
    const row = await findReactionRow(reader, identity);
    return row === undefined ? undefined : reactionToEntry(row);
  },
  async list(reader, page) {
    const found = await listAllReactions(reader, page);
    return { ...found, rows: found.rows.map(reactionToEntry) };
  },
  replace: async (tx, input, world) => saveReaction(tx, await reactionOf(tx, input, world)),
  async remove(tx, identity) {
    const row = await findReactionRow(tx, identity);
    if (row !== undefined) await deleteReaction(tx, row);
    return row !== undefined;
  },
};
