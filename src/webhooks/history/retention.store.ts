import type { Transaction } from "#storage/database";
import { append, placeholders, sql } from "#storage/sql";

interface Old {
  readonly id: string;
  readonly event: string;
}

/**
 * Removes deliveries that ended before `beforeMs`, with those that travelled in their POSTs, and events that no delivery is
 * left of. At most `limit` POSTs; returns how many there were.
 */
export async function deleteEnded(tx: Transaction, beforeMs: number, limit: number): Promise<number> {
  const heads = await tx.all<{ id: string; event: string }>(sql`
    SELECT CAST(d.id AS TEXT) AS id, CAST(d.event AS TEXT) AS event FROM webhook_deliveries d
    WHERE d.ended_ms < ${beforeMs} AND d.status IN (2, 3, 5) ORDER BY d.id LIMIT ${limit}`);
  for (const head of heads) {
    const members = await tx.all<{ id: string; event: string }>(sql`
      SELECT CAST(d.id AS TEXT) AS id, CAST(d.event AS TEXT) AS event FROM webhook_deliveries d WHERE d.head = ${head.id}`);
    await deleteAll(tx, [head, ...members]);
  }
  return heads.length;
}

/** A POST's own: a thousand at most. */
async function deleteAll(tx: Transaction, rows: readonly Old[]): Promise<void> {
  const among = (column: string, ids: readonly string[]) => [`AND ${column} IN ${placeholders(ids.length)}`, ids] as const;
  const ids = rows.map(({ id }) => id);
  const events = rows.map(({ event }) => event);
  await tx.runAny(append(sql`DELETE FROM webhook_deliveries WHERE fence = 0`, ...among("id", ids)));
  await tx.runAny(append(sql`UPDATE webhook_events SET deliveries = deliveries - 1 WHERE deliveries > 0`, ...among("id", events)));
  await tx.runAny(append(sql`DELETE FROM webhook_events WHERE deliveries = 0`, ...among("id", events)));
}
