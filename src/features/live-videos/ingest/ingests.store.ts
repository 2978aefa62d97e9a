/** Ingest processes that have feeds, and these feeds. */
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

/** Returns whether it was there: of several servers that find it dead, one takes its feeds over. */
export const deleteIngest = async (tx: Transaction, id: string): Promise<boolean> =>
  (await tx.run(sql`DELETE FROM live_ingests WHERE id = ${id}`)) > 0;

/** Ingests other than `own` that were last seen before `beforeMs`. */
export async function findDeadIngests(reader: Reader, own: string, beforeMs: number): Promise<string[]> {
  const rows = await reader.all<{ id: string }>(sql`SELECT i.id FROM live_ingests i WHERE i.seen_ms < ${beforeMs} AND i.id <> ${own} ORDER BY i.id`);
  return rows.map(({ id }) => id);
}

/** The feeds that an ingest has, as the state of their videos knows them. */
export async function findFeedsOf(reader: Reader, ingest: string): Promise<FeedName[]> {
  const rows = await reader.all<{ id: string; feed_session: number }>(
    sql`SELECT CAST(v.id AS TEXT) AS id, v.feed_session FROM live_videos v WHERE v.feed_ingest = ${ingest} AND v.has_feed = 1 ORDER BY v.page, v.id`,
  );
  return rows.map(({ id, feed_session }): { video: NodeId; session: number } => ({ video: nodeId(id), session: Number(feed_session) }));
}

/** A living ingest process reports once a second; one that stalls for so long is dead. */
export const DEAD_AFTER_MS = 10_000;
/**
 * To an encoder with the right key the feed of a process that stalls for so long gives way, as that of an encoder that is silent for 3 s does
 * (D-115): a second more, because a process reports once a second, and another one, by which the clocks of two servers may differ. The
 * other feeds of the process go on until it is dead.
 */
export const SILENT_AFTER_MS = 5_000;
