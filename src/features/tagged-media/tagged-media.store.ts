import { deleteNode, insertNode } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { allWithKeys } from "#storage/id-lists";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";

interface MediaPort {
  find(reader: Reader, owner: NodeId, media: NodeId): Promise<{ readonly media_product_type: string } | undefined>;
  /** Returns for each album its public children that are not deleted, in the album's order. The owner of an album owns its children. */
  publicChildren(reader: Reader, albums: readonly Row[]): Promise<(readonly Row[])[]>;
}

interface MediaWritesPort {
  /** Adds one to the media object's `comments_count`. */
  countComment(tx: Transaction, owner: NodeId, media: NodeId): Promise<void>;
}

declare module "#kernel/ports" {
  interface Ports {
    media: MediaPort;
    media_writes: MediaWritesPort;
  }
}

export interface MediaRow extends Row {
  id: string;
  owner: string;
  media_type: string;
  media_product_type: string;
  caption: string | null;
  media_url: string | null;
  permalink: string | null;
  thumbnail_url: string | null;
  shortcode: string | null;
  like_count: number;
  comments_count: number;
  /** The time of the media object in Unix seconds. */
  timestamp: number;
  is_private: number;
  /** The children of an album: a JSON list of their ids. */
  children: string;
}

const columns = sql`
  SELECT CAST(m.id AS TEXT) AS id, CAST(m.owner AS TEXT) AS owner, m.media_type, m.media_product_type, m.caption, m.media_url, m.permalink,
    m.thumbnail_url, m.shortcode, m.like_count, m.comments_count, m.timestamp, m.is_private, m.children`;
const select = append(columns, "FROM media m");

const newestFirst = {
  columns: ["g.timestamp", "g.media"],
  direction: "descending",
  keyOf: (row: MediaRow) => [String(row.timestamp), row.id],
} as const;

/**
 * E1: lists the media in which an account is tagged. Private media are never returned. The query leaves them out before it limits the page, so each
 * page is full (D-35).
 */
export function listTaggedMedia(reader: Reader, account: NodeId, page: PageRequest): Promise<ListPage<MediaRow>> {
  const tagged = "FROM media_tags g JOIN media m ON m.owner = g.owner AND m.id = g.media WHERE g.account = ? AND g.is_private = 0";
  return readPage<MediaRow>(reader, append(columns, tagged, [account]), newestFirst, page);
}

export const findMedia = (reader: Reader, owner: NodeId, id: string): Promise<MediaRow | undefined> =>
  reader.get<MediaRow>(append(select, "WHERE m.owner = ? AND m.id = ?", [owner, id]));

const oldestFirst = ordered("ascending", "m.owner", "m.id");

/** Lists all media, oldest first, for the control API. */
export const listAllMedia = (reader: Reader, page: PageRequest): Promise<ListPage<MediaRow>> =>
  readPage<MediaRow>(reader, append(select, "WHERE m.owner > 0"), oldestFirst, page);

/** Stores a new media object and its tags. Returns false, and stores nothing, if its id is used already. */
export async function insertMedia(tx: Transaction, media: MediaRow, tagged: readonly string[]): Promise<boolean> {
  if (!(await insertNode(tx, { id: nodeId(media.id), type: "media", owner: nodeId(media.owner) }))) return false;
  await saveMedia(tx, media, tagged);
  return true;
}

export async function saveMedia(tx: Transaction, media: MediaRow, tagged: readonly string[]): Promise<void> {
  await tx.run(sql`DELETE FROM media WHERE owner = ${media.owner} AND id = ${media.id}`);
  await tx.run(sql`DELETE FROM media_tags WHERE owner = ${media.owner} AND media = ${media.id}`);
  await tx.runOne(sql`
    INSERT INTO media (owner, id, media_type, media_product_type, caption, media_url, permalink, thumbnail_url, shortcode, like_count, comments_count,
      timestamp, is_private, children)
    VALUES (${media.owner}, ${media.id}, ${media.media_type}, ${media.media_product_type}, ${media.caption}, ${media.media_url}, ${media.permalink},
      ${media.thumbnail_url}, ${media.shortcode}, ${media.like_count}, ${media.comments_count}, ${media.timestamp}, ${media.is_private},
      ${media.children})`);
  for (const account of new Set(tagged)) {
    await tx.runOne(sql`
      INSERT INTO media_tags (account, is_private, timestamp, media, owner)
      VALUES (${account}, ${media.is_private}, ${media.timestamp}, ${media.id}, ${media.owner})`);
  }
}

/** Adds one to the media object's `comments_count`. */
export async function countComment(tx: Transaction, owner: NodeId, id: NodeId): Promise<void> {
  await tx.runOne(sql`UPDATE media SET comments_count = comments_count + 1 WHERE owner = ${owner} AND id = ${id}`);
}

/** E1: returns the public children of albums. Private media are never returned, not even as a child of a public album. */
export async function publicChildren(reader: Reader, albums: readonly MediaRow[]): Promise<(readonly MediaRow[])[]> {
  const children = albums.map((album) => (JSON.parse(album.children) as string[]).map((id) => [album.owner, id] as const));
  const rows = await allWithKeys<MediaRow>(reader, children.flat(), publicOfWanted);
  const found = new Map(rows.map((row) => [`${row.owner} ${row.id}`, row]));
  return children.map((keys) => keys.map((key) => found.get(key.join(" "))).filter((row) => row !== undefined));
}

const publicOfWanted = `${columns.query.text} FROM wanted w JOIN media m ON m.owner = w.one AND m.id = w.other WHERE m.is_private = 0`;

export async function listTaggedAccounts(reader: Reader, owner: string, media: string): Promise<string[]> {
  const rows = await reader.all<{ account: string }>(
    sql`SELECT CAST(g.account AS TEXT) AS account FROM media_tags g WHERE g.owner = ${owner} AND g.media = ${media} ORDER BY g.account`,
  );
  return rows.map(({ account }) => account);
}

/** Deletes a media object, and removes it from its owner's albums. Returns false if the media object does not exist. */
export async function deleteMedia(tx: Transaction, owner: NodeId, id: string): Promise<boolean> {
  if (!(await deleteAlone(tx, owner, id))) return false;
  const albums = await tx.all<{ id: string; children: string }>(
    sql`SELECT CAST(m.id AS TEXT) AS id, m.children FROM media m WHERE m.owner = ${owner} AND m.children LIKE ${`%"${id}"%`}`,
  );
  for (const album of albums) {
    const others = (JSON.parse(album.children) as string[]).filter((child) => child !== id);
    await tx.runOne(sql`UPDATE media SET children = ${JSON.stringify(others)} WHERE owner = ${owner} AND id = ${album.id}`);
  }
  return true;
}

async function deleteAlone(tx: Transaction, owner: NodeId, id: string): Promise<boolean> {
  if ((await tx.run(sql`DELETE FROM media WHERE owner = ${owner} AND id = ${id}`)) === 0) return false;
  await tx.run(sql`DELETE FROM media_tags WHERE owner = ${owner} AND media = ${id}`);
  await deleteNode(tx, nodeId(id));
  return true;
}

export async function deleteMediaOfAccount(tx: Transaction, account: NodeId): Promise<void> {
  const own = await tx.all<{ id: string }>(sql`SELECT CAST(m.id AS TEXT) AS id FROM media m WHERE m.owner = ${account}`);
  for (const { id } of own) await deleteAlone(tx, account, id);
  await tx.run(sql`DELETE FROM media_tags WHERE account = ${account}`);
}
