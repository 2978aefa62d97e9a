import { findNode, ownedNodeTable } from "#graph/worlds/nodes.store";
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { allWithKeys } from "#storage/id-lists";
import { type ListPage, ordered, type PageRequest, readPage } from "#storage/keyset";
import { append, type Row, sql } from "#storage/sql";
import { deleteAudience } from "./audience/audience.store.ts";
import { type EndReason, isPublished, type State, type TakedownReason } from "./lifecycle/states.ts";

export interface LiveVideoRow extends Row {
  page: string;
  id: string;
  title: string | null;
  description: string | null;
  state: State;
  embeddable: number;
  /** The place of the video as JSON: `{id?, location?{latitude, longitude}}`. */
  place: string | null;
  /**
   * The codes of the countries where the video may be watched. A space precedes and follows each country code (` DE FR `), so that SQL can search for
   * ` DE `. If the list of countries is empty, the video may be watched in all countries.
   */
  countries: string;
  excluded_countries: string;
  /** The planned start in Unix seconds. */
  planned_start_time: number | null;
  creation_time: number;
  broadcast_start_ms: number | null;
  /** The SHA-256 of the stream key in hexadecimal digits; null if no encoder can connect. */
  stream_key_hash: string | null;
  /** The column is 1 while an encoder sends to the video. */
  has_feed: number;
  /** The number of the video's newest feed, so that a late report about an older feed can be ignored. */
  feed_session: number;
  /**
   * The time when the timer of the video's state is due; null if the state has no timer, or if a world file declared a status whose timer does not
   * run.
   */
  deadline_ms: number | null;
  sealing_fails: number;
  sealing_tries: number;
  /** The column is 1 while the video is live and has a place. */
  is_on_map: number;
  /** The reason why the video was taken down; null if the video was not taken down. */
  takedown_reason: TakedownReason | null;
  /** The reason why the broadcast ended by itself; null while the broadcast runs, or if somebody ended the broadcast. */
  end_reason: EndReason | null;
  /** The ingest process or the media server that receives the feed; null if the video has no feed, or if the control API acts as the encoder. */
  feed_ingest: string | null;
  /** The picture width of the newest feed in pixels; null before the feed's first key frame. */
  feed_width: number | null;
  feed_height: number | null;
  /**
   * The start of the broadcast by the machine's time; `broadcast_start_ms` is the same moment in world time. Recordings from before the start of the
   * broadcast belong to a preview.
   */
  published_real_ms: number | null;
  /** The newest events of the video, oldest first: a list of `Move` as JSON text. */
  history: string;
}

const table = ownedNodeTable<LiveVideoRow>({
  table: "live_videos",
  nodeType: "live_video",
  owner: "page",
  columns: [
    ...["title", "description", "state", "embeddable", "place", "countries", "excluded_countries", "planned_start_time", "creation_time"],
    ...["broadcast_start_ms", "stream_key_hash", "has_feed", "feed_session", "deadline_ms", "sealing_fails", "sealing_tries", "is_on_map"],
    ...["takedown_reason", "end_reason", "feed_ingest", "feed_width", "feed_height", "published_real_ms", "history"],
  ],
});
export const { find: findVideo, list: listAllVideos, replace: updateVideo } = table;

/** Finds a video by its id alone, because the control API and jobs do not know the page of the video. */
export async function findVideoById(reader: Reader, id: NodeId): Promise<LiveVideoRow | undefined> {
  const node = await findNode(reader, id);
  return node?.type === "live_video" ? findVideo(reader, node.owner, id) : undefined;
}

export const findVideoByKey = (reader: Reader, hash: string): Promise<LiveVideoRow | undefined> =>
  reader.get<LiveVideoRow>(append(table.select, "WHERE t.stream_key_hash = ?", [hash]));

const newestOfPage = { columns: ["p.video"], direction: "descending", keyOf: (row: LiveVideoRow) => [row.id] } as const;

/**
 * Lists the page's own videos, and the videos of other pages that the page shares (LIVE-25). The list leaves out shared videos that were taken down
 * (D-110).
 */
export function listVideosOfPage(reader: Reader, page: NodeId, request: PageRequest): Promise<ListPage<LiveVideoRow>> {
  const ofPage = append(
    table.select,
    `JOIN live_video_pages p ON t.page = p.original_page AND t.id = p.video
     WHERE p.page = ? AND (t.page = p.page OR t.takedown_reason IS NULL)`,
    [page],
  );
  return readPage<LiveVideoRow>(reader, ofPage, newestOfPage, request);
}

const newestFirst = ordered("descending", "t.id");

/**
 * C1-3: lists live videos that have a place, whose broadcast has started at `startedMs` or earlier, and that may be watched in `country`. If
 * `country` is undefined, lists only videos that may be watched everywhere (LIVE-24).
 */
export function listVideosOnMap(
  reader: Reader,
  country: string | undefined,
  startedMs: number,
  request: PageRequest,
): Promise<ListPage<LiveVideoRow>> {
  const onMap = append(table.select, "WHERE t.is_on_map = 1 AND t.broadcast_start_ms <= ?", [startedMs]);
  const code = `% ${country} %`;
  const watchable =
    country === undefined
      ? append(onMap, "AND t.countries = '' AND t.excluded_countries = ''")
      : append(onMap, "AND (t.countries = '' OR t.countries LIKE ?) AND t.excluded_countries NOT LIKE ?", [code, code]);
  return readPage<LiveVideoRow>(reader, watchable, newestFirst, request);
}

/** Lists the running broadcasts, newest first. The query names all states with the status LIVE, as the index `live_videos_running` does. */
export const listRunning = (reader: Reader, limit: number): Promise<LiveVideoRow[]> =>
  reader.all<LiveVideoRow>(
    append(table.select, "WHERE t.state IN ('live', 'reconnecting', 'key_replaced', 'key_dead', 'ending') ORDER BY t.id DESC LIMIT ?", [limit]),
  );

/** Stores a new video and the pages that share it. Returns false without storing the video if the video's id is used already. */
export async function insertVideo(tx: Transaction, row: LiveVideoRow, crossposted: readonly string[]): Promise<boolean> {
  if (!(await table.insert(tx, row))) return false;
  await insertPages(tx, row, [row.page, ...crossposted]);
  return true;
}

/** LIVE-14: deletes every row of the video, so that nobody can restore the video. */
export async function deleteVideo(tx: Transaction, { page, id }: Pick<LiveVideoRow, "page" | "id">): Promise<void> {
  await deleteAudience(tx, page, id);
  await tx.run(sql`DELETE FROM live_video_pages WHERE original_page = ${page} AND video = ${id}`);
  await table.remove(tx, nodeId(page), id);
}

/** Deletes all videos of a page, and removes the page from the videos that it shares. Returns the ids of the deleted videos. */
export async function deleteVideosOfPage(tx: Transaction, page: NodeId): Promise<string[]> {
  const own = await tx.all<{ id: string }>(sql`SELECT CAST(v.id AS TEXT) AS id FROM live_videos v WHERE v.page = ${page}`);
  for (const { id } of own) await deleteVideo(tx, { page, id });
  await tx.run(sql`DELETE FROM live_video_pages WHERE page = ${page}`);
  return own.map(({ id }) => id);
}

/**
 * Removes a deleted place from the videos that have this place. The videos of a deleted place keep only their coordinates; videos without coordinates
 * leave the live map.
 */
export async function forgetPlace(tx: Transaction, place: NodeId): Promise<void> {
  // The text of a place begins with the id of the place. The id is followed by `}` or `,`, and the character `~` sorts after both.
  const start = `{"id":"${place}"`;
  const there = await tx.all<LiveVideoRow>(append(table.select, "WHERE t.place >= ? AND t.place < ?", [start, `${start}~`]));
  for (const row of there) {
    const { location } = JSON.parse(row.place as string) as { location?: object };
    const kept = location === undefined ? { place: null, is_on_map: 0 } : { place: JSON.stringify({ location }) };
    await updateVideo(tx, { ...row, ...kept });
  }
}

async function insertPages(tx: Transaction, { page, id }: LiveVideoRow, pages: readonly string[]): Promise<void> {
  for (const one of new Set(pages))
    await tx.run(sql`INSERT INTO live_video_pages (page, video, original_page) VALUES (${one}, ${id}, ${page}) ON CONFLICT DO NOTHING`);
}

/** Returns for each video the other pages that show it (LIVE-25), in the order of `videos`. */
export async function listPagesOfVideos(reader: Reader, videos: readonly { readonly page: string; readonly id: string }[]): Promise<NodeId[][]> {
  const rows = await allWithKeys<{ video: string; page: string }>(
    reader,
    videos.map(({ page, id }) => [page, id]),
    `SELECT CAST(p.video AS TEXT) AS video, CAST(p.page AS TEXT) AS page
     FROM wanted w JOIN live_video_pages p ON p.original_page = w.one AND p.video = w.other
     WHERE p.page <> p.original_page ORDER BY p.page`,
  );
  const pages = Map.groupBy(rows, ({ video }) => video);
  return videos.map(({ id }) => (pages.get(id) ?? []).map(({ page }) => nodeId(page)));
}

/** Returns the other pages that show the video (LIVE-25). */
export async function listCrosspostedPages(reader: Reader, page: string, id: string): Promise<NodeId[]> {
  const rows = await reader.all<{ page: string }>(sql`
    SELECT CAST(p.page AS TEXT) AS page FROM live_video_pages p
    WHERE p.original_page = ${page} AND p.video = ${id} AND p.page <> ${page} ORDER BY p.page`);
  return rows.map((row) => nodeId(row.page));
}

/** Returns whether people can see the video: the video is or was live, and was not taken down. */
export async function isShown(reader: Reader, page: NodeId, id: NodeId): Promise<boolean> {
  const row = await findVideo(reader, page, id);
  return row !== undefined && isPublished(row.state);
}

/**
 * Returns the pages besides the original page that may read the video. While a video is taken down, only its original page may read the video
 * (D-110).
 */
export async function listReadingPages(reader: Reader, page: NodeId, id: NodeId): Promise<NodeId[]> {
  const rows = await reader.all<{ page: string }>(sql`
    SELECT CAST(p.page AS TEXT) AS page FROM live_video_pages p
    JOIN live_videos v ON v.page = p.original_page AND v.id = p.video AND v.takedown_reason IS NULL
    WHERE p.original_page = ${page} AND p.video = ${id} AND p.page <> ${page} ORDER BY p.page`);
  return rows.map((row) => nodeId(row.page));
}

export async function saveCrosspostedPages(tx: Transaction, row: LiveVideoRow, pages: readonly string[]): Promise<void> {
  await tx.run(sql`DELETE FROM live_video_pages WHERE original_page = ${row.page} AND video = ${row.id} AND page <> ${row.page}`);
  await insertPages(tx, row, pages);
}

/** The port `live_video`, for contracts and policies, because contracts and policies have no access to the store. */
interface LiveVideoPort {
  /** Returns whether people can see the video: the video is or was live, and was not taken down. */
  isShown(reader: Reader, originalPage: NodeId, video: NodeId): Promise<boolean>;
  /** LIVE-25: returns for each video the pages that show it besides the original page. */
  crosspostedPages(reader: Reader, videos: readonly { readonly page: string; readonly id: string }[]): Promise<readonly (readonly NodeId[])[]>;
  /** Returns the pages that may read the video besides the original page. */
  readingPages(reader: Reader, originalPage: NodeId, video: NodeId): Promise<readonly NodeId[]>;
}

declare module "#kernel/ports" {
  interface Ports {
    live_video: LiveVideoPort;
  }
}
