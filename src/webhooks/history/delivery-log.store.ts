/**
 * The log of delivered webhooks (D-424), for programs that copy webhooks.
 *
 * **Invariant:** the positions of log entries have no gaps, and an entry is committed after all entries with smaller positions, because the lock of
 * the log is held until the commit.
 */
import type { Reader, Transaction } from "#storage/database";
import { withIds } from "#storage/id-lists";
import { append, type Row, sql } from "#storage/sql";

/** Logs the deliveries that the transaction has stored as delivered. A delivery that another session has taken over is not logged. */
export async function logDelivered(tx: Transaction, ids: readonly string[], nowMs: number): Promise<void> {
  if (ids.length === 0) return;
  await tx.lock("webhook log", "world");
  const last = await lastPosition(tx);
  const logged = sql`
    INSERT INTO webhook_log (position, delivery, logged_ms)
    SELECT CAST(${last} AS BIGINT) + ROW_NUMBER() OVER (ORDER BY d.id), d.id, CAST(${nowMs} AS BIGINT)
    FROM webhook_deliveries d WHERE d.status = 2 AND d.fence = 0`;
  await tx.run(withIds(logged, "d.id", ids));
}

/** Returns the position of the newest log entry, or 0 if no webhook was logged. */
export async function lastPosition(reader: Reader): Promise<number> {
  const newest = sql`SELECT l.position FROM webhook_log l ORDER BY l.position DESC LIMIT 1`;
  return (await reader.get<{ position: number }>(newest))?.position ?? 0;
}

export interface LoggedRow extends Row {
  position: number;
  delivery: string;
}

/** Lists the log entries after a position, in the order of positions. */
export const listLogged = (reader: Reader, after: number, limit: number): Promise<LoggedRow[]> =>
  reader.all<LoggedRow>(
    append(sql`SELECT l.position, CAST(l.delivery AS TEXT) AS delivery FROM webhook_log l`, "WHERE l.position > ? ORDER BY l.position LIMIT ?", [
      after,
      limit,
    ]),
  );

/**
 * Removes at most `limit` entries that were logged before `beforeMs`, and returns the number of removed entries. The newest entry is never removed,
 * so that no position is used twice.
 */
export function deleteLogged(tx: Transaction, beforeMs: number, limit: number): Promise<number> {
  return tx.run(sql`
    DELETE FROM webhook_log WHERE position IN (
      SELECT o.position FROM (SELECT l.position, l.logged_ms FROM webhook_log l ORDER BY l.position LIMIT ${limit}) o
      WHERE o.logged_ms < ${beforeMs} AND o.position < (SELECT MAX(n.position) FROM webhook_log n))`);
}
