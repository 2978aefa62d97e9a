/** The ingest processes that have feeds, and these feeds. */
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

/** Returns whether the row existed, so that only one of several servers that find the process dead loses its feeds. */
export const deleteIngest = async (tx: Transaction, id: string): Promise<boolean> =>
  (await tx.run(sql`DELETE FROM live_ingests WHERE id = ${id}`)) > 0;

/** Ingests other than `own` that were last seen before `beforeMs`. */
export async function findDeadIngests(reader: Reader, own: string, beforeMs: number): Promise<string[]> {
  const rows = await reader.all<{ id: string }>(sql`SELECT i.id FROM live_ingests i WHERE i.seen_ms < ${beforeMs} AND i.id <> ${own} ORDER BY i.id`);
  return rows.map(({ id }) => id);
}

/** The current feeds of an ingest process. */
export async function findFeedsOf(reader: Reader, ingest: string): Promise<FeedName[]> {
  const rows = await reader.all<{ id: string; feed_session: number }>(
    sql`SELECT CAST(v.id AS TEXT) AS id, v.feed_session FROM live_videos v WHERE v.feed_ingest = ${ingest} AND v.has_feed = 1 ORDER BY v.page, v.id`,
  );
  return rows.map(({ id, feed_session }): { video: NodeId; session: number } => ({ video: nodeId(id), session: Number(feed_session) }));
}

/** An ingest process reports once a second. A server that has not reported for this time is dead. */
export const DEAD_AFTER_MS = 10_000;
/**
 * If a process has not reported for this time, another encoder with the right key may replace its feed, as it may replace an encoder that is silent
 * for 3 s (D-115). One second more is for the time between two reports, and one for the difference between two servers' clocks. The other feeds of
 * the process continue until it is dead.
 */
export const SILENT_AFTER_MS = 5_000;
