import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";
import { addToSums, deleteSums } from "./insight-sums.store.ts";
import { breakdowns } from "./microblog-insights.metrics.ts";

export interface MediaRow extends Row {
  owner: string;
  id: string;
  text: string;
  timestamp: number;
}

export interface FollowerRow extends Row {
  microblog_user: string;
  time: number;
  country: string;
  city: string;
  age: string;
  gender: string;
  value: number;
}

export async function recordFollowers(tx: Transaction, group: FollowerRow): Promise<void> {
  const { microblog_user, time, country, city, age, gender, value } = group;
  await tx.runOne(sql`
    INSERT INTO follower_groups (microblog_user, time, country, city, age, gender, value)
    VALUES (${microblog_user}, ${time}, ${country}, ${city}, ${age}, ${gender}, ${value})
    ON CONFLICT (microblog_user, time, country, city, age, gender) DO UPDATE SET value = follower_groups.value + excluded.value`);
  await addToSums(tx, { target: microblog_user, metric: "followers_count", start: time, label: "", value });
  for (const dimension of breakdowns) {
    if (group[dimension] !== "") await addToSums(tx, { target: microblog_user, metric: dimension, start: time, label: group[dimension], value });
  }
}

/** Stores a new media object. Returns false, and stores nothing, if its id is used already. */
export async function insertMedia(tx: Transaction, media: MediaRow): Promise<boolean> {
  if (!(await insertNode(tx, { id: nodeId(media.id), type: "microblog_media", owner: nodeId(media.owner) }))) return false;
  await tx.runOne(
    sql`INSERT INTO microblog_media (owner, id, text, timestamp) VALUES (${media.owner}, ${media.id}, ${media.text}, ${media.timestamp})`,
  );
  return true;
}

export async function updateMedia(tx: Transaction, { owner, id, text, timestamp }: MediaRow): Promise<void> {
  await tx.runOne(sql`UPDATE microblog_media SET text = ${text}, timestamp = ${timestamp} WHERE owner = ${owner} AND id = ${id}`);
}

const selectMedia = sql`SELECT CAST(m.owner AS TEXT) AS owner, CAST(m.id AS TEXT) AS id, m.text, m.timestamp FROM microblog_media m`;

export const findMedia = (reader: Reader, owner: NodeId, id: string): Promise<MediaRow | undefined> =>
  reader.get<MediaRow>(append(selectMedia, "WHERE m.owner = ? AND m.id = ?", [owner, id]));

const mediaOrder = ordered("ascending", "m.owner", "m.id");

export const listAllMedia = (reader: Reader, page: PageRequest): Promise<ListPage<MediaRow>> =>
  readPage<MediaRow>(reader, append(selectMedia, "WHERE m.owner > 0"), mediaOrder, page);

export async function deleteMedia(tx: Transaction, owner: NodeId, id: string): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM microblog_media WHERE owner = ${owner} AND id = ${id}`)) === 0) return false;
  await deleteSums(tx, id);
  await deleteNode(tx, nodeId(id));
  return true;
}

export async function deleteAllOfUser(tx: Transaction, user: NodeId): Promise<void> {
  const media = await tx.all<{ id: string }>(sql`SELECT CAST(m.id AS TEXT) AS id FROM microblog_media m WHERE m.owner = ${user}`);
  for (const { id } of media) await deleteMedia(tx, user, id);
  await deleteSums(tx, user);
  await tx.run(sql`DELETE FROM follower_groups WHERE microblog_user = ${user}`);
}

const followerOrder = ordered("ascending", "f.microblog_user", "f.time", "f.country", "f.city", "f.age", "f.gender");

export function listAllFollowers(reader: Reader, page: PageRequest): Promise<ListPage<FollowerRow>> {
  return readPage<FollowerRow>(
    reader,
    sql`
    SELECT CAST(f.microblog_user AS TEXT) AS microblog_user, f.time, f.country, f.city, f.age, f.gender, f.value FROM follower_groups f
    WHERE f.microblog_user > 0`,
    followerOrder,
    page,
  );
}
