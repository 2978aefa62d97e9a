import { ownedNodeTable } from "#graph/worlds/nodes.store";
import type { NodeId } from "#kernel/ids";
import type { Migration, Reader, Transaction } from "#storage/database";
import { allWithKeys } from "#storage/id-lists";
import { type ListPage, type PageRequest, readPage } from "#storage/keyset";
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

export const taggedMediaMigrations: readonly Migration[] = [
  {
    name: "tables",
    statements: [
      `CREATE TABLE media (
        owner BIGINT NOT NULL, id BIGINT NOT NULL, media_type TEXT NOT NULL, media_product_type TEXT NOT NULL, caption TEXT, media_url TEXT,
        permalink TEXT, thumbnail_url TEXT, shortcode TEXT, like_count BIGINT NOT NULL, comments_count BIGINT NOT NULL, timestamp BIGINT NOT NULL,
        is_private INTEGER NOT NULL, children TEXT NOT NULL, PRIMARY KEY (owner, id)
      ) WITHOUT ROWID`,
      // The primary key starts with the tagged account and `is_private`, so that the database can read one page of a list of public media in the
      // order of the key.
      `CREATE TABLE media_tags (
        account BIGINT NOT NULL, is_private INTEGER NOT NULL, timestamp BIGINT NOT NULL, media BIGINT NOT NULL, owner BIGINT NOT NULL,
        PRIMARY KEY (account, is_private, timestamp, media)
      ) WITHOUT ROWID`,
      "CREATE INDEX media_tags_by_media ON media_tags (owner, media)",
    ],
  },
];

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

export const mediaTable = ownedNodeTable<MediaRow>({
  table: "media",
  nodeType: "media",
  owner: "owner",
  columns: [
    ...["media_type", "media_product_type", "caption", "media_url", "permalink", "thumbnail_url", "shortcode", "like_count", "comments_count"],
    ...["timestamp", "is_private", "children"],
  ],
});

const newestFirst = {
  columns: ["g.timestamp", "g.media"],
  direction: "descending",
  keyOf: (row: MediaRow) => [String(row.timestamp), row.id],
} as const;

/**
 * E1: lists the media in which an account is tagged. The list never contains private media. The query leaves out private media before it limits the
 * number of rows, so each page of the list except the last is full (D-35).
 */
export function listTaggedMedia(reader: Reader, account: NodeId, page: PageRequest): Promise<ListPage<MediaRow>> {
  const tagged = "JOIN media_tags g ON t.owner = g.owner AND t.id = g.media WHERE g.account = ? AND g.is_private = 0";
  return readPage<MediaRow>(reader, append(mediaTable.select, tagged, [account]), newestFirst, page);
}

/** Stores a new media object and its tags. Returns false, and stores nothing, if the id of the media object is used already. */
export async function insertMedia(tx: Transaction, media: MediaRow, tagged: readonly string[]): Promise<boolean> {
  if (!(await mediaTable.insert(tx, media))) return false;
  await saveTags(tx, media, tagged);
  return true;
}

export async function replaceMedia(tx: Transaction, media: MediaRow, tagged: readonly string[]): Promise<void> {
  await mediaTable.replace(tx, media);
  await saveTags(tx, media, tagged);
}

async function saveTags(tx: Transaction, { owner, id, is_private, timestamp }: MediaRow, tagged: readonly string[]): Promise<void> {
  await tx.run(sql`DELETE FROM media_tags WHERE owner = ${owner} AND media = ${id}`);
  for (const account of new Set(tagged)) {
    await tx.runOne(sql`
      INSERT INTO media_tags (account, is_private, timestamp, media, owner) VALUES (${account}, ${is_private}, ${timestamp}, ${id}, ${owner})`);
  }
}

/** Adds one to the media object's `comments_count`. */
export async function countComment(tx: Transaction, owner: NodeId, id: NodeId): Promise<void> {
  await tx.runOne(sql`UPDATE media SET comments_count = comments_count + 1 WHERE owner = ${owner} AND id = ${id}`);
}

/** E1: returns the public children of albums. The function never returns private media, even if they are children of a public album. */
export async function publicChildren(reader: Reader, albums: readonly MediaRow[]): Promise<(readonly MediaRow[])[]> {
  const children = albums.map((album) => (JSON.parse(album.children) as string[]).map((id) => [album.owner, id] as const));
  const rows = await allWithKeys<MediaRow>(reader, children.flat(), publicOfWanted);
  const found = new Map(rows.map((row) => [`${row.owner} ${row.id}`, row]));
  return children.map((keys) => keys.map((key) => found.get(key.join(" "))).filter((row) => row !== undefined));
}

const publicOfWanted = `${mediaTable.select.query.text} JOIN wanted w ON t.owner = w.one AND t.id = w.other WHERE t.is_private = 0`;

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
  if (!(await mediaTable.remove(tx, owner, id))) return false;
  await tx.run(sql`DELETE FROM media_tags WHERE owner = ${owner} AND media = ${id}`);
  return true;
}

export async function deleteMediaOfAccount(tx: Transaction, account: NodeId): Promise<void> {
  const own = await tx.all<{ id: string }>(sql`SELECT CAST(m.id AS TEXT) AS id FROM media m WHERE m.owner = ${account}`);
  for (const { id } of own) await deleteAlone(tx, account, id);
  await tx.run(sql`DELETE FROM media_tags WHERE account = ${account}`);
}
