import { deleteNode, keyedTable } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
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

const table = keyedTable<CommentRow>(
  { table: "live_comments", nodeType: "live_comment", ids: ["actor"], columns: ["actor_type", "message", "created_time"] },
  ["page", "video", "id"],
  "video",
);
export const { list: listAllComments, insert: insertComment, replace: updateComment } = table;

const selectReactions = sql`
  SELECT CAST(r.page AS TEXT) AS page, CAST(r.video AS TEXT) AS video, CAST(r.actor AS TEXT) AS actor, r.actor_type, r.type, r.reacted_ms
  FROM live_reactions r`;

const newestComments = ordered("descending", "t.id");

export const listCommentsOfVideo = (reader: Reader, page: NodeId, video: NodeId, request: PageRequest): Promise<ListPage<CommentRow>> =>
  readPage<CommentRow>(reader, append(table.select, "WHERE t.page = ? AND t.video = ?", [page, video]), newestComments, request);

export const findComment = (reader: Reader, page: NodeId, video: NodeId, id: string): Promise<CommentRow | undefined> =>
  table.findBy(reader, [page, video, id]);

export const deleteComment = (tx: Transaction, { page, video, id }: CommentRow): Promise<boolean> => table.removeBy(tx, [page, video, id], id);

const newestReactions = ordered("descending", "r.reacted_ms", "r.actor");

export const listReactionsOfVideo = (reader: Reader, page: NodeId, video: NodeId, request: PageRequest): Promise<ListPage<ReactionRow>> =>
  readPage<ReactionRow>(reader, append(selectReactions, "WHERE r.page = ? AND r.video = ?", [page, video]), newestReactions, request);

export const findReaction = (reader: Reader, page: NodeId, video: string, actor: string): Promise<ReactionRow | undefined> =>
  reader.get<ReactionRow>(append(selectReactions, "WHERE r.page = ? AND r.video = ? AND r.actor = ?", [page, video, actor]));

const allReactions = ordered("ascending", "r.page", "r.video", "r.actor");

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
  const comments = await tx.all<CommentRow>(append(table.select, "WHERE t.actor = ?", [actor]));
  for (const comment of comments) await deleteComment(tx, comment);
  await tx.run(sql`DELETE FROM live_reactions WHERE actor = ${actor}`);
}
