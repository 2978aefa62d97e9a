import type { Reader, Transaction } from "#storage/database";
import { append, placeholders, sql } from "#storage/sql";
import { NO_CALLBACK } from "../delivery/deliveries.store.ts";

interface Old {
  readonly id: string;
  readonly event: string;
}

/**
 * Removes deliveries that ended before `beforeMs`, with the deliveries that joined their POSTs, and the events that have no delivery any more. One
 * call removes the deliveries of at most `limit` POSTs, and returns the number of these POSTs.
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

/** Removes all deliveries that were sent in the given POSTs. The events of at most a thousand deliveries are in one POST. */
async function deleteAll(tx: Transaction, rows: readonly Old[]): Promise<void> {
  const among = (column: string, ids: readonly string[]) => [`AND ${column} IN ${placeholders(ids.length)}`, ids] as const;
  const ids = rows.map(({ id }) => id);
  const events = rows.map(({ event }) => event);
  await tx.run(append(sql`DELETE FROM webhook_deliveries WHERE fence = 0`, ...among("id", ids)));
  await tx.run(append(sql`UPDATE webhook_events SET deliveries = deliveries - 1 WHERE deliveries > 0`, ...among("id", events)));
  await tx.run(append(sql`DELETE FROM webhook_events WHERE deliveries = 0`, ...among("id", events)));
}

/** The number up to which deliveries without a callback are counted. The count stops there, because people do not need a higher number. */
export const UNROUTED_MAX = 1_000;

/**
 * Counts, by app, the deliveries without a callback. The function counts only the first `UNROUTED_MAX` of these deliveries, in the order of their
 * next attempt.
 */
export const countUnrouted = (reader: Reader): Promise<{ app: string; count: number }[]> =>
  reader.all(sql`
    SELECT CAST(w.app AS TEXT) AS app, COUNT(*) AS count FROM (
      SELECT d.app FROM webhook_deliveries d WHERE d.callback = ${NO_CALLBACK} AND d.retry_due_ms IS NOT NULL ORDER BY d.retry_due_ms LIMIT ${UNROUTED_MAX}) w
    GROUP BY w.app ORDER BY w.app`);
