import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";

/** The type of the node that comments or reacts. */
export type ActorType = "user" | "page";

export interface CommentRow extends Row {
  page: string;
  video: string;
  id: string;
  actor: string;
  actor_type: ActorType;
  message: string;
  /** The time of the comment in Unix seconds. */
  created_time: number;
}

export interface ReactionRow extends Row {
  page: string;
  video: string;
  actor: string;
  actor_type: ActorType;
  type: string;
  reacted_ms: number;
}

const selectComments = sql`
  SELECT CAST(c.page AS TEXT) AS page, CAST(c.video AS TEXT) AS video, CAST(c.id AS TEXT) AS id, CAST(c.actor AS TEXT) AS actor, c.actor_type,
    c.message, c.created_time
  FROM live_comments c`;
const selectReactions = sql`
  SELECT CAST(r.page AS TEXT) AS page, CAST(r.video AS TEXT) AS video, CAST(r.actor AS TEXT) AS actor, r.actor_type, r.type, r.reacted_ms
  FROM live_reactions r`;

const newestComments = { columns: ["c.id"], direction: "descending", keyOf: (row: CommentRow) => [row.id] } as const;

export const listCommentsOfVideo = (reader: Reader, page: NodeId, video: NodeId, request: PageRequest): Promise<ListPage<CommentRow>> =>
  readPage<CommentRow>(reader, append(selectComments, "WHERE c.page = ? AND c.video = ?", [page, video]), newestComments, request);

export const findComment = (reader: Reader, page: NodeId, video: NodeId, id: string): Promise<CommentRow | undefined> =>
  reader.get<CommentRow>(append(selectComments, "WHERE c.page = ? AND c.video = ? AND c.id = ?", [page, video, id]));

const allComments = {
  columns: ["c.page", "c.video", "c.id"],
  direction: "ascending",
  keyOf: (row: CommentRow) => [row.page, row.video, row.id],
} as const;

export const listAllComments = (reader: Reader, request: PageRequest): Promise<ListPage<CommentRow>> =>
  readPage<CommentRow>(reader, append(selectComments, "WHERE c.page > 0"), allComments, request);

/** Stores a comment. Returns false without storing the comment if its id is used already. */
export async function insertComment(tx: Transaction, row: CommentRow): Promise<boolean> {
  if (!(await insertNode(tx, { id: nodeId(row.id), type: "live_comment", owner: nodeId(row.video) }))) return false;
  await tx.runOne(sql`
    INSERT INTO live_comments (page, video, id, actor, actor_type, message, created_time)
    VALUES (${row.page}, ${row.video}, ${row.id}, ${row.actor}, ${row.actor_type}, ${row.message}, ${row.created_time})`);
  return true;
}

export async function updateComment(tx: Transaction, row: CommentRow): Promise<void> {
  await tx.runOne(sql`
    UPDATE live_comments SET actor = ${row.actor}, actor_type = ${row.actor_type}, message = ${row.message}, created_time = ${row.created_time}
    WHERE page = ${row.page} AND video = ${row.video} AND id = ${row.id}`);
}

export async function deleteComment(tx: Transaction, { page, video, id }: CommentRow): Promise<void> {
  await tx.run(sql`DELETE FROM live_comments WHERE page = ${page} AND video = ${video} AND id = ${id}`);
  await deleteNode(tx, nodeId(id));
}

const newestReactions = {
  columns: ["r.reacted_ms", "r.actor"],
  direction: "descending",
  keyOf: (row: ReactionRow) => [String(row.reacted_ms), row.actor],
} as const;

export const listReactionsOfVideo = (reader: Reader, page: NodeId, video: NodeId, request: PageRequest): Promise<ListPage<ReactionRow>> =>
  readPage<ReactionRow>(reader, append(selectReactions, "WHERE r.page = ? AND r.video = ?", [page, video]), newestReactions, request);

export const findReaction = (reader: Reader, page: NodeId, video: string, actor: string): Promise<ReactionRow | undefined> =>
  reader.get<ReactionRow>(append(selectReactions, "WHERE r.page = ? AND r.video = ? AND r.actor = ?", [page, video, actor]));

const allReactions = {
  columns: ["r.page", "r.video", "r.actor"],
  direction: "ascending",
  keyOf: (row: ReactionRow) => [row.page, row.video, row.actor],
} as const;

export const listAllReactions = (reader: Reader, request: PageRequest): Promise<ListPage<ReactionRow>> =>
  readPage<ReactionRow>(reader, append(selectReactions, "WHERE r.page > 0"), allReactions, request);

/** Stores a reaction to a video. Each person or page has at most one reaction to a video; a new reaction replaces the earlier reaction. */
export async function saveReaction(tx: Transaction, row: ReactionRow): Promise<void> {
  await tx.runOne(sql`
    INSERT INTO live_reactions (page, video, actor, actor_type, type, reacted_ms)
    VALUES (${row.page}, ${row.video}, ${row.actor}, ${row.actor_type}, ${row.type}, ${row.reacted_ms})
    ON CONFLICT (page, video, actor) DO UPDATE SET type = excluded.type, reacted_ms = excluded.reacted_ms`);
}

export async function deleteReaction(tx: Transaction, { page, video, actor }: ReactionRow): Promise<void> {
  await tx.run(sql`DELETE FROM live_reactions WHERE page = ${page} AND video = ${video} AND actor = ${actor}`);
}

/** Deletes the comments and reactions of a deleted video (LIVE-14). */
export async function deleteAudience(tx: Transaction, page: string, video: string): Promise<void> {
  const comments = await tx.all<{ id: string }>(
    sql`SELECT CAST(c.id AS TEXT) AS id FROM live_comments c WHERE c.page = ${page} AND c.video = ${video}`,
  );
  await tx.run(sql`DELETE FROM live_comments WHERE page = ${page} AND video = ${video}`);
  for (const { id } of comments) await deleteNode(tx, nodeId(id));
  await tx.run(sql`DELETE FROM live_reactions WHERE page = ${page} AND video = ${video}`);
}

/** Deletes the comments and reactions of a removed person or page. */
export async function deleteActor(tx: Transaction, actor: NodeId): Promise<void> {
  const comments = await tx.all<CommentRow>(append(selectComments, "WHERE c.actor = ?", [actor]));
  for (const comment of comments) await deleteComment(tx, comment);
  await tx.run(sql`DELETE FROM live_reactions WHERE actor = ${actor}`);
}
