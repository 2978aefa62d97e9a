/** Stores the ingest processes that have feeds, and finds the feeds of an ingest process. */
import { type NodeId, nodeId } from "#kernel/ids";
import type { Reader, Transaction } from "#storage/database";
import { sql } from "#storage/sql";
import type { FeedName } from "../lifecycle/feed.ts";

export async function saveIngest(tx: Transaction, id: string, seenMs: number): Promise<void> {
  await tx.runOne(sql`
    INSERT INTO live_ingests (id, seen_ms) VALUES (${id}, ${seenMs}) ON CONFLICT (id) DO UPDATE SET seen_ms = excluded.seen_ms`);
}

export const findIngest = (reader: Reader, id: string): Promise<{ readonly seen_ms: number } | undefined> =>
  reader.get<{ seen_ms: number }>(sql`SELECT i.seen_ms FROM live_ingests i WHERE i.id = ${id}`);

/**
 * Deletes the row of an ingest process. Returns false if the row did not exist. If several servers find that the process is dead, only the server
 * that deletes the row marks the process's feeds as lost.
 */
export const deleteIngest = async (tx: Transaction, id: string): Promise<boolean> =>
  (await tx.run(sql`DELETE FROM live_ingests WHERE id = ${id}`)) > 0;

/** Returns the ingest processes, except `own`, that were last seen before `beforeMs`. */
export async function findDeadIngests(reader: Reader, own: string, beforeMs: number): Promise<string[]> {
  const rows = await reader.all<{ id: string }>(sql`SELECT i.id FROM live_ingests i WHERE i.seen_ms < ${beforeMs} AND i.id <> ${own} ORDER BY i.id`);
  return rows.map(({ id }) => id);
}

/** Returns the current feeds of an ingest process. */
export async function findFeedsOf(reader: Reader, ingest: string): Promise<FeedName[]> {
  const rows = await reader.all<{ id: string; feed_session: number }>(
    sql`SELECT CAST(v.id AS TEXT) AS id, v.feed_session FROM live_videos v WHERE v.feed_ingest = ${ingest} AND v.has_feed = 1 ORDER BY v.page, v.id`,
  );
  return rows.map(({ id, feed_session }): { video: NodeId; session: number } => ({ video: nodeId(id), session: Number(feed_session) }));
}

/** If an ingest process has not reported for 10 s, the process counts as dead. A running ingest process reports once a second. */
export const DEAD_AFTER_MS = 10_000;
/**
 * If an ingest process has not reported for 5 s, another encoder with the right key may replace one of its feeds. The 5 s are the sum of 3 s, after
 * which an encoder may replace a silent encoder (D-115), one second between two reports, and one second for the difference between the clocks of two
 * servers. The other feeds of the ingest process continue until the process counts as dead.
 */
export const SILENT_AFTER_MS = 5_000;
